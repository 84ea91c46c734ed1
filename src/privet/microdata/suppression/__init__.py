"""Top-down disclosure: as few values hidden as possible."""
