"""Exposure: of how many people a table tells something, and what promises cover."""
