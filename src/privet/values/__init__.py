"""What everything is made of: adversaries, beliefs, counts, exact numbers."""
