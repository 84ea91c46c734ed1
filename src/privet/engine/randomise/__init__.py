"""Randomized response on the engine: rows disguised by exact draws."""
