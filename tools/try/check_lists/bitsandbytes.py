"""bitsandbytes: layers of 8 and 4 bits."""

from __future__ import annotations

from typing import Any

import bitsandbytes as bnb

from .given import normal


def layers() -> Any:
    layer = bnb.nn.Linear8bitLt(8, 4, has_fp16_weights=False)
    return layer(normal(2, 8)).shape[0]
