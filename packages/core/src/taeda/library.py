"""Operators of one's own: made of Python functions or of schemas, with kernels, fake kernels and derivatives.

>>> import taeda
>>> from taeda import Tensor
>>> @custom_op("doc::double", mutates_args=())
... def double(x: Tensor) -> Tensor:
...     return x * 2
>>> double.register_autograd(lambda ctx, grad: grad * 2)
>>> x = taeda.ones(2, requires_grad=True)
>>> double(x).sum().backward()
>>> x.grad
tensor([2., 2.])

Triton kernels are refused with a sentence: wrap other kernels with `custom_op`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from taeda import dtype
from taeda._library import rules, table
from taeda._library.custom_ops import CustomOpDef, custom_op, custom_op_of
from taeda._library.fake import get_ctx
from taeda._library.infer import infer_schema
from taeda._library.low_level import Library, fallthrough_kernel, slot_of_key
from taeda._library.opcheck import opcheck
from taeda._library.operators import OpOverload, overload, packet  # noqa: F401 - pickles find them here
from taeda._library.schema import split_name
from taeda._library.tags import Tag, as_tags
from taeda._library.triton import capture_triton, triton_op, wrap_triton
from taeda._warnings import warn

__all__ = [
    "CustomOpDef",
    "Library",
    "capture_triton",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

Function = Callable[..., Any]
Operator = str | OpOverload | CustomOpDef

# libraries behind the functions below, which outlive every caller
_own: dict[str, Library] = {}


def _library_of(namespace: str) -> Library:
    if namespace not in _own:
        _own[namespace] = Library(namespace, "FRAGMENT")
    return _own[namespace]


def _name_of(op: Any, function: str) -> str:
    if isinstance(op, CustomOpDef):
        return op._qualname
    if isinstance(op, OpOverload):
        return op.name()
    if isinstance(op, str):
        split_name(op)
        return op
    raise ValueError(
        f"{function}: got unexpected type for op: {type(op)}; wanted a name, an OpOverload or a CustomOpDef"
    )


# ---- defining ----


@functools.singledispatch
def define(
    qualname: Any, schema: str, *, lib: Library | None = None, tags: Tag | Sequence[Tag] = ()
) -> Any:
    """Define an operator by its name "mylib::sin" and its schema "(Tensor x) -> Tensor".
    It lives as long as `lib`, if given.

    `define(lib, "sin(Tensor x) -> Tensor")` is a decorator of its implementation. Raises ValueError
    for a name without namespace, RuntimeError for an operator that exists.

    Args:
        qualname: namespace and name, "mylib::sin"; or a Library, for the decorator
        schema: parameters and results, "(Tensor x) -> Tensor"; with the name in front beside a
            Library
        lib: the library that the operator belongs to, and goes with (default: None)
        tags: one Tag or several, kept for who asks

    >>> define("doc::third", "(Tensor x) -> Tensor")
    >>> impl("doc::third", "cpu", lambda x: x / 3)
    """
    if not isinstance(qualname, str):
        raise ValueError(
            f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}"
        )
    namespace, name = split_name(qualname)
    if not schema.lstrip().startswith("("):
        raise ValueError(
            'define(qualname, schema): expected schema to look like e.g. "(Tensor x) -> Tensor" '
            f'but got "{schema}"'
        )
    (lib or _library_of(namespace)).define(name + schema.strip(), tags=as_tags(tags))


@define.register
def _(lib: Library, schema: str, alias_analysis: str = "") -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        lib.impl(lib.define(schema, alias_analysis), function)
        return function

    return register


@functools.singledispatch
def impl(
    qualname: Any,
    types: str | Sequence[str],
    func: Function | None = None,
    *,
    lib: Library | None = None,
) -> Any:
    """Give an operator an implementation for device types ("cpu", "cuda", "meta"), or for all of
    them ("default").

    Without `func` a decorator. `impl(lib, name, dispatch_key)` is a decorator too.

    Args:
        qualname: namespace and name of the operator; or a Library, for the decorator
        types: one device type or several, "default", or a dispatch key
        func: the implementation, called with the operator's arguments (default: None)
        lib: the library that keeps the registration; without one it stays (default: None)

    >>> library = taeda.library.Library("impl_example", "DEF")
    >>> _ = library.define("twice(Tensor x) -> Tensor")
    >>> @taeda.library.impl(library, "twice", "CPU")
    ... def twice(x):
    ...     return x * 2
    >>> taeda.ops.impl_example.twice(taeda.ones(2))
    tensor([2., 2.])
    """
    words = {types} if isinstance(types, str) else set(types)
    keys = {
        "CompositeExplicitAutograd" if word == "default" else _key_of(word, types) for word in words
    }

    def register(function: Function) -> None:
        namespace, name = split_name(qualname)
        for key in keys - {""}:
            (lib or _library_of(namespace)).impl(name, function, key)

    return register if func is None else register(func)


def _key_of(word: str, types: Any) -> str:
    """The dispatch key of a device type; a key itself is one."""
    known = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}
    if word in known:
        return known[word]
    if word[:1].isupper():
        slot_of_key(word)
        return word
    rules.slot_of_device(word)  # raises for a word that names no device
    return ""  # a device that there are no tensors of: nothing could call the kernel


@impl.register
def _(lib: Library, name: str, dispatch_key: str = "") -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        lib.impl(name, function, dispatch_key)
        return function

    return register


# ---- registering for an operator that exists ----


def register_kernel(
    op: Operator,
    device_types: str | Sequence[str] | None,
    func: Function | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Give an operator a kernel for device types, or for all (None). Without `func` a decorator.

    Args:
        op: its name ("mylib::sin"), its OpOverload or its CustomOpDef
        device_types: one device type or several; None for all
        func: the kernel, called with the operator's arguments (default: None)
        lib: the library that keeps the registration; without one it stays, and so does what a
            CustomOpDef gets (default: None)

    >>> @taeda.library.custom_op("kernel_example::twice", mutates_args=())
    ... def twice(x: taeda.Tensor) -> taeda.Tensor:
    ...     return x * 2
    >>> @taeda.library.register_kernel("kernel_example::twice", "cpu")
    ... def twice_here(x):
    ...     return x + x
    >>> twice(taeda.ones(2))
    tensor([2., 2.])
    """
    name = _name_of(op, "register_kernel")
    made = custom_op_of(op)
    if made is not None:
        return made.register_kernel(device_types, func)
    return impl(name, "default" if device_types is None else device_types, func, lib=lib)


