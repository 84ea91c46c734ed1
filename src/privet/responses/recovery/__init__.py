"""Red team: how much of the truth a collector recovers."""
