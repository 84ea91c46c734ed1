"""Engines count, recode, draw and write; nothing else touches rows.

`duckdb` counts files and data frames here, `remote` lets PostgreSQL and Spark count;
`protocol.py` says what all of them offer.
"""
