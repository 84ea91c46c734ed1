"""Mondrian: equivalence classes as small as the promises allow."""
