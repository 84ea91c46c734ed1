"""Tables to try privet on: the papers' own, and generators of realistic ones."""
