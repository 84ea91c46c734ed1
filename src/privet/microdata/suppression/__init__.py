"""Suppression by top-down disclosure (TDD): as few values hidden as possible.

Wang, Fung, Yu 2007, §4.
"""
