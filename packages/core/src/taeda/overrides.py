"""The `__torch_function__` protocol: types and modes that see calls of this library's functions.

A type with a classmethod `__torch_function__(cls, func, types, args=(), kwargs=None)` is asked
instead of the function when an object of it is among the arguments; a `TorchFunctionMode` is asked
for every call inside its `with` block.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

import taeda
from taeda import Tensor

from . import _dispatch
from ._dispatch import call_override, has_overrides

__all__ = [
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

Function = Callable[..., Any]


# ---- for authors of functions ----


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a call with these arguments is for `handle_torch_function`.

    True if a mode is active, or one of the arguments has a `__torch_function__`; exact tensors and
    parameters do not count.
    """
    return has_overrides(relevant_args)


def has_torch_function_unary(argument: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_overrides((argument,))


def has_torch_function_variadic(*arguments: Any) -> bool:
    """`has_torch_function` of several arguments."""
    return has_overrides(arguments)


def handle_torch_function(
    public_api: Function, relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Ask the modes and the types of `relevant_args` for `public_api(*args, **kwargs)`.

    Raises TypeError if all of them return NotImplemented.

    >>> def double(x):
    ...     if has_torch_function_unary(x):
    ...         return handle_torch_function(double, (x,), x)
    ...     return x + x
    """
    return call_override(public_api, None, args, kwargs, relevant_args)


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Function], Function]:
    """Decorate a function so that it can be overridden.

    `dispatcher` takes the same arguments and returns those that may have a `__torch_function__`.
    """

    def decorate(func: Function) -> Function:
        @functools.wraps(func)
        def overridable(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_overrides(relevant):
                return call_override(overridable, None, args, kwargs, relevant)
            return func(*args, **kwargs)

        return overridable

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether `inp` is a tensor, or its type has a `__torch_function__`."""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


# ---- modes ----


class TorchFunctionMode:
    """Sees every call of this library inside its `with` block, before the arguments' types do.

    A subclass defines `__torch_function__(self, func, types, args=(), kwargs=None)`. While that
    runs the mode is off, so calls in it go to the next mode outwards.

    >>> class Names(TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     x = taeda.ones(2).exp()
    ones
    exp
    """

    def __torch_function__(
        self,
        func: Function,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __torch_function__")

    def __enter__(self) -> TorchFunctionMode:
        _dispatch.push_function_mode(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _dispatch.pop_function_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """A new mode, to be entered by `with`."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every call pass."""

    def __torch_function__(
        self,
        func: Function,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return func(*args, **(kwargs or {}))


# ---- what can be overridden ----

# modules whose functions take tensors, by the name under which users reach them
_MODULES = ("", "nn.functional", "nn.init", "linalg", "fft", "special")
# names in them that take tensors but are never overridden: they make, save or describe tensors
_NEVER = frozenset(
    """tensor as_tensor asarray from_numpy frombuffer from_dlpack from_file zeros ones empty full
    eye arange range linspace logspace rand randn randint randperm empty_strided empty_permuted
    is_tensor is_storage save load manual_seed seed initial_seed get_rng_state set_rng_state
    no_grad enable_grad inference_mode set_grad_enabled is_grad_enabled set_printoptions
    set_default_dtype get_default_dtype set_default_device get_default_device set_num_threads
    get_num_threads result_type promote_types can_cast compile tril_indices triu_indices
    typename vmap broadcast_shapes""".split()
)
_NEVER_METHODS = frozenset(
    """__new__ __init__ __init_subclass__ __subclasshook__ __class__ __dict__ __weakref__ __doc__
    __module__ __getattribute__ __setattr__ __delattr__ __dir__ __sizeof__ __reduce__ __getstate__
    __torch_function__ __torch_dispatch__ __format__ as_subclass _make_subclass""".split()
)


@functools.cache
def get_default_nowrap_functions() -> frozenset[Any]:
    """Functions whose results stay what they are when a subclass calls them."""
    names = ("_base", "grad", "_grad", "grad_fn")
    getters = (getattr(getattr(Tensor, name, None), "__get__", None) for name in names)
    return frozenset(getter for getter in getters if getter is not None)


@functools.cache
def get_ignored_functions() -> frozenset[Any]:
    """Public functions that take no tensors, or that no type can override."""
    functions = [getattr(taeda, name, None) for name in _NEVER]
    functions += [getattr(Tensor, name, None) for name in _NEVER_METHODS]
    return frozenset(f for f in functions if f is not None and _hashable(f))


def _hashable(value: Any) -> bool:
    return type(value).__hash__ is not None


@functools.cache
def _overridable() -> tuple[dict[Any, list[Function]], dict[Function, str]]:
    """Functions by the namespace that holds them, and the name of each."""
    by_place: dict[Any, list[Function]] = {}
    names: dict[Function, str] = {}
    ignored = get_ignored_functions()
    for place, prefix in _places():
        for name in sorted(vars(place)):
            found = _overridable_at(place, name)
            if found is None or found in ignored:
                continue
            by_place.setdefault(place, []).append(found)
            names.setdefault(found, f"{prefix}.{name}")
    for name, attribute in sorted(vars(Tensor).items()):
        if inspect.isgetsetdescriptor(attribute) or isinstance(attribute, property):
            getter = attribute.__get__
            by_place.setdefault(Tensor, []).append(getter)
            names[getter] = f"taeda.Tensor.{name}.__get__"
    return by_place, names


def _places() -> list[tuple[Any, str]]:
    found: list[tuple[Any, str]] = []
    for name in _MODULES:
        place = taeda
        for part in filter(None, name.split(".")):
            place = getattr(place, part, None)  # type: ignore[assignment]
        if place is not None:  # a package that is not installed has nothing to override
            found.append((place, f"taeda.{name}" if name else "taeda"))
    return [*found, (Tensor, "taeda.Tensor")]


def _overridable_at(place: Any, name: str) -> Function | None:
    if place is Tensor:
        if name in _NEVER_METHODS or (name.startswith("_") and not name.startswith("__")):
            return None
        value = getattr(place, name)
        return value if inspect.isroutine(value) and _hashable(value) else None
    if name.startswith("_") or name in _NEVER:
        return None
    value = vars(place)[name]
    if not inspect.isroutine(value):
        return None
    module = getattr(value, "__module__", None) or "taeda"
    return value if module.split(".")[0] == "taeda" else None


def get_overridable_functions() -> dict[Any, list[Function]]:
    """The functions that `__torch_function__` can override, by the module or class they are in."""
    return {place: list(functions) for place, functions in _overridable()[0].items()}


def resolve_name(f: Function) -> str | None:
    """The name under which users reach a function that was passed to `__torch_function__`."""
    if isinstance(f, str):
        return f
    return _overridable()[1].get(f)


@functools.cache
def _methods_and_properties() -> frozenset[Any]:
    return frozenset(_overridable()[0].get(Tensor, ()))


def is_tensor_method_or_property(func: Function) -> bool:
    """Whether `func`, as passed to `__torch_function__`, is a method or property of Tensor."""
    return func in _methods_and_properties() or getattr(func, "__name__", None) == "__get__"


def get_testing_overrides() -> dict[Function, Function]:
    """For every overridable function a function of the same parameters that returns -1."""
    return {f: _answer(_parameters(f)) for f in _overridable()[1]}


def _parameters(function: Function) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError:  # a C function that states no signature
        anything = inspect.Parameter
        return inspect.Signature(
            [
                anything("args", anything.VAR_POSITIONAL),
                anything("kwargs", anything.VAR_KEYWORD),
            ]
        )


def _answer(signature: inspect.Signature) -> Function:
    def answer(*args: Any, **kwargs: Any) -> int:
        signature.bind(*args, **kwargs)
        return -1

    answer.__signature__ = signature  # type: ignore[attr-defined]
    return answer
