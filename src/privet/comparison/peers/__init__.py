"""Other programs on the same table: run in processes of their own, judged by us."""