def register_fake(
    op: Operator,
    func: Function | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = False,
) -> Any:
    """Say what calls on meta tensors give: a function of the same parameters, which reads no data.
    Without `func` a decorator.

    For a size that depends on data it asks `get_ctx().new_dynamic_size()`. RuntimeError if the
    operator has one.

    Args:
        op: its name ("mylib::sin"), its OpOverload or its CustomOpDef
        func: the fake kernel (default: None)
        lib: the library that keeps the registration; without one it stays (default: None)
        allow_override: take the place of a fake kernel that is there (default: False)

    >>> import taeda
    >>> @custom_op("doc::linear", mutates_args=())
    ... def linear(x: Tensor, w: Tensor) -> Tensor:
    ...     return x @ w.t()
    >>> @register_fake("doc::linear")
    ... def _(x, w):
    ...     return x.new_empty(x.shape[0], w.shape[0])
    >>> linear(taeda.empty(2, 3, device="meta"), taeda.empty(4, 3, device="meta")).shape
    taeda.Size([2, 4])
    """
    name = _name_of(op, "register_fake")

    def register(function: Function) -> Function:
        if custom_op_of(op) is None and table.rule_of(name, "fake") and not allow_override:
            raise RuntimeError(
                f"{name} has a fake impl already; take it away with its library, or pass allow_override=True"
            )
        rules.set_fake(name, function)
        if lib is not None:
            lib._kernels[table.key(name), "meta"] = table.entry(name).kernels["meta"]
            lib._rules[name, "fake", None] = function
        return function

    return register if func is None else register(func)


