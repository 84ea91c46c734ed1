"""Possible and interesting worlds, counted."""
