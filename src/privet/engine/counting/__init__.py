"""Ways to count rows, and the choice among them."""
