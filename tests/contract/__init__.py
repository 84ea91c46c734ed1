"""What others may rely on: the protocol of engines, and the statements they run."""
