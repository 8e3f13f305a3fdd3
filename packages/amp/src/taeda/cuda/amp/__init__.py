"""Mixed precision on CUDA under its older names; without a device it warns and is off, as documented.

>>> import warnings
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore")
...     GradScaler().is_enabled()
False
"""

from __future__ import annotations

import taeda as _taeda
from taeda.amp import _of_device

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

autocast = _of_device.older_autocast("cuda", _taeda.float16)
GradScaler = _of_device.older_scaler("cuda")
custom_fwd = _of_device.older_custom_fwd("cuda")
custom_bwd = _of_device.older_custom_bwd("cuda")
