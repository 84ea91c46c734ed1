"""Differential privacy: how much noise, on which values, by which declarations."""
