"""What somebody believes at worst who has a published classifier."""
