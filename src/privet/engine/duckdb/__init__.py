"""The embedded engine."""
