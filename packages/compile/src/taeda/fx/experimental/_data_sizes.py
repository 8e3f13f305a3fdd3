"""Sizes and integers that only data decide, in a program that is traced without values.

`nonzero`, `masked_select`, a mask as index and `unique` give sizes of their own; so does `item` of an
integer. Each is a symbol (u0, u1, ...), whose number in a trace is chosen, as those of the sizes of
arguments are, and moved as these are. The run asserts what the program checks of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor, fx
from taeda._core_api import programs as _core

from ._expressions import Expression, Relation, symbol
from ._ranges import ValueRanges
from .sym_node import SymBool

if TYPE_CHECKING:
    from .symbolic_shapes import ShapeEnv

__all__ = ["DataSizes", "assert_scalar", "blank_of", "item", "written_asserts"]

_NUMBERS = (3, 5, 7, 11, 13, 17, 19, 23)
_MASKS = (taeda.bool, taeda.uint8)


@fx.has_side_effect
def assert_scalar(self: Any, assert_msg: str) -> None:
    """RuntimeError with this message unless the condition holds."""
    if isinstance(self, SymBool) and self.asserted(assert_msg):
        return
    if not self:
        raise RuntimeError(assert_msg)


def item(self: Tensor) -> Any:
    """The number in a tensor with one element."""
    return self.item()


def blank_of(op: str, args: tuple[Any, ...], size: int) -> Any:
    """What a kernel gives whose result has this size where data decide; None for other kernels. The
    tensors have no memory.
    """
    name = op.partition(".")[0]
    if name == "nonzero":
        rank = args[0].dim()
        return taeda.empty_strided((size, rank), (1, size), dtype=taeda.int64, device="meta")
    if name == "masked_select":
        return taeda.empty(size, dtype=args[0].dtype, device="meta")
    if name == "_unique2":
        given: Any = (*args, *(True, False, False)[len(args) - 1 :])
        shapes = given[0].shape if given[2] else (0,), (size if given[3] else 0,)
        parts = (taeda.empty(s, dtype=taeda.int64, device="meta") for s in shapes)
        return (taeda.empty(size, dtype=given[0].dtype, device="meta"), *parts)
    masks = [i for i in args[1] if i is not None and i.dtype in _MASKS] if name == "index" else []
    if len(masks) != 1:
        return None
    places = taeda.empty(size, dtype=taeda.int64, device="meta")
    indices = [k for i in args[1] for k in ([places] * i.dim() if i is masks[0] else [i])]
    return _core.call_backend(op, (args[0], indices))


def _mask_of(op: str, args: tuple[Any, ...]) -> Tensor | None:
    """The tensor whose elements are counted."""
    name = op.partition(".")[0]
    if name == "index":
        return next(i for i in args[1] if i is not None and i.dtype in _MASKS)
    return {"nonzero": args[0], "masked_select": args[-1]}.get(name)


class DataSizes:
    """The symbols of one trace: each with the tensor that tells it."""

    def __init__(self, env: ShapeEnv) -> None:
        self.env = env
        # symbols, and what tells them: a dimension of a tensor, or the number in it
        self.made: list[tuple[str, Tensor, int | None]] = []
        self._counted: list[tuple[Tensor, int, str]] = []

    def followed(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which gives the tensors that tell symbols behind its own results."""
        return lambda *args: [*f(*args), *(tensor for _, tensor, _ in self.made)]

    def symbol_of(self, op: str, args: tuple[Any, ...]) -> str:
        """The symbol of a kernel's result: the one that this mask has already, or a new one."""
        mask = _mask_of(op, args)
        for known, version, name in self._counted:
            if known is mask and known._version == version:
                return name
        name = self._new(ValueRanges(0))
        if mask is not None:
            self._counted.append((mask, mask._version, name))
        return name

    def number_in(self, tensor: Tensor) -> Expression:
        """The symbol of the integer in a tensor."""
        name = self._new(ValueRanges())
        self.made.append((name, tensor.clone(), None))  # as it is now: it may be written later
        return symbol(name)

    def _new(self, limits: ValueRanges) -> str:
        env, name = self.env, f"u{len(self.env.chosen)}"
        taken = set(env.var_to_val.values())
        fresh = (n for n in (*_NUMBERS, *range(29, 1000)) if n not in taken)
        if name not in env.var_to_val:
            env.var_to_val[name] = next(fresh)
        env.chosen.add(name)
        env.var_to_range[name] = limits
        return name

    def shape(self, name: str, op: str, args: tuple[Any, ...], result: Any) -> tuple[int, ...]:
        """The dimension of the first tensor of a result that the symbol is the size of."""
        number = self.env.var_to_val[name]
        first, other = (_first(blank_of(op, args, n)) for n in (number, number + 1))
        dims = [d for d, n in enumerate(first.shape) if n != other.shape[d]]
        self.made.append((name, _first(result), dims[0]))
        return tuple(dims)


def _first(made: Any) -> Any:
    return made if isinstance(made, Tensor) else made[0]


def written_asserts(
    env: ShapeEnv, own: dict[str, Any], value: Callable[..., Any], node: Any
) -> None:
    """Nodes for what the run must assert: `value` writes a formula, and `node` a call."""
    for question, said in env.deferred_runtime_asserts:
        node(assert_scalar, (_written(question.replaced(own), value, node), said))


def _written(question: Any, value: Callable[..., Any], node: Any) -> Any:
    if isinstance(question, Relation):
        return node(_COMPARED[question.sign], (value(question.left), value(question.right)))
    parts = [_written(part, value, node) for part in question.parts]
    joined = parts[0]
    for part in parts[1:]:
        joined = node(operator.and_ if question.sign == "and" else operator.or_, (joined, part))
    return joined


_COMPARED = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
