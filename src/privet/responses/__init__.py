"""Randomized response: from disguised answers to estimates and classifiers."""
