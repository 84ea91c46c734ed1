"""Engines count, recode, draw and write; nothing else touches rows."""
