"""Columns that tell others: which ones, and what that makes known."""
