"""The frames of C of this thread, as the system's library names them."""

from __future__ import annotations

import ctypes

__all__ = ["get_cpp_backtrace"]

_OWN = 3  # frames of ctypes and of this call
_MOST = 1024


def get_cpp_backtrace(frames_to_skip: int = 0, maximum_number_of_frames: int = 64) -> str:
    """The functions of C that this thread is in, innermost first, a line each: `frame #0: where`.

    `frames_to_skip` leaves out the innermost ones, `maximum_number_of_frames` (1024 at most) how many
    lines there may be. Names are those that libraries export. ValueError for numbers below 0,
    NotImplementedError where the system's library has no `backtrace` (musl).

    >>> get_cpp_backtrace(maximum_number_of_frames=1).startswith("frame #0: ")
    True
    """
    for name, value in (
        ("frames_to_skip", frames_to_skip),
        ("maximum_number_of_frames", maximum_number_of_frames),
    ):
        if value < 0:
            raise ValueError(f"get_cpp_backtrace: {name} is {value}, and has to be 0 or more")
    library = ctypes.CDLL(None)
    if not hasattr(library, "backtrace"):
        raise NotImplementedError(
            "get_cpp_backtrace: this system's library has no backtrace(); run the program under a debugger"
        )
    room = min(frames_to_skip + maximum_number_of_frames + _OWN, _MOST)
    frames = (ctypes.c_void_p * room)()
    count = library.backtrace(frames, room)
    library.backtrace_symbols.restype = ctypes.POINTER(ctypes.c_char_p)
    texts = library.backtrace_symbols(frames, count)
    if not texts:
        raise MemoryError("get_cpp_backtrace: no memory for the names")
    try:
        names = [(texts[i] or b"?").decode(errors="replace") for i in range(count)]
    finally:
        library.free.argtypes = [ctypes.c_void_p]
        library.free(ctypes.cast(texts, ctypes.c_void_p))
    shown = names[_OWN + frames_to_skip :][:maximum_number_of_frames]
    return "\n".join(f"frame #{number}: {name}" for number, name in enumerate(shown))
