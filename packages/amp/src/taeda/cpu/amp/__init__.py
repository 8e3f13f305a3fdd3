"""Mixed precision on the CPU under its older names.

>>> import taeda, warnings
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore")
...     region = autocast()
>>> with region:
...     (taeda.ones(1, 1) @ taeda.ones(1, 1)).dtype
taeda.bfloat16
"""

from __future__ import annotations

import taeda as _taeda
from taeda.amp import _of_device

__all__ = ["GradScaler", "autocast"]

autocast = _of_device.older_autocast("cpu", _taeda.bfloat16)
GradScaler = _of_device.older_scaler("cpu")
