"""Tables of people, and what linkers and insiders learn from them."""
