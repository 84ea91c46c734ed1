"""What several releases give away together."""
