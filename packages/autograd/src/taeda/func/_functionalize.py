"""functionalize: a function whose operators write nothing, but its inputs at the end.

What really runs is the function as it is. A tracer stands between it and the tracers around: where
an operator writes into a tensor, those see the operator that computes the new contents, and from
then on the result in place of the tensor and of all that share its memory. So views show what was
written, gradients are those of the function, and the graph has no writes.

    x.add_(1)          add(x, 1), which is x from now on
    y[0] = 5           select, full_like, select_scatter into y
    v, a view of y     select(y) again, when it is read next
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.trees import tensors_in

from . import _tree
from ._views import RESHAPES, View, copied, put, put_through, repeats

__all__ = ["functionalize"]

_MUTATES, _RANDOM = _core.row_flags["MUTATES"], _core.row_flags["RANDOM"]
_flags = {text: flags for text, _, _, _, _, flags in _core.op_rows()}
_RELAYS = (
    "transpose_", "swapaxes_", "swapdims_", "t_", "squeeze_", "squeeze_.dim", "squeeze_.dims",
    "unsqueeze_", "as_strided_",
)  # fmt: skip


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function that computes `func` by operators that write nothing, and writes its results
    into those inputs that `func` writes.

    The values are those of `func`, and so are the gradients; other transforms may be around it and
    inside. The difference is what a tracer sees, `make_fx` for one: no operator writes, but for a
    `copy_` at the end into each tensor from outside that `func` changed. With
    `remove="mutations_and_views"` no operator makes a view either: each copies what the view shows.

    Operators without a form that writes nothing run on fresh clones of what they write: batch norm,
    which keeps statistics, fused optimizers, draws from distributions other than uniform and
    normal.

    RuntimeError for another `remove`; NotImplementedError if `func` changes the shape of a tensor
    in place, or writes through a view that reads elements in another way than its base (conjugates,
    other dtypes). A tensor that shares memory with a written one and came about without an operator
    raises RuntimeError when it is read.

    Args:
        func: a function of tensors, or of trees of them.
        remove: "mutations" (default) or "mutations_and_views".

    >>> import taeda
    >>> def f(x):
    ...     y = x.clone()
    ...     y[0].mul_(10)
    ...     return y
    >>> functionalize(f)(taeda.ones(2))
    tensor([10.,  1.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize: remove is 'mutations' or 'mutations_and_views', got {remove!r}"
        )

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _Functional(copies=remove == "mutations_and_views") as tracer:
            result = func(*args, **kwargs)
            tracer.write_back()
        tracer.tell(_tree.leaves(result))
        return result

    return functools.wraps(func)(wrapper) if hasattr(func, "__name__") else wrapper


class _Functional:
    """A tracer that shows results in place of tensors that were written."""

    def __init__(self, *, copies: bool) -> None:
        self.copies = copies
        self.writes: dict[int, int] = {}  # how often the memory behind a key was written
        self.values: dict[int, tuple[Tensor, Tensor, int]] = {}  # object, what it stands for, when
        self.views: dict[int, tuple[Tensor, View]] = {}
        self.made: weakref.WeakValueDictionary[int, Tensor] = weakref.WeakValueDictionary()
        self.given: dict[int, Tensor] = {}  # from outside, and written

    def __enter__(self) -> _Functional:
        _core.tracers.push(self)
        return self

    def __exit__(self, *raised: object) -> None:
        _core.tracers.remove(self)

    # ---- calls of the function ----

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """For a tracer that sits outside of this one."""
        return self.call_into(op, args, run, None)

    def call_into(
        self,
        op: str,
        args: tuple[Any, ...],
        run: Callable[[], Any],
        targets: tuple[Any, ...] | None,
    ) -> Any:
        """One kernel call: its results are what the tracers around see; what it writes is noted."""
        if op in _RELAYS:
            raise NotImplementedError(
                f"functionalize: {op} changes the shape of a tensor in place; assign the result of "
                f"{op.rstrip('_')} instead"
            )
        if _flags.get(op, 0) & _MUTATES and targets is None:
            return self._mutate(op, args, run)
        made = self._pure(op, args, run)
        for target, result in zip(targets or (), _several(made), strict=False):
            self._write(target, self._fitted(target, result))
        return made

    def control(self, what: Any, functions: Any, tensors: tuple[Tensor, ...], below: Any) -> Any:
        """An operator that calls functions: what the tracers around see of them writes nothing."""
        remove = "mutations_and_views" if self.copies else "mutations"
        pure = tuple(functionalize(f, remove=remove) for f in functions)
        made = below(pure, tuple(self.value(t) for t in tensors))
        self._note(what.name, tensors, made, view=False)
        return made

    def note_made(self, tensor: Tensor) -> None:
        """A tensor was made of numbers."""
        self.made[id(tensor)] = tensor
        self._forward("note_made", tensor)

    def note_untraced(self, what: str) -> None:
        """Something that is no operation touched a tensor."""
        self._forward("note_untraced", what)

    def note_same(self, tensor: Tensor, value: Tensor) -> None:
        """From another functionalize inside: `tensor` is `value` from now on."""
        self.values[id(tensor)] = (tensor, value, self.writes.setdefault(_key(tensor), 0))
        self.made[id(tensor)] = tensor

    def _forward(self, name: str, value: Any) -> None:
        entered = _core.tracers.entered
        around = entered[: entered.index(self)] if self in entered else entered
        heard = getattr(around[-1], name, None) if around else None
        if heard is not None:
            heard(value)

    # ---- without writes ----

    def _pure(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        values = _mapped(self.value, args)
        same = all(a is b for a, b in zip(tensors_in(values), tensors_in(args), strict=True))
        if op in _VIEWS and (not same or self.copies):  # who holds it sees what is written later
            made = _core.call_backend(op, args)
            if not all(m is args[0] for m in _several(made)):
                self._stand_for(
                    made, self._made(*_fitting(op, args, values, getattr(made, "shape", ()))), args
                )
        else:
            made = self._outwards(op, values)
        self._note(op, args, made, view=self._is_view(args, made))
        return made

    def _outwards(self, op: str, args: tuple[Any, ...]) -> Any:
        if self.copies and op in _VIEWS:
            return _core.call_backend(op, args)  # shown as a copy, see `_shown`
        return _core.call_outwards(op, args, lambda: _core.call_backend(op, args))

    def _made(self, op: str, args: tuple[Any, ...]) -> Any:
        """The result of an operator as the tracers around see it, which is nobody's but theirs."""
        return (
            self._shown(op, args, self._outwards(op, args))
            if op in _VIEWS
            else self._outwards(op, args)
        )

    def _shown(self, op: str, args: tuple[Any, ...], made: Any) -> Any:
        if not self.copies:
            return made
        copy = copied(op, args, made)
        if copy is None:
            raise NotImplementedError(f"functionalize: there is no operator that copies {op}")
        return _core.call_outwards(*copy, lambda: _mapped(_clone, made))

    def _is_view(self, args: tuple[Any, ...], made: Any) -> bool:
        keys = {_key(t) for t in tensors_in(args) if t.numel()}
        return any(_key(m) in keys for m in tensors_in(made) if m.numel())

    def _note(self, op: str, args: tuple[Any, ...], made: Any, *, view: bool) -> None:
        several = isinstance(made, tuple | list)
        for place, result in enumerate(_several(made)):
            if not isinstance(result, Tensor) or any(result is t for t in tensors_in(args)):
                continue
            self.made[id(result)] = result
            if view:
                how = View(op, args, args[0], tuple(result.shape), place if several else None)
                self.views[id(result)] = (result, how)

    # ---- writes ----

    def _mutate(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """A row that writes by itself: the operator that makes what it writes, or the row on clones."""
        values = _mapped(self.value, args)
        written, generators = _written(op, args), _generators(args)
        states = [g.get_state() for g in generators]
        pure = _PURE.get(op)
        found = pure(self._made, args[0], values) if pure is not None else None
        shown: Any = None
        if found is not None:
            made = [found]
        else:
            made = [self._outwards("clone", (self.value(t), None)) for t in written]
            fresh = {id(self.value(t)): m for t, m in zip(written, made, strict=True)}
            shown = self._outwards(op, _mapped(lambda t: fresh.get(id(t), t), values))
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state)  # the function draws the same numbers once more
        if op == "index_put_" and found is not None:
            # in a trace the mask holds nothing, and may choose more than there are values
            result = _core.call_backend("copy_", (args[0], self._fitted(args[0], found), False))
        else:
            result = _core.call_backend(op, args)
        for target, value in zip(written, made, strict=True):
            self._write(target, self._fitted(target, value))
        self._note(op, args, result, view=False)
        self._stand_for(result, shown, args)
        return result

    def _stand_for(self, made: Any, shown: Any, args: tuple[Any, ...]) -> None:
        """Results that the tracers around know as others."""
        for tensor, value in zip(_several(made), _several(shown), strict=False):
            given = any(tensor is t for t in tensors_in(args))
            if isinstance(tensor, Tensor) and isinstance(value, Tensor) and not given:
                stage = self.writes.setdefault(_key(tensor), 0)
                self.values[id(tensor)] = (tensor, value, stage)

    def _fitted(self, target: Tensor, value: Tensor) -> Tensor:
        if value.dtype != target.dtype or value.device != target.device:
            value = self._outwards("_to_copy", (value, target.dtype, target.device, False, None))
        return value

    def _laid_out(self, value: Tensor, target: Tensor) -> Tensor:
        """The same elements with the strides of `target`, where these leave no gaps: views are made
        of them.
        """
        if value.stride() == target.stride() or value.numel() == 0:
            return value
        order = sorted(range(target.dim()), key=lambda d: (-target.stride(d), d))
        back = tuple(order.index(d) for d in range(len(order)))
        turned = self._made("permute", (value, tuple(order)))
        dense = self._outwards("clone", (turned, taeda.contiguous_format))
        return self._made("permute", (dense, back))

    def _write(self, target: Tensor, value: Tensor) -> None:
        """From now on `target` is `value`, and what it is a view of holds that in its place."""
        if not target.numel():  # an empty view is none to whom it was made from
            return
        key = _key(target)
        self.writes[key] = self.writes.get(key, 0) + 1
        stage, tensor = self.writes[key], target
        views = self._views_of(target)
        last = max((k for k, view in enumerate(views) if repeats(view)), default=-1)
        if last > 0:  # a part of what repeats elements: the other places hold what was there before
            tensor, through = views[last].parent, views[last::-1]
            value = put_through(self._before(tensor), through, value, self._made)
            views = views[last + 1 :]
        for view in views:
            value = put(self._before(view.parent), view, value, self._made)
            tensor = view.parent
        self.values[id(tensor)] = (tensor, self._laid_out(value, tensor), stage)
        if id(tensor) not in self.made:
            self.given[id(tensor)] = tensor

    def _views_of(self, tensor: Tensor) -> list[View]:
        """How it came from the tensor at the end: the last view first."""
        found = []
        while id(tensor) in self.views:
            found.append(self.views[id(tensor)][1])
            tensor = found[-1].parent
        return found

    # ---- what a tensor is now ----

    def value(self, tensor: Tensor) -> Tensor:
        """What the tracers around know as the contents of `tensor`."""
        key = _key(tensor)
        known = self.values.get(id(tensor))
        if known is not None and known[2] == self.writes.get(key, 0):
            return known[1]
        if not self.writes.get(key):
            return tensor
        return self._again(tensor, key)

    def _again(self, tensor: Tensor, key: int) -> Tensor:
        stage = self.writes[key]
        if id(tensor) in self.views:
            view = self.views[id(tensor)][1]
            value, rest = self.value(view.parent), view.args[1:]
            call = _fitting(view.op, (view.parent, *rest), (value, *rest), view.shape)
            found = self._made(*call)
            made = found if view.place is None else found[view.place]
        else:
            made = self._twin(tensor, key)
        self.values[id(tensor)] = (tensor, made, stage)
        return made

    def _before(self, tensor: Tensor) -> Tensor:
        """What a tensor was before the write that is going on."""
        key = _key(tensor)
        known, now = self.values.get(id(tensor)), self.writes[key]
        if known is not None and known[2] == now - 1:
            return known[1]
        self.writes[key] = now - 1
        try:
            return self.value(tensor)
        finally:
            self.writes[key] = now

    def _twin(self, tensor: Tensor, key: int) -> Tensor:
        """The value of another object that is the same piece of memory."""
        for other, _, _ in list(self.values.values()):
            if other is not tensor and _key(other) == key and _place(other) == _place(tensor):
                return self.value(other)
        raise RuntimeError(
            f"functionalize: a tensor of shape {list(tensor.shape)} shares memory with one that "
            "was written, and no operator made it "
            "from that: make views inside of the function, or clone() one of two arguments that overlap"
        )

    # ---- the end ----

    def write_back(self) -> None:
        """Tracers around see what was written into tensors from outside."""
        _core.tracers.remove(self)
        try:
            for tensor in self.given.values():
                value = self.value(tensor)
                _core.call_outwards(
                    "copy_", (tensor, value, False), functools.partial(_written_already, tensor)
                )
                self.values[id(tensor)] = (tensor, tensor, self.writes[_key(tensor)])
        finally:
            _core.tracers.push(self)

    def tell(self, results: list[Any]) -> None:
        """The tracer around learns which of its values the tensors are that others hold from now on."""
        heard = (
            getattr(_core.tracers.entered[-1], "note_same", None) if _core.tracers.entered else None
        )
        if heard is None:
            return
        for tensor in [r for r in results if isinstance(r, Tensor)]:
            self.value(tensor)
        known = [t for t, _, _ in self.values.values() if id(t) not in self.given]
        # what others are views of first
        for tensor in sorted(known, key=lambda t: id(t) in self.views):
            value = self.value(tensor)
            if value is not tensor:
                heard(tensor, value)


