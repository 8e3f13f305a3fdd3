"""How symbols are made for the sizes of a tensor, and what is demanded of them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._expressions import Expression, symbol
from ._ranges import ValueRanges

__all__ = [
    "DimDynamic", "EqualityConstraint", "RelaxedUnspecConstraint", "ShapeEnvSettings",
    "StatefulSymbolicContext", "StatelessSymbolicContext", "StrictMinMaxConstraint",
    "SubclassSymbolicContext", "SymbolicContext",
]  # fmt: skip


class DimDynamic(enum.Enum):
    """What stands for a size.

    `DYNAMIC`: a symbol of its own. `DUCK`: the symbol of equal sizes. `STATIC`: the number.
    `UNBACKED`: a symbol without a number in this call, which nothing may branch on.
    `INFER_STRIDE`, for strides: a formula in the sizes, where one gives the stride.

    >>> [kind.name for kind in DimDynamic]
    ['DYNAMIC', 'DUCK', 'STATIC', 'UNBACKED', 'INFER_STRIDE']
    """

    DYNAMIC = 0
    DUCK = 1
    STATIC = 2
    UNBACKED = 3
    INFER_STRIDE = 4


@dataclass(frozen=True)
class ShapeEnvSettings:
    """What a `ShapeEnv` was told about the numbers that it tells apart.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> ShapeEnv(duck_shape=False).settings.duck_shape
    False
    """

    assume_static_by_default: bool
    specialize_zero_one: bool
    duck_shape: bool


@dataclass(frozen=True)
class StrictMinMaxConstraint:
    """A size takes every number of the range `vr` that is at least 2, and guards may not narrow it.
    Where they do, `warn_only` says whether that is a warning or an error.

    >>> StrictMinMaxConstraint(warn_only=False, vr=ValueRanges(2, 8)).render("x.size(0)")
    '2 <= x.size(0) <= 8'
    """

    warn_only: bool
    vr: ValueRanges

    def render(self, source: Any) -> str:
        """The demand as text, for a size that is read at `source`."""
        return f"{self.vr.lower} <= {source} <= {self.vr.upper}"


@dataclass(frozen=True)
class RelaxedUnspecConstraint:
    """A size may be anything that the guards leave, but not one number only.

    >>> RelaxedUnspecConstraint(warn_only=False).render("x.size(0)")
    'x.size(0) is not one number only'
    """

    warn_only: bool

    def render(self, source: Any) -> str:
        """The demand as text, for a size that is read at `source`."""
        return f"{source} is not one number only"


Constraint = StrictMinMaxConstraint | RelaxedUnspecConstraint


@dataclass(frozen=True)
class EqualityConstraint:
    """Sizes that are demanded to be equal, by the places where they are read; and sizes that are a
    function of another: `(place, root, function of an Expression)`. Places of `relaxed_sources` may
    be equal to others without a demand.

    >>> pairs = EqualityConstraint(False, [("x.size(0)", "y.size(0)"), ("y.size(0)", "z.size(0)")])
    >>> pairs.is_equal("x.size(0)", "z.size(0)"), pairs.is_equal("x.size(0)", "x.size(1)")
    (True, False)
    """

    warn_only: bool
    source_pairs: Sequence[tuple[Any, Any]] = ()
    derived_equalities: Sequence[tuple[Any, Any, Callable[[Expression], Expression]]] = ()
    relaxed_sources: frozenset[Any] = frozenset()

    def is_equal(self, source1: Any, source2: Any) -> bool:
        """Whether two places are demanded to be equal, through any number of pairs."""
        reached, waiting = {str(source1)}, [str(source1)]
        pairs = [(str(a), str(b)) for a, b in self.source_pairs]
        while waiting:
            place = waiting.pop()
            found = {b if a == place else a for a, b in pairs if place in (a, b)} - reached
            reached |= found
            waiting.extend(found)
        return str(source2) in reached

    def is_derived(self, src: Any, symbol_src: Any, fn: Callable[[Expression], Expression]) -> bool:
        """Whether `src` is demanded to be `fn` of what is read at `symbol_src`."""
        size = symbol("size")
        return any(
            self.is_equal(src, place) and self.is_equal(symbol_src, root) and rule(size) == fn(size)
            for place, root, rule in self.derived_equalities
        )


class SymbolicContext:
    """How `ShapeEnv.create_symbolic_sizes_strides_storage_offset` makes symbols.

    >>> isinstance(StatelessSymbolicContext([DimDynamic.DYNAMIC]), SymbolicContext)
    True
    """


@dataclass(frozen=True)
class StatelessSymbolicContext(SymbolicContext):
    """For each dimension what stands for its size and its stride, and what is demanded of both.
    Strides are formulas in the sizes if nothing is said.

    ValueError for lists of different lengths.

    >>> context = StatelessSymbolicContext([DimDynamic.DYNAMIC, DimDynamic.STATIC])
    >>> [kind.name for kind in context.dynamic_strides]
    ['INFER_STRIDE', 'INFER_STRIDE']
    """

    dynamic_sizes: Sequence[DimDynamic]
    dynamic_strides: Sequence[DimDynamic] | None = None
    constraint_sizes: Sequence[Constraint | None] | None = None
    constraint_strides: Sequence[Constraint | None] | None = None

    def __post_init__(self) -> None:
        count = len(self.dynamic_sizes)
        fill: dict[str, Any] = {
            "dynamic_strides": [DimDynamic.INFER_STRIDE] * count,
            "constraint_sizes": [None] * count,
            "constraint_strides": [None] * count,
        }
        for name, default in fill.items():
            given = getattr(self, name)
            object.__setattr__(self, name, default if given is None else given)
            if len(getattr(self, name)) != count:
                raise ValueError(
                    f"{name} has {len(getattr(self, name))} entries, and dynamic_sizes has {count}: "
                    "both have one for each dimension"
                )
        for kind in (*self.dynamic_sizes, *(self.dynamic_strides or ())):
            if not isinstance(kind, DimDynamic):
                raise TypeError(f"wanted DimDynamic, got {type(kind).__name__}: {kind!r}")


@dataclass(frozen=True)
class StatefulSymbolicContext(StatelessSymbolicContext):
    """The same, which remembers the symbols that it made for each environment, so that they are the
    same when the tensor is met again; `tensor_source` is where the tensor is read.

    >>> context = StatefulSymbolicContext([DimDynamic.DYNAMIC], tensor_source="x")
    >>> context.tensor_source, context.shape_env_to_source_to_symbol_cache
    ('x', {})
    """

    tensor_source: Any = field(kw_only=True)
    shape_env_to_source_to_symbol_cache: dict[int, dict[str, Expression]] = field(
        default_factory=dict, kw_only=True
    )


@dataclass(frozen=True)
class SubclassSymbolicContext(StatefulSymbolicContext):
    """The same for a tensor that holds others: `inner_contexts` has their contexts, by the names of
    the attributes that hold them. Symbols are made for those as well.

    >>> inner = StatelessSymbolicContext([DimDynamic.STATIC])
    >>> context = SubclassSymbolicContext(
    ...     [DimDynamic.STATIC], tensor_source="x", inner_contexts={"data": inner}
    ... )
    >>> list(context.inner_contexts)
    ['data']
    """

    inner_contexts: dict[str, SymbolicContext] = field(default_factory=dict)
