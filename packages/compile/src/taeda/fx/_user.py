"""Where in the user's program one is: the innermost frame outside of this library."""

from __future__ import annotations

import linecache
import sys
from types import FrameType

__all__ = ["user_frame", "user_line"]


def user_frame() -> FrameType | None:
    """The innermost frame whose module is none of taeda's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != "taeda" and not name.startswith("taeda."):
            return frame
        frame = frame.f_back
    return None


def user_line() -> str:
    """'File "model.py", line 3, in forward' and the text of the line; "" if there is no frame of a user's."""
    frame = user_frame()
    if frame is None:
        return ""
    code = frame.f_code
    text = linecache.getline(code.co_filename, frame.f_lineno).strip()
    where = f'  File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}'
    return f"{where}\n    {text}" if text else where
