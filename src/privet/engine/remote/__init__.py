"""Engines that count elsewhere: PostgreSQL and Spark."""