def register_autograd(
    op: Operator,
    backward: Function,
    /,
    *,
    setup_context: Function | None = None,
    lib: Library | None = None,
) -> None:
    """Give an operator a derivative.

    `backward(ctx, *grads)` gets one gradient per result (a list for a list of Tensors) and returns
    one per positional argument, None where there is none. `setup_context(ctx, inputs, output)` runs
    after the kernel of a recorded call, saves what backward needs with `ctx.save_for_backward` or
    as attributes, and gets `keyword_only_inputs` besides `inputs` if there are such arguments.
    Written in differentiable operations, backward can be differentiated again.

    Args:
        op: its name ("mylib::sin"), its OpOverload or its CustomOpDef
        backward: from gradients of results to those of arguments
        setup_context: what keeps values of the call for backward; None keeps none
        lib: the library that keeps the registration; without one it stays (default: None)

    Raises AttributeError if there is no such operator, RuntimeError if it writes its arguments,
    NotImplementedError if a keyword-only argument is a Tensor.

    >>> @taeda.library.custom_op("autograd_example::twice", mutates_args=())
    ... def twice(x: taeda.Tensor) -> taeda.Tensor:
    ...     return x * 2
    >>> taeda.library.register_autograd(
    ...     "autograd_example::twice", lambda ctx, grad: grad * 2
    ... )
    >>> x = taeda.ones(2, requires_grad=True)
    >>> twice(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """
    name = _name_of(op, "register_autograd")
    rules.set_autograd(name, backward, setup_context)
    if lib is not None:
        lib._rules[name, "autograd", None] = table.rule_of(name, "autograd")


