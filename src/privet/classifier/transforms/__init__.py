"""A classifier made safe, with the same predictions."""
