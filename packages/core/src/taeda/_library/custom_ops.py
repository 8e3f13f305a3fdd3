"""`custom_op`: a Python function as an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, overload

from taeda._native import core as _core
from taeda._table._schema import Schema, parse_schema

from . import rules, table
from .infer import infer_schema
from .operators import OpOverload
from .operators import overload as find_overload
from .schema import FunctionSchema, split_name
from .tags import Tag, as_tags

__all__ = ["CustomOpDef", "custom_op", "custom_op_of"]

Function = Callable[..., Any]

#: the functions that custom_op was given, by the name of the operator
_defined: dict[str, CustomOpDef] = {}


@overload
def custom_op(
    name: str,
    fn: None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Sequence[Tag] | None = None,
) -> Callable[[Function], CustomOpDef]: ...
@overload
def custom_op(
    name: str,
    fn: Function,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Sequence[Tag] | None = None,
) -> CustomOpDef: ...
def custom_op(
    name: str,
    fn: Function | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Sequence[Tag] | None = None,
) -> Any:
    """Make an operator of a function, as a decorator or by a call; returns the CustomOpDef that
    stands for it.

    The function gets Tensors outside the graph and plain values, and returns new Tensors: a result
    that shares memory with an argument is a RuntimeError. `mutates_args` names the Tensors that it
    writes ("unknown": any of them). `device_types` says which devices it serves, None all that have
    memory. The schema comes from the annotations (`infer_schema`), unless `schema` gives it:
    "(Tensor x, int y) -> Tensor". An operator of the same name that exists is replaced.

    Args:
        name: namespace and name, "mylib::cube"
        fn: the function; None (the default) for a decorator
        mutates_args: names of the Tensors that it writes, or "unknown"
        device_types: one device type or several; None for all
        schema: parameters and results, "(Tensor x) -> Tensor"; None (the default) for what the
            annotations say
        tags: Tags kept for who asks; None is pt2_compliant_tag

    Raises ValueError for a name without namespace, and for annotations or a schema that say nothing.

    >>> import taeda
    >>> @custom_op("mylib::cube", mutates_args=())
    ... def cube(x: taeda.Tensor) -> taeda.Tensor:
    ...     return x * x * x
    >>> cube(taeda.tensor([2.0]))
    tensor([8.])
    >>> taeda.ops.mylib.cube.default._schema
    mylib::cube(Tensor x) -> Tensor
    """

    def make(function: Function) -> CustomOpDef:
        namespace, stem = split_name(name)
        written = mutates_args if isinstance(mutates_args, str) else set(mutates_args)
        text = infer_schema(function, mutates_args=written) if schema is None else schema.strip()
        parsed = parse_schema(f"{namespace}::{stem}{text}")
        if schema is not None:
            _check_mutation(parsed, written)
        _check_device(parsed, device_types)
        all_tags = as_tags(tags) or (Tag.pt2_compliant_tag,)
        entry = table.define(
            f"{namespace}::{stem}{text}",
            tags=all_tags,
            strict=True,
            doc=function.__doc__ or "",
            replace=True,
        )
        made = CustomOpDef(f"{namespace}::{stem}", (entry.text,))
        made._start(function, parsed)
        _defined[entry.text] = made
        for slot in rules.device_slots(device_types, "memory"):
            table.set_kernel(entry.text, slot, function)
        if not parsed.returns and any(a.mutated for a in parsed.arguments):
            table.set_kernel(entry.text, "meta", _nothing)  # it writes, and there is no memory
        return made

    return make if fn is None else make(fn)


def custom_op_of(op: Any) -> CustomOpDef | None:
    """The CustomOpDef behind a name or an overload, if it was made by `custom_op`."""
    if isinstance(op, CustomOpDef):
        return op
    name = op if isinstance(op, str) else getattr(op, "_name", "")
    return _defined.get(table.key(name))


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None


def _check_mutation(schema: Schema, written: Any) -> None:
    marked = {a.name for a in schema.arguments if a.mutated}
    if written != "unknown" and marked != written:
        raise ValueError(
            f"Attempted to create a custom op with mutates_args={written or '()'} and a schema "
            f"that marks {marked or 'nothing'} as "
            "written. Please make these consistent."
        )


def _check_device(schema: Schema, device_types: Any) -> None:
    if device_types is None or any(a.is_tensor for a in schema.arguments):
        return
    if not any(a.name == "device" and a.base == "Device" for a in schema.arguments):
        raise ValueError(
            "Functions without tensor inputs are required to have a `device: taeda.device` "
            "argument when device_types is given"
        )


class CustomOpDef(_core.Operator):
    """What `custom_op` returns: call it, and register what else is known of the operator.

    >>> import taeda
    >>> @custom_op("definition_example::half", mutates_args=())
    ... def half(x: taeda.Tensor) -> taeda.Tensor:
    ...     return x / 2
    >>> isinstance(half, CustomOpDef), half(taeda.ones(1)).item()
    (True, 0.5)
    >>> _ = half.register_fake(taeda.empty_like)
    >>> half(taeda.empty(3, device="meta")).shape
    taeda.Size([3])
    """

    def _start(self, function: Function, schema: Schema) -> None:
        self._init_fn = function
        self._parsed = schema
        self._namespace, self._name = schema.namespace, schema.name
        self._qualname = f"{schema.namespace}::{schema.name}"
        self.__name__ = getattr(function, "__name__", schema.name)
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self._stand_for(self._opoverload)

    @property
    def _opoverload(self) -> OpOverload:
        return find_overload(self._qualname)

    @property
    def _schema(self) -> FunctionSchema:
        return FunctionSchema(self._parsed)

    @property
    def tags(self) -> list[Tag]:
        """The tags it was defined with."""
        return list(table.entry(self._qualname).tags)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    # ---- what can be registered ----

    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: Function | None = None, /
    ) -> Any:
        """Another implementation, for some device types (None: for all that have none of their own)."""

        def register(function: Function) -> Function:
            _check_device(self._parsed, device_types)
            for slot in rules.device_slots(device_types, "memory"):
                table.set_kernel(self._qualname, slot, function)
            return function

        return register if fn is None else register(fn)

    def register_fake(self, fn: Function, /) -> Function:
        """What calls on meta tensors run: makes results of the right shape and dtype, and reads no data."""
        rules.set_fake(self._qualname, fn)
        return fn

    def register_autograd(
        self, backward: Function, /, *, setup_context: Function | None = None
    ) -> None:
        """The derivative; see `library.register_autograd`."""
        rules.set_autograd(self._qualname, backward, setup_context)

    def register_vmap(self, func: Function | None = None, /) -> Any:
        """What the operator gives inside of vmap, for all samples at once; see `library.register_vmap`."""

        def register(function: Function) -> Function:
            rules.set_vmap(self._qualname, function)
            return function

        return register if func is None else register(func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """The type that its arguments have inside of autocast; see `library.register_autocast`."""
        from taeda.library import register_autocast  # late: it is made of this module

        register_autocast(self, device_type, cast_inputs)

    def register_torch_dispatch(
        self, torch_dispatch_class: type, fn: Function | None = None, /
    ) -> Any:
        """What runs in place of a mode's or subclass's `__torch_dispatch__` for this operator."""

        def register(function: Function) -> Function:
            rules.set_dispatch(self._qualname, torch_dispatch_class, function)
            return function

        return register if fn is None else register(fn)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """In a `with` block, use the kernel of a device type or not; without it the function of
        `custom_op` serves.
        """
        slot = rules.slot_of_device(device_type)
        if slot is None:
            raise ValueError(f"{self._qualname}: no kernel can be registered for {device_type!r}")
        number = table.SLOTS[slot]
        before = _core.set_kernel_enabled(self._qualname, number, enabled)
        try:
            yield
        finally:
            _core.set_kernel_enabled(self._qualname, number, before)
