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


def _repeated(x: Any, n: Any) -> Any:
    rows = taeda.repeat_interleave(x, n, 0)
    return (
        rows * 2,
        taeda.repeat_interleave(n),
        x.repeat_interleave(n[:1].expand(3), 1),
        rows.sum(0),
    )


def _counted(x: Any, w: Any) -> Any:
    counts = taeda.bincount(x, minlength=4)
    several = taeda.bincount(x, minlength=x.shape[0])
    return counts, counts[:4] + 1, taeda.bincount(x, w), taeda.ones(counts.shape[0]), several


def _runs(x: Any) -> Any:
    flat = taeda.unique_consecutive(x, return_inverse=True, return_counts=True)
    rows = taeda.unique_consecutive(x, return_inverse=True, return_counts=True, dim=0)
    return flat, rows, taeda.unique_consecutive(x, dim=-1)


def _slices(x: Any) -> Any:
    rows = taeda.unique(x, return_inverse=True, return_counts=True, dim=0)
    return rows, taeda.unique(x, dim=-1), taeda.unique(x.t(), dim=1).shape[0] * rows[0]


def _floats(x: Any) -> Any:
    least, most = x.abs().min().item(), x.abs().max().item()
    taeda._check(least >= 0)
    taeda._check(most > 0, lambda: "all are zero")
    rate = 2 * least / (most + x.shape[0]) - 1
    made = x * most + taeda.full_like(x, rate) if most > 0 else x
    return (
        made,
        x.clamp(min=least),
        x.abs() ** least,
        x.double() * (1 / most),
        taeda.add(x, x, alpha=least),
    )


def _truths(x: Any) -> Any:
    taeda._check((x > -100).all().item(), lambda: "all are large")
    taeda._check(taeda.sym_not((x > 100).any().item()))
    return x + 1


def _of_each(x: Any) -> Any:
    rows, columns = (x > 0).nonzero(as_tuple=True)
    mask = x < 0.5
    return rows, columns, x[rows, columns] * 2, taeda.where(mask), taeda.argwhere(mask) + 1


_CODES = [taeda.tensor(v) for v in ([3, 1, 3, 0], [2], [5, 5, 5, 4, 4, 4, 5])]
_CODED = [c.unsqueeze(1) % taeda.tensor([2, 3, 2]) for c in _CODES]
_PAIR = ({0: Dim("n")}, {0: Dim("n")})
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
    "slices": Case(_slices, [(c,) for c in _CODED], _FREE),
    "runs": Case(_runs, [(c,) for c in _CODED], _FREE),
    "repeated": Case(
        _repeated, [(_matrix(c.shape[0]), c) for c in _CODES],
        ({0: Dim("n", min=2)}, {0: Dim("n", min=2)}),
    ),
    "counted": Case(_counted, [(c, c.float() / 4 - 1) for c in _CODES], _PAIR),
    "floats": Case(_floats, [*_ROWS[:3]], _FREE),
    "truths": Case(_truths, [*_ROWS[:3]], _FREE),
    "of-each": Case(_of_each, [*_ROWS[:3], _NONE], _FREE),
    "later": Case(
        _later, [(_matrix(n), taeda.tensor([k])) for n, k in ((4, 2), (7, 0), (2, 1))],
        ({0: Dim.AUTO}, None),
    ),
}  # fmt: skip
