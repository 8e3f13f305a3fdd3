"""Whether a graph gives what the program gives: in every bit, layout included, forward and backward."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from taeda import Tensor

from .._kinds import is_record
from .._replay.ends import arrived
from .._replay.trace import Trace

__all__ = ["same", "walks_alike"]


def same(a: Any, b: Any) -> bool:
    """Whether two results are equal in every bit, layout included; nan equals nan."""
    if isinstance(a, Tensor):
        if (
            not isinstance(b, Tensor)
            or a.dtype != b.dtype
            or a.shape != b.shape
            or a.stride() != b.stride()
        ):
            return False
        a, b = a.detach(), b.detach()
        return bool(a.equal(b)) or _same_bits(a, b)
    if type(a) in (list, tuple) or hasattr(a, "_fields"):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if type(a) in (dict, OrderedDict):
        return type(b) is type(a) and list(a) == list(b) and all(map(same, a.values(), b.values()))
    if is_record(type(a)):
        return type(a) is type(b) and same(vars(a), vars(b))
    return a is b or a == b or a != a


def walks_alike(trace: Trace, inputs: list[Tensor], result: Any, walked: Any) -> bool:
    """Whether the gradients that were found gave what autograd gives. The inputs are those from
    before the program ran, which may have cleared gradients.
    """
    results = trace.grown_in(result)
    for group, chosen, apart, tangents, found in walked:
        start = [r for r, one in zip(group.own(results), chosen, strict=True) if one]
        if not same(found, arrived(start, group.ends(inputs, results), tangents, apart)):
            return False
    return True


def _same_bits(a: Tensor, b: Tensor) -> bool:
    """Equal, with nan equal to nan."""
    if not (a.is_floating_point() or a.is_complex()):
        return False
    return bool(((a == b) | ((a != a) & (b != b))).all())
