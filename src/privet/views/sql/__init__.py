"""The SQL of view audits."""
