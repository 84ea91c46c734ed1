"""How groups are split: cuts, what they leave, and what is allowed, in two ways."""
