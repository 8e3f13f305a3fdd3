"""`fill_uninitialized_memory`: whether fresh memory is filled while deterministic algorithms are asked for.

>>> import taeda
>>> taeda.utils.deterministic.fill_uninitialized_memory
True
"""

from __future__ import annotations

import sys
from types import ModuleType

from taeda import _settings

__all__ = ["fill_uninitialized_memory"]

fill_uninitialized_memory: bool  # a property of the module, below


class _Module(ModuleType):
    @property
    def fill_uninitialized_memory(self) -> bool:
        """NaN, or the largest integer, in what `empty` and its forms give: a use of it then repeats
        itself. True at first.
        """
        return _settings._Chosen.fill

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"fill_uninitialized_memory must be a bool, not {type(mode).__name__}")
        _settings._Chosen.fill = mode
        _settings._apply_fill()


sys.modules[__name__].__class__ = _Module
