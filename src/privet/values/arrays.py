"""Arrays by what they hold: names for annotations, shared by counts and searches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""Counts, and where things stand."""

Codes = NDArray[np.int32]
"""What stands for values: their places in a domain."""

Floats = NDArray[np.float64]
"""Shares, widths, gains."""

Flags = NDArray[np.bool_]
"""Which of several."""
