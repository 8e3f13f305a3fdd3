"""Programs that write into what a tensor of a layout was made of: gradients are those of the program, or
refused. Oracle: differences of the whole program, the write included.

A program makes strided tensors, and of them a tensor of some layout, calls an operation with it, and adds
up the result. The write comes before or after the call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["Case", "Kind", "cases", "judge"]

#: by which values are written into: recorded, recorded but of no influence on derivatives, not recorded
WRITES = ("mul", "add", "unrecorded")
STEP = 1e-6


@dataclass(frozen=True)
class Kind:
    """A tensor of a layout: the shape of its values, its other parts, and how it is made of both."""

    name: str
    shape: tuple[int, ...]
    build: Callable[[Tensor, dict[str, Tensor]], Tensor]
    parts: dict[str, Callable[[], Tensor]] = field(default_factory=dict)

    def numbers(self) -> Tensor:
        """Values from 0.5 to 1.5."""
        count = math.prod(self.shape)
        return 0.5 + (taeda.arange(count, dtype=taeda.float64) * 0.618).frac()


@dataclass(frozen=True)
class Case:
    """A part of a kind, the write into it, and whether that comes before the call."""

    kind: Kind
    part: str
    write: str
    is_before: bool

    def __str__(self) -> str:
        return (
            f"{self.kind.name}-{self.part}-{self.write}-{'before' if self.is_before else 'after'}"
        )


def cases(kinds: list[Kind]) -> list[Case]:
    """Every write into every part."""
    return list(_cases(kinds))


def _cases(kinds: list[Kind]) -> Iterator[Case]:
    for kind in kinds:
        for part in ("values", *kind.parts):
            for write in WRITES if part == "values" else ("other",):
                yield from (Case(kind, part, write, before) for before in (True, False))


def _write(case: Case, x: Tensor) -> None:
    if x.dtype is taeda.bool:
        x.logical_not_()
    elif not x.is_floating_point():
        x.copy_(x.flip(-1))
    elif case.write == "mul":
        x.mul_(2)
    else:
        with taeda.set_grad_enabled(taeda.is_grad_enabled() and case.write == "add"):
            x.add_(1)


def _program(case: Case, call: Callable[[Tensor], Any], x: Tensor) -> Tensor:
    parts = {name: make() for name, make in case.kind.parts.items()}
    values = x.reshape(case.kind.shape) * 1
    made = case.kind.build(values, parts)
    written = values if case.part == "values" else parts[case.part]
    if case.is_before:
        _write(case, written)
    result = call(made)
    if not case.is_before:
        _write(case, written)
    return _sum(result)


def _sum(x: Any) -> Tensor:
    """A number that every element of a result has a share of its own in."""
    if isinstance(x, (tuple, list)):
        return sum((_sum(one) for one in x), taeda.zeros((), dtype=taeda.float64))
    if x.is_nested:
        return _sum(x.unbind())
    x = x.to_tensor(0) if hasattr(x, "to_tensor") else x.to_dense()
    return (x * (1 + taeda.arange(x.numel(), dtype=x.dtype).reshape(x.shape))).sum()


def _differences(case: Case, call: Callable[[Tensor], Any], x: Tensor) -> Tensor:
    steps = taeda.eye(x.numel(), dtype=x.dtype) * STEP
    with taeda.no_grad():
        found = [_program(case, call, x + one) - _program(case, call, x - one) for one in steps]
    return taeda.stack(found) / (2 * STEP)


def judge(case: Case, calls: dict[str, Callable[[Tensor], Any]]) -> tuple[int, int, list[str]]:
    """How many calls gave the gradient, how many were refused, and the names of those that gave another."""
    right, refused, wrong = 0, 0, []
    for name, call in calls.items():
        x = case.kind.numbers()
        try:
            with taeda.no_grad():
                _program(case, call, x)
        except (RuntimeError, AttributeError, TypeError, IndexError, ValueError, ImportError):
            continue  # nothing to do with gradients: the kind has no such operation, or the write spoils it
        leaf = x.clone().requires_grad_()
        try:
            _program(case, call, leaf).backward()
        except RuntimeError:
            refused += 1
            continue
        expected = _differences(case, call, x)
        is_right = leaf.grad is not None and taeda.allclose(leaf.grad, expected, 1e-4, 1e-5)
        right += is_right
        wrong += [] if is_right else [name]
    return right, refused, wrong
