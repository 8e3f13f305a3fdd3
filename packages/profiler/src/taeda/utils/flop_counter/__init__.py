"""Floating point operations of a program: products, convolutions, attention and recurrent layers,
forwards and backwards.

>>> import taeda
>>> from taeda.utils.flop_counter import FlopCounterMode
>>> with FlopCounterMode(display=False) as counter:
...     _ = taeda.ones(2, 3) @ taeda.ones(3, 4)
>>> counter.get_total_flops()
48

    _formulas.py   what each operator costs
    _table.py      the counts as text
"""

from __future__ import annotations

from ._formulas import FORMULAS, flops_of, register_flop_formula
from ._mode import FlopCounterMode

__all__ = ["FlopCounterMode", "flops_of", "register_flop_formula"]

flop_registry = FORMULAS  # the name under which programs look a formula up
