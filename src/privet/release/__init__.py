"""Releases are values: what is published, as far as an audit must know it."""