def _written_already(tensor: Tensor) -> Tensor:
    return tensor


# ---- arguments ----


def _key(tensor: Tensor) -> int:
    key: int = _core.storage_key(tensor)
    return key


def _place(t: Tensor) -> Any:
    return t.dtype, t.shape, t.stride(), t.storage_offset(), t.is_conj(), t.is_neg()


def _several(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple | list) else [made]


def _mapped(f: Callable[[Tensor], Any], value: Any) -> Any:
    if isinstance(value, Tensor):
        return f(value)
    if isinstance(value, tuple | list) and any(True for _ in tensors_in(value)):
        return type(value)([_mapped(f, entry) for entry in value])
    return value


def _clone(tensor: Tensor) -> Any:
    return _core.call_backend("clone", (tensor, None))


def _generators(args: tuple[Any, ...]) -> list[Any]:
    return [a for a in args if isinstance(a, taeda.Generator)]


@functools.cache
def _places(op: str) -> list[int]:
    """Which arguments a row writes."""
    return [k for k, a in enumerate(_core.schema_of(op).arguments) if a.mutated]


def _written(op: str, args: tuple[Any, ...]) -> list[Tensor]:
    return [t for k in _places(op) for t in tensors_in(args[k])]


def _fitting(
    op: str, args: tuple[Any, ...], values: tuple[Any, ...], shape: tuple[int, ...]
) -> tuple[str, tuple[Any, ...]]:
    """The view `op(*args)`, of `shape`, as a call on the values: those of a tensor with gaps lie in
    another way than it does.
    """
    if args[0].stride() == values[0].stride() or args[0].numel() == 0:
        return op, values
    if op.startswith("as_strided"):
        raise NotImplementedError(
            "functionalize: as_strided of a tensor that was written and whose elements lie apart; "
            "clone() it first"
        )
    return ("reshape", (values[0], tuple(shape))) if op in RESHAPES else (op, values)


