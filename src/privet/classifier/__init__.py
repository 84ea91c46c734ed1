"""What the analyst does with a release, and what is left to do it with."""
