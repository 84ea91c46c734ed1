"""The engine, through the front door: what is read, counted and refused."""
