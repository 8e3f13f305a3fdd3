"""The graph of one run: where its tensors come from, its operations, what the slots held."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from taeda import Tensor
from taeda._core_api import programs as _core

from .risks import may_raise

__all__ = [
    "CONTROL", "DATA", "GRADIENT", "PLAIN", "VIEW", "WRITES_OUT", "WRITES_SELF",
    "Graph", "Input", "Layout", "Step", "is_elementwise", "layout_of", "overlap",
]  # fmt: skip

_RANDOM, _INPLACE, _MUTATES = (_core.row_flags[f] for f in ("RANDOM", "INPLACE", "MUTATES"))
_flags = {text: flags for text, _, _, _, _, flags in _core.op_rows()}
_kinds = {text: kind for text, _, kind, _, _, _ in _core.op_rows()}
PLAIN, WRITES_SELF, WRITES_OUT = 0, 1, 2
# as_strided, whose offset is counted from where its tensor begins: another argument may begin
# elsewhere
VIEW = 3
DATA = 4  # the same with a version of its own, as Tensor.data has it
GRADIENT = 5  # no row: the .grad of the first target becomes the second, or None
CONTROL = 6  # no row: a call of functions, which are the parts of the step


#: rows with a function of their own, which picks a loop
_PICKS_A_LOOP = ("where.self", "div.Tensor_mode")


def is_elementwise(op: str) -> bool:
    """Whether one loop over elements is all that this row does."""
    return _kinds.get(op) == "pointwise" or op in _PICKS_A_LOOP


@dataclass
class Input:
    """Where a tensor comes from: "argument" (its number), "kept" (itself), "grad" (of another
    input), "made" (a constant), "cast" (the number of an input that is a weight, and the dtype in
    which a region of autocast around the call keeps it).

    A "scalar" is a float that each call gives anew (its source, the dtype), without dimensions.
    One "number" comes from the dict of its source: the learning rate of a group, which schedules change.
    """

    kind: str
    source: Any
    example: Any


@dataclass
class Step:
    """One kernel call. `patches` say which places of `args` are slots: (argument, item or -1, slot)."""

    op: str
    form: int
    args: tuple[Any, ...]
    patches: tuple[tuple[int, int, int], ...]
    outs: tuple[int | None, ...]  # None: not a new tensor
    targets: tuple[int, ...]
    line: str = ""
    grad: bool = False  # whether autograd would have recorded it
    caught: bool = False  # it may raise, where the program would catch that
    mode: bool | None = None  # of a call of functions: whether the program records gradients there
    parts: tuple[Any, ...] = ()  # graphs of the functions that it calls: `_control.Part`
    # arguments whose tensors it writes, of an operator that was defined at run time
    mutated: tuple[int, ...] = ()

    @property
    def reads(self) -> tuple[int, ...]:
        """Slots that are read or written."""
        return (*(slot for _, _, slot in self.patches), *self.targets)

    def numbered(self, number: dict[int, int]) -> Step:
        """The same call with every slot under another number."""
        patches = tuple((k, i, number[s]) for k, i, s in self.patches)
        outs = tuple(None if s is None else number[s] for s in self.outs)
        return replace(
            self, patches=patches, outs=outs, targets=tuple(number[s] for s in self.targets)
        )

    def renamed(self, slots: dict[int, int]) -> Step:
        """The same call with some slots in place of others."""
        if not any(s in slots for s in self.reads):
            return self
        patches = tuple((k, i, slots.get(s, s)) for k, i, s in self.patches)
        targets = tuple(slots.get(s, s) for s in self.targets)
        return replace(self, patches=patches, targets=targets)

    @property
    def is_custom(self) -> bool:
        """Whether it calls an operator that was defined at run time: of what that does nothing is
        known but its schema.
        """
        return "::" in self.op

    @property
    def is_effect(self) -> bool:
        """Whether it does more than make its results."""
        if self.parts:
            return self.draws  # what it writes it made
        return (
            bool(self.targets)
            or self.is_custom
            or bool(_flags.get(self.op, 0) & (_RANDOM | _MUTATES))
            or self.op.startswith("fill_")
        )

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers."""
        if self.parts:
            return any(step.draws for part in self.parts for step in part.steps)
        return bool(_flags.get(self.op, 0) & _RANDOM)

    @property
    def may_fail(self) -> bool:
        """Whether it may raise because of values."""
        if self.parts:
            return any(step.may_fail for part in self.parts for step in part.steps)
        return self.form < VIEW and may_raise(self.op)

    @property
    def writes(self) -> tuple[int, ...]:
        """Slots whose memory it writes."""
        if self.form in (GRADIENT, CONTROL):
            return ()
        if self.targets:
            return self.targets
        if self.is_custom:
            return tuple(slot for k, _, slot in self.patches if k in self.mutated)
        if not self.is_effect:
            return ()
        return tuple(slot for _, _, slot in self.patches)  # a row that mutates: any of its tensors


@dataclass(frozen=True)
class Layout:
    """What a slot held when it was recorded; `memory` tells tensors that share theirs, `version`
    those that share one.
    """

    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    bits: tuple[bool, bool]
    memory: int
    version: int

    def like(self, other: Layout) -> bool:
        """The same but for the place in memory."""
        here, there = (replace(a, memory=0, offset=0, version=0) for a in (self, other))
        return here == there


def overlap(a: Layout, b: Layout) -> bool:
    """Whether two tensors in one piece of memory may have an element in common."""
    if a.dtype != b.dtype:
        return True
    steps = [
        (size, step) for part in (a, b) for size, step in zip(part.shape, part.strides, strict=True)
    ]
    if any(size == 0 for size, _ in steps):
        return False
    if a.offset > b.offset:
        a, b = b, a
    last = a.offset + sum((s - 1) * t for s, t in zip(a.shape, a.strides, strict=True))
    apart = math.gcd(*(step for size, step in steps if size > 1))
    return last >= b.offset and (apart < 2 or (b.offset - a.offset) % apart == 0)


def layout_of(tensor: Tensor) -> Layout:
    bits = (tensor.is_conj(), tensor.is_neg())
    place = tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset()
    return Layout(tensor.dtype, *place, bits, _core.storage_key(tensor), _core.version_key(tensor))


@dataclass
class Graph:
    """Inputs, steps, and what the slots hold."""

    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    slots: int = 0
    layouts: dict[int, Layout] = field(default_factory=dict)
    examples: dict[int, Tensor] = field(default_factory=dict)  # as a run without graphs makes them
