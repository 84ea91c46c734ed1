"""Full-domain generalisation: levels of hierarchies for everybody, and subtrees."""
