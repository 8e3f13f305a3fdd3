"""Sizes and numbers that only data decide, in a program that is traced without values.

`nonzero`, `masked_select`, a mask as index, `unique`, `bincount` and `repeat_interleave` of a tensor
give sizes of their own; so does `item` of an integer. Each is a symbol (u0, u1, ...), whose number in a
trace is chosen, as those of the sizes of arguments are, and moved as these are. `item` of a float is
one as well (zuf0), of which no size can be made; `item` of a bool is 0 or 1, for assertions alone. The
run asserts what the program checks of them.
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
from ._reals import Real, real_symbol
from .sym_node import SymBool

if TYPE_CHECKING:
    from .symbolic_shapes import ShapeEnv

__all__ = [
    "DataSizes", "assert_scalar", "blank_of", "floats_to_try", "item", "written_asserts",
    "written_question",
]  # fmt: skip

_NUMBERS = (3, 5, 7, 11, 13, 17, 19, 23)
_FLOAT = "zuf"  # how names of floats begin
_TRUTH = ValueRanges(0, 1)
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
    rule = _BLANKS.get(op) or _BLANKS.get(op.partition(".")[0])
    return None if rule is None else rule(size, *args)


def _places(size: int, x: Tensor) -> Tensor:
    return taeda.empty_strided((size, x.dim()), (1, size), dtype=taeda.int64, device="meta")


def _each_place(size: int, x: Tensor) -> list[Tensor]:
    return [_empty(taeda.int64, size) for _ in range(max(x.dim(), 1))]


def _where(size: int, condition: Tensor, *rest: Any) -> list[Tensor] | None:
    return None if rest else _each_place(size, condition)


def _chosen(size: int, x: Tensor, mask: Tensor) -> Tensor:
    return _empty(x.dtype, size)


def _of_mask(size: int, x: Tensor, indices: Any) -> Tensor | None:
    masks = [i for i in indices if i is not None and i.dtype in _MASKS]
    if len(masks) != 1:
        return None
    places = _empty(taeda.int64, size)
    given = [k for i in indices for k in ([places] * i.dim() if i is masks[0] else [i])]
    made: Tensor = _core.call_backend("index.Tensor", (x, given))
    return made


def _unique(
    size: int, x: Tensor, sorted: bool = True, inverse: bool = False, counts: bool = False
) -> tuple[Tensor, ...]:
    whole = tuple(x.shape) if inverse else (0,)
    return (
        _empty(x.dtype, size),
        _empty(taeda.int64, *whole),
        _empty(taeda.int64, size if counts else 0),
    )


def _unique_slices(
    size: int, x: Tensor, dim: int, sorted: bool = True, inverse: bool = False, counts: bool = False
) -> tuple[Tensor, ...]:
    at = range(x.dim())[dim]
    sizes = (size if d == at else n for d, n in enumerate(x.shape))
    parts = (x.shape[at] if inverse else 0), (size if counts else 0)
    return (_empty(x.dtype, *sizes), *(_empty(taeda.int64, n) for n in parts))


def _runs(
    size: int, x: Tensor, inverse: bool = False, counts: bool = False, dim: int | None = None
) -> tuple[Tensor, ...]:
    if dim is None or not x.dim():
        return _unique(size, x, True, inverse, counts)
    return _unique_slices(size, x, dim, True, inverse, counts)


def _repeated(size: int, repeats: Tensor, output_size: int | None = None) -> Tensor | None:
    return None if output_size is not None else _empty(repeats.dtype, size)


def _counted(size: int, x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    if weights is None:
        return _empty(taeda.int64, size)
    return _empty(taeda.float32 if weights.dtype == taeda.float32 else taeda.float64, size)


def _empty(dtype: taeda.dtype, *sizes: int) -> Tensor:
    return taeda.empty(sizes, dtype=dtype, device="meta")


_BLANKS: dict[str, Callable[..., Any]] = {
    "nonzero": _places,
    "nonzero_numpy": _each_place,
    "argwhere": _places,
    "where": _where,
    "masked_select": _chosen,
    "index": _of_mask,
    "_unique2": _unique,
    "unique_dim": _unique_slices,
    "_unique_consecutive": _runs,
    "repeat_interleave.Tensor": _repeated,
    "bincount": _counted,
}


def _mask_of(op: str, args: tuple[Any, ...]) -> Tensor | None:
    """The tensor whose elements are counted."""
    name = op.partition(".")[0]
    if name == "index":
        return next(i for i in args[1] if i is not None and i.dtype in _MASKS)
    if name in ("nonzero", "nonzero_numpy", "argwhere", "where"):
        first: Tensor = args[0]
        return first
    return args[-1] if name == "masked_select" else None


def _least(op: str, args: tuple[Any, ...]) -> int:
    """The least size of a kernel's result."""
    return int(args[2]) if op.partition(".")[0] == "bincount" and len(args) > 2 else 0


def floats_to_try() -> list[float]:
    """Floats that programs do not compute by chance: small ones, large ones and negative ones, each
    with all its bits, so that a sum or product of them shows.
    """
    small = [(k * 0.6180339887498949) % 1.0 for k in range(1, 9)]
    near = (n + small[k] for k, n in enumerate((0, 1, 2, 0, 5, 0, 11)))
    far = (f * n for f in (-1, 17, -257) for n in small)
    return list(dict.fromkeys([*near, *small, *far]))


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
        least = _least(op, args)
        name = self._new(ValueRanges(least), least=least)
        if mask is not None:
            self._counted.append((mask, mask._version, name))
        return name

    def number_in(self, tensor: Tensor, truth: bool = False) -> Expression | Real:
        """The symbol of the integer or the float in a tensor; a `truth` is 0 or 1."""
        limits = _TRUTH if truth else ValueRanges()
        name = self._new(limits, _FLOAT if tensor.is_floating_point() else "u")
        self.made.append((name, tensor.clone(), None))  # as it is now: it may be written later
        return real_symbol(name) if tensor.is_floating_point() else symbol(name)

    def _new(self, limits: ValueRanges, kind: str = "u", least: int = 0) -> str:
        """A new symbol, whose number here is larger than `least`."""
        env = self.env
        name = f"{kind}{sum(known.startswith(kind) for known in env.chosen)}"
        taken = set(env.var_to_val.values())
        several = floats_to_try() if kind == _FLOAT else (*_NUMBERS, *range(29, 1000))
        above = range(least + 3, least + 1000) if least else ()
        fresh = (n for n in (*several, *above) if n not in taken and n > least)
        if name not in env.var_to_val:
            env.var_to_val[name] = 1 if limits == _TRUTH else next(fresh)
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
        node(assert_scalar, (written_question(question.replaced(own), value, node), said))


def written_question(question: Any, value: Callable[..., Any], node: Any) -> Any:
    """Nodes for the answer to a question: `value` writes a formula, and `node` a call."""
    if isinstance(question, Relation):
        return node(_COMPARED[question.sign], (value(question.left), value(question.right)))
    parts = [written_question(part, value, node) for part in question.parts]
    joined = parts[0]
    for part in parts[1:]:
        joined = node(operator.and_ if question.sign == "and" else operator.or_, (joined, part))
    return joined


_COMPARED = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
