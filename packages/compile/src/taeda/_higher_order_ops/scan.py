"""A carried value through the slices of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _checks
from ._recorded import recorded

__all__ = ["scan"]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """(the last carry, the outputs of all steps stacked along `dim`) of
    `carry, output = combine_fn(carry, slice)`.

    `init` is the first carry; the slices are those of `xs` along `dim`, without that dimension, the
    last one first if `reverse`. An output stands where its slice stood. Carry, slice and output are
    tensors, or tuples, lists and dicts of them. Gradients flow through all steps.

    `taeda.export` keeps it as one node, for any number of slices.

    RuntimeError if there is no tensor in `init` or `xs`, if the tensors of `xs` differ in size
    along `dim` or have none there, if `combine_fn` gives no pair, or a carry of another structure,
    shape or dtype than `init`, and if it writes to its inputs or gives one of them as it is: give a
    clone. IndexError if there is no dimension `dim`.

    >>> import taeda
    >>> scan(lambda total, x: (total + x, total * x), taeda.zeros(()), taeda.tensor([1.0, 2.0, 3.0]))
    (tensor(6.), tensor([0., 2., 9.]))
    """
    _checks.function("scan", "combine_fn", combine_fn)
    _checks.tensors("scan", "init", init)
    _checks.sliced("scan", xs, dim)
    whole = recorded("scan", combine_fn, init, xs, dim, reverse)
    if whole is not None:
        return tuple(whole)
    steps, spec = _checks.slices("scan", xs, dim, reverse=reverse)
    carry, outputs = init, []
    for leaves in steps:
        given = (carry, spec.unflatten(leaves))
        with _checks.pure("scan", "combine_fn", given) as check:
            made = combine_fn(*given)
            if not isinstance(made, tuple | list) or len(made) != 2:
                raise RuntimeError(
                    f"scan: combine_fn must give a carry and an output, got {_said(made)}"
                )
            _checks.alike("scan", "the carry", carry, made[0])
            check(made)
        carry = made[0]
        outputs.append(made[1])
    place = dim % _checks.tensors("scan", "xs", xs)[0][0].dim()  # from the end, it counts in xs
    return carry, _checks.stacked("scan", outputs, place, reverse=reverse)


def _said(made: Any) -> str:
    kind = type(made).__name__
    return f"a {kind} of {len(made)}" if isinstance(made, tuple | list) else kind
