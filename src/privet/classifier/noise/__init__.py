"""Differentially private counts: who adds how much, noise, and what it leaves."""
