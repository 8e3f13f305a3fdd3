"""Mixed precision: `autocast` chooses types operation by operation, `GradScaler` keeps float16
gradients from vanishing.

>>> import taeda
>>> with taeda.autocast("cpu"):
...     (taeda.ones(2, 2) @ taeda.ones(2, 2)).dtype
taeda.bfloat16
"""

from .autocast_mode import (
    autocast,
    autocast_decorator,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from .grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "autocast_decorator",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]
