"""Rows disguised by exact draws."""
