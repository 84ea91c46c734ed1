"""Discovery: which columns of a table give away which values."""
