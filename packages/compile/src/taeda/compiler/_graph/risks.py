"""Which rows may raise because of the values that they are given: a graph keeps them, although
nobody may read what they make.
"""

from __future__ import annotations

import functools

from taeda._core_api import programs as _core

__all__ = ["may_raise"]

#: an index or a class out of range
_INDEX = (
    "index", "gather", "scatter", "masked_scatter", "take", "put", "embedding", "nll_loss",
    "_cross_entropy", "repeat_interleave",
    "narrow.Tensor", "tensor_split.tensor", "max_unpool", "_pad_inside",
)  # fmt: skip
#: a matrix without an inverse or a decomposition, a loop that does not converge
_MATRIX = ("_linalg", "geqrf")
#: a probability, a rate or a deviation that is none
_RANDOM = (
    "multinomial",
    "bernoulli",
    "normal",
    "poisson",
    "binomial",
    "_standard_gamma",
    "_binary_cross_entropy",
)
#: integers: a division by zero, a negative power; bins
_INTEGER = (
    "div",
    "floor_divide",
    "remainder",
    "fmod",
    "pow",
    "float_power",
    "bincount",
    "histc",
    "gcd",
    "lcm",
    "bitwise_",
)
_NAMES = (*_INDEX, *_MATRIX, *_RANDOM, *_INTEGER)


@functools.cache
def may_raise(op: str) -> bool:
    """Whether this row says no to some values, or is written in Python, where nobody can tell.

    >>> may_raise("index_select"), may_raise("mm")
    (True, False)
    """
    return op.startswith(_NAMES) or _kinds.get(op) == "python"


_kinds = {text: kind for text, _, kind, _, _, _ in _core.op_rows()}
