"""A table among other releases of it: outlines, and deliveries over time."""
