"""Methods with a form of their own, and those whose function lives elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._native import core as _core
from ._method import Tensor, explained_method, method


@method
def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The tensor where the condition holds, else `other`.

    Args:
        condition: a bool tensor whose shape matches from the last dimension on.
        other: a tensor or a number: what is taken where the condition does not hold.
    """
    return _core.functions[""]["where"](condition, self, other)


@method
def lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """(LU, pivots), with `get_infos` also which pivot is zero.

    Args:
        pivot: whether rows are exchanged; True by default.
        get_infos: whether the third result is given; False by default.
    """
    from ..functional import lu as factors  # late: it needs Tensor complete

    return factors(self, pivot, get_infos)


@method
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A new leaf with a copy of `data`, in this tensor's dtype and device unless given.

    Args:
        data: a number, nested sequences, an array or a tensor, as in `taeda.tensor`.
        dtype: of the result; None takes that of this tensor.
        device: of the result; None takes that of this tensor.
        requires_grad: whether the result asks for a gradient; False by default.
        layout: of the result; None is strided. Others come with taeda-sparse.
        pin_memory: whether the result lies in pinned memory; False by default.
    """
    from .creation import _placed, _read

    made = _read(data, dtype or self.dtype).detach()
    placed = _placed(made, dtype or self.dtype, device or self.device)
    own = placed.clone() if placed is made else placed
    kept = own.pin_memory() if pin_memory else own
    return _laid_out(kept, layout).requires_grad_(requires_grad)


def _laid_out(made: Tensor, layout: Any) -> Tensor:
    if layout is None or layout is _core.strided:
        return made
    if not isinstance(layout, _core.layout):
        raise TypeError(
            f"new_tensor(): argument 'layout' must be taeda.layout, not {type(layout).__name__}"
        )
    return made.to_sparse(layout=layout)


@method
def apply_(self: Tensor, function: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what `function` returns for it; slow, for the cpu.

    Args:
        function: takes a number of Python and returns one.
    """
    return self.copy_(_like(self, [function(v) for v in self.detach().reshape(-1).tolist()]))


@method
def map_(self: Tensor, other: Tensor, function: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by `function(own, other's)`; slow, for the cpu.

    Args:
        other: a tensor that expands to the shape of this one.
        function: takes two numbers of Python and returns one.
    """
    pairs = zip(
        self.detach().reshape(-1).tolist(),
        other.detach().expand_as(self).reshape(-1).tolist(),
        strict=True,
    )
    return self.copy_(_like(self, [function(a, b) for a, b in pairs]))


@method
def map2_(self: Tensor, x: Tensor, y: Tensor, function: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by `function(own, that of x, that of y)`; slow, for the cpu.

    Args:
        x, y: tensors that expand to the shape of this one.
        function: takes three numbers of Python and returns one.
    """
    columns = [t.detach().expand_as(self).reshape(-1).tolist() for t in (self, x, y)]
    return self.copy_(_like(self, [function(*each) for each in zip(*columns, strict=True)]))


def _like(self: Tensor, values: list[Any]) -> Tensor:
    return self.new_tensor(values).reshape(self.shape)


@method
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """What `load_state_dict` exchanges this tensor of a module with, where `taeda.__future__` says
    that it exchanges.

    By default the values of `other` in the type of this one, or `other` itself with `assign`.

    Args:
        other: the tensor of the state that is loaded; by default its shape expands to this one's.
        assign: whether `other` itself takes the place; False by default.
    """
    return other.detach() if assign else self.copy_(other).detach()


@method
def detach_(self: Tensor) -> Tensor:
    """Leave the graph, in place; RuntimeError for views, whose history belongs to their base."""
    if self._is_view():
        raise RuntimeError("Can't detach views in-place. Use detach() instead.")
    made = self.detach()
    made.__dict__.update(self.__dict__)
    self._swap(made)
    return self


@method
def is_nonzero(self: Tensor) -> bool:
    """Whether the single element is other than 0. RuntimeError for more or fewer elements."""
    return bool(self)


@method
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether the shapes are the same.

    Args:
        other: the tensor whose shape is compared, of any dtype.
    """
    return self.shape == other.shape


@method
def is_distributed(self: Tensor) -> bool:
    """False: a plain tensor lies in one process."""
    return False


@method
def as_subclass(self: Tensor, cls: Any) -> Any:
    """An object of the subclass `cls` on the same memory, with the same history."""
    made = _with_history(cls, self) if self.requires_grad else Tensor._make_subclass(cls, self)
    tangent = _core.get_tangent(self)
    if tangent is not None:
        _core.set_tangent(made, tangent)
    return made


def _with_history(cls: Any, source: Tensor) -> Any:
    made = Tensor._make_subclass(cls, source.detach())
    view = _core.functions[""]["alias"](source)
    node, number = _core.gradient_edge(view)
    if node is not None:
        _core.set_history(node, number, made)
    return made


# ---- the way to where they are ----


def _autograd_method(name: str) -> None:
    found: list[Any] = []  # an import by name at each call takes half a microsecond

    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if not found:
            from taeda.autograd import _tensor_methods  # upward: absence is explained; late: Tensor

            found.append(getattr(_tensor_methods, name))
        return found[0](self, *args, **kwargs)

    explained_method(name, "taeda.autograd._tensor_methods", call)


def _functional_method(name: str) -> None:
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        from .. import functional  # late: it needs Tensor complete

        return getattr(functional, name)(self, *args, **kwargs)

    explained_method(name, "taeda", call)


for _name in ("backward", "retain_grad", "register_hook", "register_post_accumulate_grad_hook"):
    _autograd_method(_name)
for _name in ("unique", "unique_consecutive"):
    _functional_method(_name)
