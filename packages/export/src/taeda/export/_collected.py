"""`dynamic_shapes` made from tensors of the call, or from further calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taeda import Tensor, nn
from taeda._core_api.trees import tree_flatten, tree_map, tree_unflatten

from ._arguments import bound_arguments
from ._checks import checked_leaves
from ._dims import Dim
from .exported_program import ExportedProgram

__all__ = ["AdditionalInputs", "ShapesCollection"]


class ShapesCollection:
    """Demands by tensor, for arguments whose trees are long to repeat.

    >>> import taeda
    >>> from taeda import nn
    >>> x, shapes = taeda.ones(4, 3), ShapesCollection()
    >>> shapes[x] = {0: Dim("batch")}
    >>> shapes.dynamic_shapes(nn.Linear(3, 2), (x,))
    {'input': {0: batch}}
    """

    def __init__(self) -> None:
        self._demands: dict[int, tuple[Tensor, Any]] = {}  # the tensor lives as long as its id

    def __setitem__(self, t: Tensor, shape: Any) -> None:
        """AssertionError if `t` is no tensor or has another demand already."""
        if not isinstance(t, Tensor):
            raise AssertionError(f"demands are for tensors, got {type(t).__name__}")
        known = self._demands.setdefault(id(t), (t, shape))[1]
        if known is not shape and known != shape:
            raise AssertionError(f"the tensor has the demand {known!r} already, got {shape!r}")

    def __getitem__(self, t: Tensor) -> Any:
        """The demand of `t`; an empty dict to fill if it has none."""
        if id(t) not in self._demands:
            self[t] = {}
        return self._demands[id(t)][1]

    def __len__(self) -> int:
        return len(self._demands)

    def dynamic_shapes(
        self, m: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Demands by argument of `m(*args, **kwargs)`, None for tensors without one. ValueError if a
        tensor of the collection is not among the arguments.
        """
        met: set[int] = set()

        def demand(leaf: Any) -> Any:
            known = self._demands.get(id(leaf))
            if known is None:
                return None
            met.add(id(leaf))
            return known[1]

        made = tree_map(demand, bound_arguments(m, args, dict(kwargs or {})))
        lost = [tuple(t.shape) for key, (t, _) in self._demands.items() if key not in met]
        if lost:
            raise ValueError(
                f"tensors of sizes {lost} have demands and are not among the arguments: give the "
                "same tensors, not copies, in trees that pytree knows"
            )
        return dict(made)


class AdditionalInputs:
    """Demands from further calls: sizes that differ among the calls are `Dim.DYNAMIC`.

    >>> import taeda
    >>> from taeda import nn
    >>> more = AdditionalInputs()
    >>> more.add((taeda.ones(9, 3),))
    >>> more.dynamic_shapes(nn.Linear(3, 2), (taeda.ones(4, 3),))["input"][1] is None
    True
    """

    def __init__(self) -> None:
        self._calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def add(self, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None) -> None:
        """A further call. TypeError if `args` is no tuple or `kwargs` no mapping."""
        if not isinstance(args, tuple):
            raise TypeError(f"add: args must be a tuple, got {type(args).__name__}: write (x,)")
        if kwargs is not None and not isinstance(kwargs, Mapping):
            raise TypeError(f"add: kwargs must be a mapping, got {type(kwargs).__name__}")
        self._calls.append((args, dict(kwargs or {})))

    def dynamic_shapes(
        self, m: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Demands by argument of `m(*args, **kwargs)`: for a tensor a tuple with `Dim.DYNAMIC` or None
        for each dimension, for all else None. ValueError for calls that differ in more than sizes.
        """
        leaves, spec = tree_flatten(bound_arguments(m, args, dict(kwargs or {})))
        columns: list[list[Any]] = [[leaf] for leaf in leaves]
        for number, (more, named) in enumerate(self._calls):
            values, other = tree_flatten(bound_arguments(m, more, named))
            if other != spec:
                raise ValueError(f"additional call {number}: the arguments are {other}, not {spec}")
            for column, value in zip(columns, values, strict=True):
                column.append(value)
        return dict(tree_unflatten([_demand(column) for column in columns], spec))

    def verify(self, ep: ExportedProgram) -> None:
        """AssertionError if `ep` is not right for one of the calls. No call is run."""
        for args, kwargs in self._calls:
            checked_leaves(ep, args, kwargs)


def _demand(values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, Tensor):
        for other in values[1:]:
            if not isinstance(other, Tensor) or other.dim() != first.dim():
                raise ValueError(
                    f"one argument is a tensor of {first.dim()} dimensions and {other!r}"
                )
        sizes = zip(*(v.shape for v in values), strict=True)
        return tuple(None if len(set(column)) == 1 else Dim.DYNAMIC for column in sizes)
    for other in values[1:]:
        if type(other) is not type(first) or other != first:
            raise ValueError(
                f"one argument is {first!r} and {other!r}: what is no tensor is the same in every call"
            )
    return None
