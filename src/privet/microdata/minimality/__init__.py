"""Minimality: what knowing our own method adds to a release."""
