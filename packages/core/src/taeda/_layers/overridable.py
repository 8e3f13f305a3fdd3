"""Which functions `__torch_function__` can override, under which names, with which parameters."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor

from .._tensor.legacy_types import shown_name

__all__ = [
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "is_tensor_method_or_property",
    "resolve_name",
]

Function = Callable[..., Any]

# modules whose functions take tensors, by the name under which users reach them
_MODULES = ("", "nn.functional", "nn.init", "linalg", "fft", "special")
# of the modules that the root fetches names from at the first use, those whose functions take tensors
_ROOMS = (
    "functional", "_torch_names.tensor_facts", "_composite._eigen_block", "nn._top",
    "nn._top_recurrent", "sparse", "sparse._old_names", "quantization._public",
)  # fmt: skip
# names in them that take tensors but are never overridden: they make, save or describe tensors
_NEVER = frozenset(
    """
    tensor as_tensor asarray from_numpy frombuffer from_dlpack from_file zeros ones empty full eye
    arange range linspace logspace rand randn randint randperm empty_strided empty_permuted
    is_tensor is_storage save load manual_seed seed initial_seed get_rng_state set_rng_state no_grad
    enable_grad inference_mode set_grad_enabled is_grad_enabled set_printoptions set_default_dtype
    get_default_dtype set_default_device get_default_device set_num_threads get_num_threads
    result_type promote_types can_cast compile tril_indices triu_indices typename vmap
    broadcast_shapes scalar_tensor install_hint lazy_attributes extend_path
    is_inference_mode_enabled GradScaler autocast are_deterministic_algorithms_enabled
    get_deterministic_debug_mode get_float32_matmul_precision get_num_interop_threads
    is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled
    set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal
    get_file_path init_num_threads is_vulkan_available sparse_bsc_tensor sparse_bsr_tensor
    sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor
    bartlett_window blackman_window hamming_window hann_window kaiser_window fftfreq rfftfreq
    calculate_gain warn asks broadcast_shapes
    set_num_interop_threads set_warn_always use_deterministic_algorithms compiled_with_cxx11_abi
    get_device_module cond sym_float sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sum
    autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache
    get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled
    is_autocast_cpu_enabled is_autocast_enabled set_autocast_cache_enabled set_autocast_cpu_dtype
    set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
    """.split()
)
_NEVER_METHODS = frozenset(
    """__new__ __init__ __init_subclass__ __subclasshook__ __class__ __dict__ __weakref__ __doc__
    __module__ __getattribute__ __setattr__ __delattr__ __dir__ __sizeof__ __reduce__ __getstate__
    __torch_function__ __torch_dispatch__ __format__ as_subclass _make_subclass""".split()
)


@functools.cache
def get_default_nowrap_functions() -> frozenset[Any]:
    """Functions whose results stay what they are when a subclass calls them.

    >>> taeda.Tensor.grad.__get__ in taeda.overrides.get_default_nowrap_functions()
    True
    """
    names = ("_base", "grad", "_grad", "grad_fn")
    getters = (getattr(getattr(Tensor, name, None), "__get__", None) for name in names)
    return frozenset(getter for getter in getters if getter is not None)


@functools.cache
def get_ignored_functions() -> frozenset[Any]:
    """Public functions that take no tensors, or that no type can override.

    >>> taeda.is_tensor in taeda.overrides.get_ignored_functions()
    True
    """
    functions = [getattr(taeda, name, None) for name in _NEVER]
    functions += [getattr(Tensor, name, None) for name in _NEVER_METHODS]
    return frozenset(f for f in functions if f is not None and _hashable(f))


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:  # a method bound to what has no hash has none either
        return False
    return True


@functools.cache
def _overridable() -> tuple[dict[Any, list[Function]], dict[Function, str]]:
    """Functions by the namespace that holds them, and the name of each."""
    by_place: dict[Any, list[Function]] = {}
    names: dict[Function, str] = {}
    ignored = get_ignored_functions()
    for place, prefix in _places():
        for name, value in sorted(_entries(place).items()):
            found = _overridable_at(place, name, value)
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


def _entries(place: Any) -> dict[str, Any]:
    """What a place holds. Of the root what it fetches at the first use, too, which is left there."""
    found = {name: getattr(place, name, None) for name in vars(place)}  # None: known to be absent
    if place is taeda:
        rooms = {name: _room(name) for name in _ROOMS}
        later = {name: rooms.get(room) for name, room in vars(taeda)["_EXPORTS"].items()}
        found |= {name: getattr(room, name) for name, room in later.items() if room is not None}
    return found


def _room(name: str) -> Any:
    try:
        return importlib.import_module(f"taeda.{name}")
    except ModuleNotFoundError:  # its package is not installed
        return None


def _overridable_at(place: Any, name: str, value: Any) -> Function | None:
    if place is Tensor:
        if name in _NEVER_METHODS or (name.startswith("_") and not name.startswith("__")):
            return None
        return value if inspect.isroutine(value) and _hashable(value) else None
    if name.startswith("_") or name in _NEVER:
        return None
    if not inspect.isroutine(value):
        return None
    module = getattr(value, "__module__", None) or "taeda"
    return value if module.split(".")[0] == "taeda" else None


def get_overridable_functions() -> dict[Any, list[Function]]:
    """The functions that `__torch_function__` can override, by the module or class they are in.

    >>> taeda.add in taeda.overrides.get_overridable_functions()[taeda]
    True
    """
    return {place: list(functions) for place, functions in _overridable()[0].items()}


def resolve_name(f: Function) -> str | None:
    """The name under which users reach a function that was passed to `__torch_function__`.

    >>> taeda.overrides.resolve_name(taeda.nn.functional.relu)
    'taeda.nn.functional.relu'
    """
    if isinstance(f, str):
        return f
    name = _overridable()[1].get(f)
    return name and shown_name(name)


@functools.cache
def _methods_and_properties() -> frozenset[Any]:
    return frozenset(_overridable()[0].get(Tensor, ()))


def is_tensor_method_or_property(func: Function) -> bool:
    """Whether `func`, as passed to `__torch_function__`, is a method or property of Tensor.

    >>> taeda.overrides.is_tensor_method_or_property(taeda.Tensor.add)
    True
    """
    return func in _methods_and_properties() or getattr(func, "__name__", None) == "__get__"


# ---- parameters ----


def get_testing_overrides() -> dict[Function, Function]:
    """For every overridable function a function of the same parameters that returns -1.

    Reads the op table, which takes a moment the first time.

    >>> taeda.overrides.get_testing_overrides()[taeda.exp](taeda.ones(2))
    -1
    """
    return {f: _answer(_parameters(f, name)) for f, name in _overridable()[1].items()}


def _parameters(function: Function, name: str) -> inspect.Signature:
    place, _, name = name.removeprefix("taeda").lstrip(".").rpartition(".")
    if not hasattr(function, "__code__"):
        known = _signatures().get(("" if place == "Tensor" else place, name))
        if known is not None:
            return _of_method(known) if place == "Tensor" else known
    try:
        return inspect.signature(function)
    except ValueError:  # a C function that states none: slots and methods outside the table
        kinds = inspect.Parameter
        anything = [kinds("args", kinds.VAR_POSITIONAL), kinds("kwargs", kinds.VAR_KEYWORD)]
        return inspect.Signature(anything)


@functools.cache
def _signatures() -> dict[tuple[str, str], inspect.Signature]:
    """The first overload of every operation, by namespace and name."""
    from .._table._generate import rows

    found: dict[tuple[str, str], inspect.Signature] = {}
    for row in rows():
        signature = inspect.Signature([*_declared(row)])
        for name in (row.schema.name, *row.aliases):
            found.setdefault((row.namespace, name), signature)
            found.setdefault((row.namespace, f"{name}_"), signature)
    return found


def _declared(row: Any) -> Iterator[inspect.Parameter]:
    parameter, keyword_only = inspect.Parameter, False
    optional = False
    for argument in row.schema.arguments:
        keyword_only = keyword_only or argument.keyword_only
        optional = optional or argument.has_default
        default = argument.default if argument.has_default else parameter.empty
        if optional and not keyword_only and default is parameter.empty:
            default = None  # Python wants one after the first
        kind = parameter.KEYWORD_ONLY if keyword_only else parameter.POSITIONAL_OR_KEYWORD
        name = {"self": "input", "from": "from_"}.get(argument.name, argument.name)
        yield parameter(name, kind, default=default)
    if "out" in row.variants:
        yield parameter("out", parameter.KEYWORD_ONLY, default=None)


def _of_method(signature: inspect.Signature) -> inspect.Signature:
    parameters = [p for p in signature.parameters.values() if p.name != "out"]
    renamed = [p.replace(name="self") if p.name == "input" else p for p in parameters]
    return signature.replace(parameters=renamed)


def _answer(signature: inspect.Signature) -> Function:
    def answer(*args: Any, **kwargs: Any) -> int:
        signature.bind(*args, **kwargs)
        return -1

    answer.__signature__ = signature  # type: ignore[attr-defined]
    return answer
