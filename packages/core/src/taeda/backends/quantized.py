"""Which engine quantized operators are asked of: a name that programs set, and choose their ranges by.

One set of kernels computes for every name, with the results that the engines agree on. The name is kept, so
that `get_default_qconfig(torch.backends.quantized.engine)` is about the engine that the program chose.

>>> taeda.backends.quantized.engine
'x86'
>>> "fbgemm" in taeda.backends.quantized.supported_engines
True
"""

from __future__ import annotations

import sys
from types import ModuleType

__all__ = ["engine", "supported_engines"]

#: names that `engine` may be
supported_engines = ["qnnpack", "onednn", "x86", "fbgemm"]
#: what is asked; another name is a RuntimeError
engine = "x86"


class _Quantized(ModuleType):
    """This module, which refuses what is no engine."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "engine" and value not in supported_engines:
            raise RuntimeError(
                f"{value!r} is not a valid value for quantized engine: wanted one of {supported_engines}"
            )
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Quantized
