"""Nested tensors: a batch of tensors that differ in one size, without padding.

>>> import taeda
>>> x = taeda.nested.nested_tensor([taeda.ones(2, 3), taeda.ones(4, 3)], layout=taeda.jagged)
>>> (x * 2).sum(1)
tensor([[4., 4., 4.],
        [8., 8., 8.]])
"""

from . import rules as _rules
from ._construct import (
    as_nested_tensor,
    masked_select,
    narrow,
    nested_tensor,
    nested_tensor_from_jagged,
)
from ._convert import to_padded_tensor

_rules.load()

__all__ = [
    "as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged",
    "to_padded_tensor",
]  # fmt: skip
