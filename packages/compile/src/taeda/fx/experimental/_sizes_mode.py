"""What the program sees of sizes while it is traced for any: `x.shape` holds symbols."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor
from taeda.overrides import TorchFunctionMode

from ._expressions import Expression, Relation, constant, symbol
from ._fakes import FakeCapture
from ._reals import Real
from .sym_node import SymBool, SymFloat, SymInt
from .symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv

__all__ = ["Sizes", "SizesMode"]


class Sizes(tuple[Any, ...]):
    """A shape in which some sizes are symbols."""

    __slots__ = ()

    def numel(self) -> Any:
        """The product of the sizes."""
        count: Any = 1
        for size in self:
            count = count * size
        return count

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Sizes(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> Sizes:
        return Sizes((*self, *other))


class SizesMode(TorchFunctionMode):
    """Answers questions for sizes by symbols of `env`, and hands every function the numbers.

    `known` has the sizes of the arguments, by id. The size of another tensor is a symbol of its
    own, named after its slot in the recording and its dimension.
    """

    _operations_only = True  # sizes that a function asks for inside are symbols as well

    def __init__(
        self, env: ShapeEnv, capture: FakeCapture, known: dict[int, tuple[Expression, ...]]
    ) -> None:
        super().__init__()
        self.env, self.capture, self.known = env, capture, known
        self.used: list[Expression | Real] = []
        self._pauses = 0
        self._noted: list[Tensor] = []

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Questions get numbers meanwhile: for functions that become graphs inside of the graph,
        which holds for the sizes at which they are the same.
        """
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        answer = None if self._pauses else _ANSWERS.get(_key(func))
        if answer is not None and args and type(args[0]) in _PLAIN:
            return answer(self, *args, **(kwargs or {}))
        return func(*self.numbers(args), **self.numbers(kwargs or {}))

    def numbers(self, value: Any) -> Any:
        """The same tree with the numbers of this call in place of symbols."""
        if isinstance(value, SymInt | SymFloat):
            self.used.append(value.expr)
            return value.hint
        if isinstance(value, SymBool):
            return bool(value)
        if isinstance(value, Sizes):
            return tuple(self.numbers(v) for v in value)
        if type(value) in (tuple, list):
            return type(value)(self.numbers(v) for v in value)
        if type(value) is dict:
            return {key: self.numbers(v) for key, v in value.items()}
        if isinstance(value, slice):
            return slice(*(self.numbers(v) for v in (value.start, value.stop, value.step)))
        return value

    def refuse(self, x: Tensor, *rest: Any) -> Any:
        """A value is asked for: GuardOnDataDependentSymNode."""
        raise GuardOnDataDependentSymNode(
            f"the program reads the value of a tensor of shape {tuple(x.shape)}, which is not known "
            "while it is traced for any size. A branch on it becomes taeda.cond or taeda.where; a "
            "number that is always the same can be passed as an argument"
        )

    def item(self, x: Tensor, *rest: Any) -> Any:
        """`x.item()`: an integer, a float or a bool that data decide is a symbol."""
        data = self.capture.data
        if data is None or x.numel() != 1 or x.is_complex():
            return self.refuse(x)
        if x.dtype == taeda.bool:
            truth = data.number_in(x.long(), truth=True)
            return SymBool(Relation("==", truth, constant(1)), self.env)
        number = data.number_in(x)
        return SymFloat(number, self.env) if isinstance(number, Real) else SymInt(number, self.env)

    def asks(self, condition: Tensor, message: str) -> bool:
        """A condition on values is asserted by the run of the program; not within a function that
        becomes a graph inside of the graph.
        """
        if self._pauses or self.capture.data is None:
            return False
        truth = self.item(condition)
        return bool(truth.asserted(message))

    def one_hot(self, x: Tensor, num_classes: Any = -1) -> Tensor:
        """`one_hot(x)`: without a count of classes it is the largest and one more."""
        largest = x.max() if num_classes == -1 and self.capture.data is not None else None
        if largest is not None:
            count = self.item(largest)
            (count >= 0).asserted("one_hot: Class values must be non-negative")
            num_classes = count + 1
        return taeda.nn.functional.one_hot(x, self.numbers(num_classes))

    def note(self, x: Tensor, sizes: tuple[Expression, ...]) -> None:
        """The sizes of a result, which lives as long as this does."""
        self.known[id(x)] = sizes
        self._noted.append(x)

    # ---- answers ----

    def shape(self, x: Tensor) -> Any:
        """`x.shape`."""
        exprs = self.known.get(id(x)) or self._own(x, "n", tuple(x.shape))
        return Sizes(self._size(e) for e in exprs)

    def size(self, x: Tensor, dim: int | None = None) -> Any:
        """`x.size()`, `x.size(dim)`."""
        if dim is None:
            return self.shape(x)
        x.size(dim)  # IndexError for what is no dimension of it
        return self.shape(x)[dim]

    def stride(self, x: Tensor, dim: int | None = None) -> Any:
        """`x.stride()`, `x.stride(dim)`."""
        found = tuple(self._size(e) for e in self._own(x, "stride", x.stride()))
        if dim is None:
            return found
        x.stride(dim)
        return found[dim]

    def numel(self, x: Tensor) -> Any:
        """`x.numel()`."""
        return self.shape(x).numel()

    def length(self, x: Tensor) -> int:
        """`len(x)`, which has to be a number."""
        return int(self.size(x, 0)) if x.dim() else len(x)

    def _size(self, expr: Expression) -> Any:
        expr = self.env.replace(expr)
        return expr.number if expr.number is not None else SymInt(expr, self.env)

    def _own(self, x: Tensor, kind: str, numbers: tuple[int, ...]) -> tuple[Expression, ...]:
        """Symbols for what is asked of a tensor that is no argument; numbers if it is a constant."""
        slot = self.capture.slot_of(x)
        self.capture.check()
        if slot is None or (slot < 0 and id(x) not in self.known):
            return tuple(constant(n) for n in numbers)
        return tuple(
            self._symbol(f"{kind}{slot}_{d}".replace("-", "a"), n) for d, n in enumerate(numbers)
        )

    def _symbol(self, name: str, number: int) -> Expression:
        if number in (0, 1):
            return constant(number)
        if name not in self.env.var_to_val:
            self.env.add_var_to_val(symbol(name), number)
        return symbol(name)


_PLAIN = (Tensor, taeda.nn.Parameter, taeda.nn.Buffer)
_ANSWERS = {
    Tensor.__dict__["shape"]: SizesMode.shape,
    Tensor.size: SizesMode.size,
    Tensor.numel: SizesMode.numel,
    taeda.numel: SizesMode.numel,
    Tensor.nelement: SizesMode.numel,
    Tensor.stride: SizesMode.stride,
    Tensor.__len__: SizesMode.length,
    **dict.fromkeys(
        (
            *(Tensor.tolist, Tensor.__bool__, Tensor.__int__, Tensor.__float__),
            Tensor.__index__,
        ),
        SizesMode.refuse,
    ),
    Tensor.item: SizesMode.item,
    taeda.nn.functional.one_hot: SizesMode.one_hot,
}


def _key(func: Any) -> Any:
    """What a question is looked up by: a descriptor for the one that reads it."""
    if getattr(func, "__name__", "") == "__get__":
        return getattr(func, "__self__", None)
    try:
        hash(func)
    except TypeError:
        return None
    return func
