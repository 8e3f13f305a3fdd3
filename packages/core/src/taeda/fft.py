"""Operations of the fft namespace, from the op table."""

from ._native import core as _core

globals().update(_core.functions.get("fft", {}))