# ---- rows that write, as operators that make ----


def _filled(call: Callable[..., Any], target: Tensor, values: tuple[Any, ...]) -> Any:
    like, *rest = values
    number = rest[0] if rest else 0
    return call("full_like", (like, number, None, None, None, None, None))


def _copy(call: Callable[..., Any], target: Tensor, values: tuple[Any, ...]) -> Any:
    source = values[1]
    if source.dtype != target.dtype or source.device != target.device:
        source = call("_to_copy", (source, target.dtype, target.device, False, None))
    if source.shape != target.shape:
        source = call("expand", (source, tuple(target.shape), False))
    return call("clone", (source, None)) if _key(source) == _key(values[1]) else source


def _fill_tensor(call: Callable[..., Any], target: Tensor, values: tuple[Any, ...]) -> Any:
    return _copy(call, target, (values[0], values[1], False))


def _index_put(call: Callable[..., Any], target: Tensor, values: tuple[Any, ...]) -> Any:
    return call("index_put", values)


def _normal(call: Callable[..., Any], target: Tensor, values: tuple[Any, ...]) -> Any:
    if not target.is_floating_point() or not target.is_contiguous():
        return None
    _, mean, std, generator = values
    shape = tuple(target.shape)
    return call("normal.float_float", (mean, std, shape, generator, target.dtype, None,
        target.device, None))  # fmt: skip


_PURE: dict[str, Any] = {
    "fill_.Scalar": _filled, "zero_": _filled, "fill_.Tensor": _fill_tensor, "copy_": _copy,
    "index_put_": _index_put,
    "normal_": _normal,
}  # fmt: skip
_VIEWS = frozenset(t for t, flags in _flags.items() if flags & _core.row_flags["VIEW"])
