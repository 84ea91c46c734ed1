"""Generalisation by Mondrian: equivalence classes as small as the promises allow.

Local recoding is `mondrian.py`, global recoding `global_recoding.py`; the groups are
shown generalised, or as buckets (`forms.py`).
LeFevre, DeWitt, Ramakrishnan 2006.
"""
