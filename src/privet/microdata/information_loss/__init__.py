"""Information loss: how a release differs from its table, in numbers."""
