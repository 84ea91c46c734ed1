"""The base: adversaries, beliefs, equivalence classes, exact numbers."""
