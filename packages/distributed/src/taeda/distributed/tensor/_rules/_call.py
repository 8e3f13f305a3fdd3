"""What a rule sees of a call, and what it answers: strategies for one dimension of a mesh.

A strategy says how each tensor lies along that dimension, and how each result then lies, if every
rank calls the row on its parts. Strategies of several dimensions of a mesh hold at once, as each
speaks of any partition along a dimension of the tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from taeda import Tensor

from ...device_mesh import DeviceMesh
from .._spec import Spec
from ..placement_types import Partial, Placement, Replicate, Shard

__all__ = ["RULES", "Call", "Made", "Strategy", "Value", "rule"]

R, P = Replicate(), Partial()


@dataclass
class Value:
    """A tensor of a call: the whole's shape, and how it lies (None: a plain number)."""

    shape: tuple[int, ...]
    dtype: Any
    spec: Spec | None

    @property
    def ndim(self) -> int:
        """How many dimensions the whole has."""
        return len(self.shape)

    @property
    def placements(self) -> tuple[Placement, ...] | None:
        """How it lies now."""
        return None if self.spec is None else self.spec.placements

    def dim(self) -> int:
        """How many dimensions the whole has."""
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape of the whole, or its length in one dimension."""
        return self.shape if dim is None else self.shape[dim]


@dataclass
class Made:
    """What a function of a strategy computes with: the parts, and how they and the results lie."""

    func: Any
    args: dict[str, Any]  # by name; tensors are this rank's parts
    call: Call
    specs: Sequence[Spec | None]  # of the tensors
    outs: Sequence[Spec | None]
    dims: Sequence[int]  # the dimensions of the mesh that chose the strategy with the function

    def spec(self, name: str) -> Spec:
        """How the tensor of an argument lies."""
        found = self.specs[self.call.index[name]]
        assert found is not None
        return found

    def call_mesh(self) -> DeviceMesh:
        """The mesh."""
        return next(spec.mesh for spec in self.specs if spec is not None)

    def run(self, **changes: Any) -> Any:
        """The row on the parts, with other values of some arguments."""
        return self.call.run(self.func, {**self.args, **changes})


@dataclass(frozen=True)
class Strategy:
    """How tensors and results lie along one dimension of a mesh. None: a result that is None, or no
    tensor.

    `fn` computes the results from the parts, where it is not the row itself. With `keep` nothing is
    moved for it: the tensors must lie so already.
    """

    ins: tuple[Placement | None, ...]
    outs: tuple[Placement | None, ...]
    fn: Callable[[Made], Any] | None = None
    keep: bool = False


@dataclass
class Call:
    """A call of a row: its arguments by name, its tensors in order, and its results without values."""

    row: str  # "sum.dim_IntList"
    args: dict[str, Any]  # tensors are `Value`
    positional: int  # how many arguments have no keyword
    values: list[Value] = field(default_factory=list)
    index: dict[str, Any] = field(default_factory=dict)  # argument: place in `values`, or places
    outs: list[tuple[int, ...] | None] = field(default_factory=list)  # shapes
    parts: int = 1  # ranks of the mesh
    listed: bool = False  # results come as a list or tuple

    @property
    def name(self) -> str:
        """The row without its overload."""
        return self.row.partition(".")[0]

    def __getitem__(self, name: str) -> Any:
        return self.args[name]

    def has(self, name: str) -> bool:
        """Is the argument a tensor?"""
        return isinstance(self.args.get(name), Value)

    def dim(self, name: str, of: int | None = None, default: Any = None) -> Any:
        """An argument that is a dimension, from 0; of the first tensor, or of one with `of` dimensions."""
        value = self.args.get(name)
        ndim = self.values[0].ndim if of is None else of
        return default if value is None else (value % ndim if ndim else 0)

    def dims(self, name: str, of: int | None = None) -> list[int]:
        """An argument that lists dimensions, from 0; all for None or none."""
        value = self.args.get(name)
        ndim = self.values[0].ndim if of is None else of
        if value is None or (isinstance(value, (list, tuple)) and not value):
            return list(range(ndim))
        listed = [value] if isinstance(value, int) else value
        return [dim % ndim if ndim else 0 for dim in listed]

    def strategy(self, ins: Mapping[str, Placement], outs: Any, **more: Any) -> Strategy:
        """A strategy by names of arguments; what is not named is whole."""
        placed: list[Placement | None] = [R if v.spec is not None else None for v in self.values]
        for name, place in ins.items():
            where = self.index.get(name)
            for at in where if isinstance(where, list) else () if where is None else (where,):
                if self.values[at].spec is not None:
                    placed[at] = place
                elif isinstance(place, Shard):
                    placed[at] = None
        given = outs if isinstance(outs, (list, tuple)) else [outs] * len(self.outs)
        results = [
            None if out is None else place for out, place in zip(self.outs, given, strict=True)
        ]
        return Strategy(tuple(placed), tuple(results), **more)

    def run(self, func: Any, args: Mapping[str, Any]) -> Any:
        """Call the operator with these arguments."""
        names = list(self.args)
        before = [args[name] for name in names[: self.positional]]
        return func(*before, **{name: args[name] for name in names[self.positional :]})


Rule = Callable[[Call], Any]
RULES: dict[str, Rule] = {}


def rule(*rows: str) -> Callable[[Rule], Rule]:
    """The function below answers for these rows, by name with or without the overload."""

    def register(function: Rule) -> Rule:
        for names in rows:
            for name in names.split():
                RULES[name] = function
        return function

    return register


def is_number(value: Any) -> bool:
    """Is it a tensor of one element without dimensions, or a number?"""
    return not isinstance(value, Tensor) or value.ndim == 0
