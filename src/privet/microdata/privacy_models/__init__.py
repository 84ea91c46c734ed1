"""Privacy models: k-anonymity, l-diversity, t-closeness, risks and their kin."""
