"""Where a program is when it asks for work whose numbers only the device looks at."""

from __future__ import annotations

import os
import sys

__all__ = ["place"]


def place() -> str:
    """ "train.py:31": the innermost line of Python that is not of taeda; "" where there is none."""
    frame = sys._getframe().f_back
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module != "taeda" and not module.startswith("taeda."):
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
