"""Programs whose results are sizes, and numbers and answers that follow from sizes or from data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import nn
from taeda.export import Dim, register_dataclass

__all__ = ["CASES", "SIZES", "Of", "Result", "given", "plain", "shapes"]

SIZES = (4, 1, 2, 9)  # of the batch; the first is exported


@dataclass
class Result:
    """A class of results."""

    values: Any
    count: Any


register_dataclass(Result, serialized_type_name="size_results.Result")


class Part(nn.Module):
    """A module that gets and gives sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Any, count: Any, shape: Any, *, rate: Any) -> Any:
        y = self.layer(x) * rate + count
        return {"y": y.reshape(shape[0] * 3), "shape": y.shape, "many": count > 3, "rate": rate / 2}


class Of(nn.Module):
    """A function of the module and a matrix with a free batch; it may use a part and a counter."""

    def __init__(self, f: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        taeda.manual_seed(0)
        self.part = Part()
        self.register_buffer("seen", taeda.zeros(()))
        self.f = f

    def forward(self, x: Any) -> Any:
        return self.f(self, x)


def given(rows: int) -> Any:
    """A matrix of this batch."""
    return ((taeda.arange(rows * 3) * 7919 % 1009).float() / 250 - 2).reshape(rows, 3)


def plain(tree: Any) -> str:
    """What a program gave as text, in which each number has its class and every bit."""
    leaves, spec = taeda.utils._pytree.tree_flatten(tree)
    return f"{[v.tolist() if isinstance(v, taeda.Tensor) else v for v in leaves]!r} {spec}"


def _writes(m: Any, x: Any) -> Any:
    m.seen.add_(x.shape[0])
    x.mul_(2)
    return x.shape[0], m.seen + 0, x.shape[0] * 2


def _part(m: Any, x: Any) -> Any:
    made = m.part(x, x.shape[0] * 2, x.shape, rate=x.shape[0] / 2)
    again = m.part(x + 1, 1, x.shape, rate=2.0)
    return made, again["shape"], again["y"]


def _of_branch(m: Any, x: Any) -> Any:
    made = taeda.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 3, (x,))
    return made, made.shape[0] + x.shape[1]


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "alone": lambda m, x: x.shape[0],
    "beside-constants": lambda m, x: (x * 2, x.shape[0], 3, None, 2.5, True, x.shape[1], "text"),
    "shapes": lambda m, x: (x.shape, x.size(), x.shape[:1], [x.t().shape], x.stride()),
    "tree": lambda m, x: {"a": [x.shape[0] + 1, (x * 2,)], "b": x.size(0)},
    "dataclass": lambda m, x: Result(x * 2, x.shape[0]),
    "formulas": lambda m, x: (x.shape[0] * 2 + 1, -x.shape[0], x.shape[0] ** 2, x.numel()),
    "quotients": lambda m, x: (x.shape[0] // 3, x.shape[0] % 3, divmod(x.numel(), 4)),
    "bent": lambda m, x: (taeda.sym_max(x.shape[0], 5), taeda.sym_min(x.shape[0], 3)),
    "gone": lambda m, x: (x, x.shape[0] - x.shape[0]),
    "floats": lambda m, x: (x.shape[0] / 2, 1 / x.shape[0] + 0.5, x.shape[0] ** 0.5),
    "answers": lambda m, x: (x.shape[0] > 3, x.shape[0] == 2, x.shape[0] / 4 != 1.0),
    "joined": lambda m, x: (
        (x.shape[0] > 3) & (x.shape[0] < 9),
        (x.shape[0] == 1) | (x.numel() > 9),
    ),
    "negated": lambda m, x: (x * 2, taeda.sym_not(x.shape[0] > 3)),
    "of-results": lambda m, x: (
        taeda.cat([x, x, x[:1]]).shape[0],
        x.reshape(-1).shape,
        x[::2].shape,
    ),
    "of-data": lambda m, x: (x.nonzero().shape[0], x[x > 0].shape, x.sum().long().item() * 2),
    "of-data-floats": lambda m, x: (x.sum().item(), (x.sum() > 0).item()),
    "writes": _writes,
    "part": _part,
    "branch": _of_branch,
    "no-grad": lambda m, x: (taeda.no_grad()(lambda: x * 2)(), x.shape[0]),
}


def shapes() -> Any:
    """The demand of a free batch."""
    return ({0: Dim("rows")},)
