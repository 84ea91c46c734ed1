"""The privacy skyline: what insiders with background knowledge (l, k, m) can learn.

SkylineCheck is `skyline.py`, its closed forms CF1 to CF5 `closed_forms.py`, SkylineFind
`skyline_find.py`; SkylineAnonymize is Mondrian (`microdata/generalisation`), judged by
`incremental.py`.
Chen, LeFevre, Ramakrishnan 2007.
"""
