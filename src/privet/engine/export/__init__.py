"""Rows written in a random order."""
