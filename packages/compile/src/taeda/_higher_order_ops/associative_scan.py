"""The running result of a function of two slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _checks

__all__ = ["associative_scan"]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    """A tree like `xs`, whose slice at each place along `dim` combines all slices of `xs` up to there.

    `combine_fn` takes two slices, without the dimension, and gives one like them; for the result to
    mean anything it is associative. `reverse` combines from the end. Both values of `combine_mode`,
    "pointwise" and "generic", run the same steps, one after the other. Gradients flow through all
    of them.

    ValueError for another mode; RuntimeError if there is no tensor in `xs`, if its tensors differ
    in size along `dim` or have none there, and if `combine_fn` gives something unlike a slice or
    writes to its inputs. IndexError if there is no dimension `dim`.

    >>> import taeda
    >>> associative_scan(lambda a, b: a * b, taeda.tensor([1.0, 2.0, 3.0]), 0)
    tensor([1., 2., 6.])
    """
    _checks.function("associative_scan", "combine_fn", combine_fn)
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(
            f"associative_scan: combine_mode is 'pointwise' or 'generic', got {combine_mode!r}"
        )
    _checks.sliced("associative_scan", xs, dim)
    steps, spec = _checks.slices("associative_scan", xs, dim, reverse=reverse)
    made = [spec.unflatten(steps[0])]
    for leaves in steps[1:]:
        given = (made[-1], spec.unflatten(leaves))
        with _checks.pure("associative_scan", "combine_fn", given):
            found = combine_fn(*given)
            _checks.alike("associative_scan", "what is combined", made[-1], found)
        made.append(found)
    # a dimension counted from the end is one of xs, and of a stack of its slices as well
    return _checks.stacked("associative_scan", made, dim, reverse=reverse)