def register_torch_dispatch(
    op: Operator,
    torch_dispatch_class: type,
    func: Function | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Say what a TorchDispatchMode does with this operator: `func(mode, op, types, args, kwargs)`,
    in place of its method.

    Without `func` a decorator. RuntimeError if there is such a rule.

    Args:
        op: its name ("mylib::sin"), its OpOverload or its CustomOpDef
        torch_dispatch_class: the class of modes that the rule is for
        func: the rule (default: None)
        lib: the library that keeps the registration; without one it stays (default: None)

    >>> from taeda import Tensor
    >>> from taeda.utils._python_dispatch import TorchDispatchMode
    >>> class Loud(TorchDispatchMode):
    ...     pass
    >>> @taeda.library.custom_op("dispatch_example::twice", mutates_args=())
    ... def twice(x: Tensor) -> Tensor:
    ...     return x * 2
    >>> @register_torch_dispatch("dispatch_example::twice", Loud)
    ... def rule(mode, op, types, args, kwargs):
    ...     print("seen:", op)
    ...     return op(*args, **kwargs)
    >>> x = taeda.ones(1)
    >>> with Loud():
    ...     y = twice(x)
    seen: dispatch_example.twice.default
    >>> y
    tensor([2.])
    """
    name = _name_of(op, "register_torch_dispatch")

    def register(function: Function) -> Function:
        rules.set_dispatch(name, torch_dispatch_class, function)
        if lib is not None:
            lib._rules[name, "torch_dispatch", torch_dispatch_class] = function
        return function

    return register if func is None else register(func)


def register_vmap(
    op: Operator, func: Function | None = None, /, *, lib: Library | None = None
) -> Any:
    """Say what an operator gives inside of `vmap`, for all samples at once. Without `func` a decorator.

    `func(info, in_dims, *args, **kwargs)` gets the arguments with all their samples: `in_dims` has
    the dimension along which they lie, or None, for each positional argument (a list for a list);
    `info.batch_size` says how many there are, `info.randomness` what draws are to do. It returns
    the results and, in the same form, where their samples lie. Without such a rule the operator
    runs sample by sample. A later rule takes the place of an earlier one. With `lib`, the rule goes
    with it.

    Args:
        op: its name ("mylib::sin"), its OpOverload or its CustomOpDef
        func: the rule (default: None)
        lib: the library that keeps the registration; without one it stays (default: None)

    AttributeError if there is no such operator; RuntimeError, at the call, if `func` returns no pair.

    >>> import taeda
    >>> @custom_op("doc::shift", mutates_args=())
    ... def shift(x: Tensor, by: float) -> Tensor:
    ...     return x + by
    >>> @register_vmap("doc::shift")
    ... def _(info, in_dims, x, by):
    ...     return shift(x, by), in_dims[0]
    >>> taeda.vmap(shift, in_dims=(0, None))(taeda.zeros(2), 3.0)
    tensor([3., 3.])
    """
    name = _name_of(op, "register_vmap")
    overload(name)  # AttributeError, if there is none

    def register(function: Function) -> Function:
        rules.set_vmap(name, function)
        if lib is not None:
            lib._rules[name, "vmap", None] = function
        return function

    return register if func is None else register(func)


def register_autocast(
    op: Operator, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None
) -> None:
    """Say in which type an operator runs inside of `taeda.autocast(device_type)`, whatever the
    region's own type is.

    Tensors of float32, bfloat16 and float16 on that device are cast to `cast_inputs`, at any place
    of the arguments, lists of them too; float64 and integers are left alone. The operator then runs
    with autocast off. Without such a rule it gets what it is given. A later rule takes the place of
    an earlier one. With `lib`, the rule goes with it.

    Args:
        op: its name ("mylib::sin"), its OpOverload or its CustomOpDef
        device_type: "cpu" or "cuda"
        cast_inputs: the dtype that the operator runs in
        lib: the library that keeps the registration; without one it stays (default: None)

    ValueError for another device than "cpu" and "cuda", TypeError for what is no dtype;
    AttributeError if there is no such operator, RuntimeError if it is built in or writes its
    arguments.

    >>> import taeda
    >>> @custom_op("doc::halved", mutates_args=())
    ... def halved(x: Tensor) -> Tensor:
    ...     return x / 2
    >>> register_autocast("doc::halved", "cpu", taeda.float16)
    >>> with taeda.autocast("cpu"):
    ...     halved(taeda.ones(1)).dtype
    taeda.float16
    """
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type!r}; wanted 'cpu' or 'cuda'")
    if not isinstance(cast_inputs, dtype):
        raise TypeError(
            f"register_autocast: cast_inputs is a dtype, got {type(cast_inputs).__name__}"
        )
    name = _name_of(op, "register_autocast")
    rules.set_autocast(name, device_type, cast_inputs)
    if lib is not None:
        lib._rules[name, "autocast", device_type] = cast_inputs


def impl_abstract(
    qualname: str, func: Function | None = None, *, lib: Library | None = None, _stacklevel: int = 1
) -> Any:
    """The earlier name of `register_fake`.

    Args:
        qualname: namespace and name of the operator
        func: the fake kernel; without it a decorator (default: None)
        lib: the library that keeps the registration; without one it stays (default: None)

    >>> import warnings
    >>> from taeda import Tensor
    >>> @taeda.library.custom_op("abstract_example::twice", mutates_args=())
    ... def twice(x: Tensor) -> Tensor:
    ...     return x * 2
    >>> with warnings.catch_warnings(action="ignore"):
    ...     _ = impl_abstract("abstract_example::twice", lambda x: taeda.empty_like(x))
    >>> twice(taeda.ones(3, device="meta")).shape
    taeda.Size([3])
    """
    warn("library.impl_abstract was renamed to library.register_fake", FutureWarning)
    return register_fake(qualname, func, lib=lib)
