"""Broken input to every reader: `make fuzz`, and what it found, in the normal suite."""
