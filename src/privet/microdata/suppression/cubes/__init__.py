"""Count cubes: equivalence classes as top-down disclosure judges them on its way."""
