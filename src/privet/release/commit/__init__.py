"""How release, custody record and ledger entry appear together, or none of them."""
