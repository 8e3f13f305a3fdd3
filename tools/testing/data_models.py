"""Programs with sizes and numbers that only data decide: a module, arguments of several sizes, and Dims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import nn
from taeda.export import Dim

__all__ = ["CASES", "Case"]


class Of(nn.Module):
    """A function as a module."""

    def __init__(self, f: Callable[..., Any]) -> None:
        super().__init__()
        self.f = f

    def forward(self, *args: Any) -> Any:
        return self.f(*args)


@dataclass
class Case:
    """One program."""

    f: Callable[..., Any]
    calls: list[tuple[Any, ...]]  # the first is exported
    shapes: Any = None

    def make(self) -> Of:
        """The module."""
        return Of(self.f).eval()


def _matrix(rows: int) -> Any:
    return ((taeda.arange(rows * 3) * 7919 % 1009).float() / 250 - 2).reshape(rows, 3)


def _places(x: Any) -> Any:
    found = x.nonzero()
    return found + 1, taeda.ones(found.shape[0]), found.sum(0)


def _one_mask_twice(x: Any, y: Any) -> Any:
    mask = x > 0
    return x[mask] * y[mask], taeda.zeros(x[mask].shape[0]), y[mask.any(1)] @ y.t()


def _two_masks(x: Any) -> Any:
    return taeda.cat([x[x > 0], x[x < 0.5], x[x > 100]]), x.masked_select(x > 0).sum()


def _put(x: Any) -> Any:
    mask, made = x > 0, x.clone()
    made[mask] = x[mask] * 2
    return made


def _unique(x: Any) -> Any:
    return taeda.unique(x, return_inverse=True, return_counts=True)


def _prefix(x: Any, n: Any) -> Any:
    count = n.item()
    taeda._check(count >= 0)
    taeda._check(count <= x.shape[0], lambda: "no more than there is")
    return x[:count], x[count:], taeda.ones(count) * 2, x + count


def _later(x: Any, n: Any) -> Any:
    n = n + 0
    count = n.item()
    n.add_(100)
    taeda._check_is_size(count)
    return taeda.ones(count, 2), n + x.shape[0]


_ROWS = [(_matrix(n),) for n in (4, 1, 7, 0)]
_NONE = (-taeda.ones(5, 3),)
_FREE = ({0: Dim.AUTO},)

CASES = {
    "places": Case(_places, [*_ROWS, _NONE, (taeda.zeros(2, 3),)], _FREE),
    "one-mask-twice": Case(
        _one_mask_twice,
        [(_matrix(n), _matrix(n) * 2) for n in (4, 1, 7)],
        ({0: Dim("n")}, {0: Dim("n")}),
    ),
    "two-masks": Case(_two_masks, [*_ROWS, _NONE], _FREE),
    "put": Case(_put, [*_ROWS, _NONE], _FREE),
    "unique": Case(_unique, [(taeda.tensor(v),) for v in ([3, 1, 3], [2], [5, 5, 5, 4])], _FREE),
    "prefix": Case(
        _prefix,
        [(_matrix(n), taeda.tensor(k)) for n, k in ((4, 2), (7, 0), (1, 1), (9, 9))],
        ({0: Dim.AUTO}, None),
    ),
    "later": Case(
        _later, [(_matrix(n), taeda.tensor([k])) for n, k in ((4, 2), (7, 0), (2, 1))],
        ({0: Dim.AUTO}, None),
    ),
}  # fmt: skip
