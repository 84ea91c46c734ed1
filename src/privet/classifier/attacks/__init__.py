"""What a shipped attack finds out about a published classifier."""
