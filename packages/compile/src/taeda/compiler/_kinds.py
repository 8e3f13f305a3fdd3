"""What objects are to a capture: values, tensors, containers, things that have attributes; and
which code is known.

"Known" code is that of the library whose effects on Python objects the capture models itself, and a
few modules of the standard library that keep no state. Whatever is not listed is unknown, and
unknown means that a program stays as it is.
"""

from __future__ import annotations

import builtins
import collections
import enum
import functools
import itertools
import math
import operator
import struct
import types
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import programs as _core

__all__ = [
    "CONTAINERS",
    "PURE_BUILTINS",
    "PURE_TYPES",
    "READERS",
    "WRITTEN",
    "is_immutable",
    "is_known_code",
    "is_library",
    "is_operation",
    "is_optimizer_type",
    "is_plain_instance",
    "is_plain_tensor",
    "is_tensor_method",
    "numeral",
    "static",
]

_VALUES: tuple[type, ...] = (
    type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented), slice, range,
    taeda.dtype, taeda.device, taeda.layout, taeda.memory_format, taeda.Size,
)  # fmt: skip
CONTAINERS: tuple[type, ...] = (
    list,
    dict,
    set,
    collections.deque,
    collections.OrderedDict,
    collections.defaultdict,
)
_TENSORS = frozenset[type]((Tensor, nn.Parameter, nn.Buffer))


def is_immutable(value: Any) -> bool:
    """Whether equality of type and value says all there is to it."""
    kind = type(value)
    return kind in _VALUES or isinstance(value, enum.Enum)


def numeral(value: float | complex) -> Any:
    """What tells a number from others: 0.0 is not -0.0, and a NaN has a sign and bits of its own."""
    if value == value:
        return repr(value)
    parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
    return struct.pack(f"{len(parts)}d", *parts)


def is_plain_tensor(value: Any) -> bool:
    """A tensor or a parameter, not of somebody's subclass."""
    return type(value) in _TENSORS


WRITTEN = 1 << 9  # the flag of classes that were made at run time: their attributes can be set


def is_plain_instance(value: Any) -> bool:
    """Whether its class is written in Python on nothing but `object`: all of its state is in attributes."""
    if not all(map(_is_written_in_python, type(value).__mro__[:-1])):
        return False
    return hasattr(value, "__dict__") or "__slots__" in type(value).__dict__


def _is_written_in_python(kind: type) -> bool:
    """Whether a class statement made it. A class in C has functions in C of its own, and its objects
    hold what no attribute shows.
    """
    own = kind.__dict__
    if not kind.__flags__ & WRITTEN or "__module__" not in own:
        return False
    in_c = (
        types.MethodDescriptorType | types.WrapperDescriptorType | types.ClassMethodDescriptorType
    )
    return not isinstance(own.get("__new__"), types.BuiltinFunctionType) and not any(
        isinstance(found, in_c) and found.__objclass__ is kind for found in own.values()
    )


def is_optimizer_type(kind: type) -> bool:
    """Whether its objects are optimizers. No generator, whose end may lose an interrupt: recorded
    runs ask this often.
    """
    for base in kind.__mro__:
        if base.__module__ == "taeda.optim.optimizer" and base.__name__ == "Optimizer":
            return True
    return False


def is_record(kind: type) -> bool:
    """Whether it is a dataclass, and all state of its objects is in their `__dict__`."""
    own = kind.__dict__
    return (
        "__dataclass_fields__" in own
        and type(kind) is type
        and getattr(kind, "__new__", None) is object.__new__
        and own.keys().isdisjoint(("__slots__", "__del__"))
        and all(base is object or is_record(base) for base in kind.__bases__)
    )


def is_named_tuple(kind: type) -> bool:
    """Whether its objects are tuples whose entries have names, and hold nothing else."""
    return (
        kind.__bases__ == (tuple,)
        and type(kind) is type
        and kind.__dictoffset__ == 0
        and isinstance(getattr(kind, "_fields", None), tuple)
        and getattr(kind, "__iter__", None) is tuple.__iter__
    )


# ---- code ----

#: parts of the library whose functions change nothing but tensors, or what `Observer` models
_LIBRARY = (
    "taeda._composite", "taeda._dynamo", "taeda._higher_order_ops._checks",
    "taeda._higher_order_ops._recorded", "taeda._layers", "taeda._torch_names.as_torch",
    "taeda._torch_names.symbolic",
    "taeda._library", "taeda._numpy", "taeda._parts", "taeda._short_floats", "taeda._tensor",
    "taeda._warnings", "taeda.amp.autocast_mode", "taeda.autograd", "taeda.compiler", "taeda.fft",
    "taeda.func", "taeda.functional",
    "taeda.linalg", "taeda.nn.functional", "taeda.nn.modules", "taeda.nn.parameter",
    "taeda.nn.utils._norms", "taeda.nn.utils.clip_grad", "taeda.nn.utils.stateless", "taeda.ops",
    "taeda.overrides", "taeda.special", "taeda.utils._python_dispatch", "taeda.utils._pytree",
    "taeda.utils.checkpoint._region", "taeda.utils.checkpoint._surroundings",
    "torch.nn.parameter",  # ours, under torch's name
)  # fmt: skip
#: parts of those that do more: they read numbers, files, or settings of their own
_NO_LIBRARY = frozenset(
    {"taeda._composite._eigen_block", "taeda._parts.advice", "taeda._tensor.notebook",
        "taeda._tensor.printing"}
)  # fmt: skip
_OPTIMIZERS = "taeda.optim."
_NO_OPTIMIZERS = ("taeda.optim.lr_scheduler", "taeda.optim.swa_utils", "taeda.optim.lbfgs")
#: parts of the standard library that keep no state, or of which these parts keep none
_STATELESS = frozenset(
    {"abc", "_collections_abc", "collections", "collections.abc", "enum", "types", "operator",
     "numbers", "dataclasses", "math", "reprlib", "importlib", "importlib._bootstrap",
     "importlib._bootstrap_external"}
)  # fmt: skip
_STATELESS_PARTS = {
    "functools": (
        "update_wrapper", "wraps", "total_ordering", "_gt_from", "_ge_from", "_lt_from", "_le_from",
        "partialmethod", "cached_property", "cmp_to_key", "reduce",
    ),
    "inspect": ("is",),
    "taeda.jit": ("is_scripting",),
    "taeda.utils.checkpoint._settings": ("noop_context_fn", "debugs", "stops_early"),
    "contextlib": (
        "contextmanager", "_GeneratorContextManager", "ContextDecorator", "AbstractContextManager",
        "nullcontext", "suppress", "closing", "ExitStack", "_BaseExitStack",
    ),
    "typing": ("cast", "_tp_cache", "_GenericAlias", "_BaseGenericAlias", "_SpecialGenericAlias",
        "_SpecialForm", "Generic", "NamedTuple", "_type_check", "_caller", "TypeVar", "Optional",
        "Union", "_UnionGenericAlias", "_collect_parameters", "_remove_dups_flatten", "_flatten",
        "_deduplicate", "_type_convert", "_is_param_expr", "_should_unflatten"),
}  # fmt: skip
#: functions of the parts above that do more than that
_DENIED = frozenset(
    {
        "register_hook", "register_post_accumulate_grad_hook", "retain_grad", "share_memory_", "pin_memory",
        "load_state_dict", "register_forward_hook", "register_forward_pre_hook", "add_param_group",
        "__setstate__",
        "train", "to", "apply", "_apply", "register_buffer", "register_parameter", "add_module",
        "set_default_dtype",
    }
)  # fmt: skip


@functools.lru_cache(maxsize=4096)
def is_library(module: str) -> bool:
    """Whether a module of this name is part of what is modelled."""
    if module in _NO_LIBRARY:
        return False
    if module.startswith(_OPTIMIZERS):
        return not module.startswith(_NO_OPTIMIZERS)
    return any(module == part or module.startswith(part + ".") for part in _LIBRARY)


def is_known_code(code: types.CodeType, module: str) -> bool:
    """Whether a function may run although nobody saw what it reads."""
    if module == "taeda.optim.lr_scheduler._base":
        return code.co_qualname.startswith("_note_steps.")  # what a schedule puts before the step
    if is_library(module):
        return not (code.co_name in _DENIED and module.startswith("taeda.nn.modules"))
    if module in _STATELESS_PARTS:
        return code.co_qualname.startswith(_STATELESS_PARTS[module])
    return module in _STATELESS or module.startswith("namedtuple_")


def static(kind: type, name: str) -> Any:
    """What a type has under a name, as it lies in the type."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


# ---- functions in C ----

PURE_TYPES: frozenset[Any] = frozenset(
    {list, tuple, dict, set, frozenset, int, float, bool, str, complex, bytes, range, slice, zip,
     enumerate, map, filter, reversed,
     object, type, super, itertools.chain, itertools.product, itertools.repeat, itertools.islice,
     itertools.accumulate,
     itertools.zip_longest, itertools.permutations, itertools.combinations, itertools.starmap,
     itertools.pairwise,
     collections.OrderedDict, collections.defaultdict, collections.deque, taeda.Size, taeda.device,
     functools.partial}
)  # fmt: skip
_NAMES = (
    "abs all any bin bool chr divmod format hex iter len max min next oct ord pow repr round "
    "sorted sum"
).split()
#: functions of `operator` that only compute
_OPERATORS = (
    "lt le eq ne ge gt not_ truth abs add and_ floordiv index inv invert lshift mod mul matmul neg "
    "or_ pos pow rshift sub truediv xor concat contains countOf indexOf length_hint"
).split()
PURE_BUILTINS: frozenset[int] = frozenset(
    {id(getattr(builtins, name)) for name in _NAMES}
    | {id(f) for f in vars(math).values() if callable(f)}
    | {id(getattr(operator, name)) for name in _OPERATORS}
    | {id(functools.reduce)}
    | {id(getattr(_core, name)) for name in ("is_grad_enabled", "is_inference_mode_enabled",
        "get_default_dtype", "get_num_threads")}
)  # fmt: skip

#: methods in C of containers that only read them
READERS = frozenset(
    {"get", "keys", "values", "items", "copy", "count", "index", "union", "intersection",
     "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint", "__contains__",
     "__getitem__", "__len__", "__iter__", "__reversed__", "__bool__", "__eq__", "__ne__", "__lt__",
     "__le__", "__gt__", "__ge__", "__or__", "__ror__", "__and__", "__rand__", "__sub__", "__rsub__",
     "__xor__", "__rxor__", "__add__", "__mul__", "__rmul__", "__repr__", "__str__", "__format__"}
)  # fmt: skip

_operations = {id(f) for table in _core.functions.values() for f in table.values()}


def is_operation(function: Any) -> bool:
    """Whether this is a function of the op table."""
    return id(function) in _operations or isinstance(function, _core.Operator)


#: methods of tensors that are no rows of the table: they call some, or ask for facts of shapes,
#: strides and dtypes, which the key of a call says
_TENSOR_METHODS = frozenset(
    "new new_empty new_empty_strided new_zeros new_ones new_full new_tensor copy_ fill_diagonal_ "
    "polygamma_ uniform_ normal_ log_normal_ exponential_ cauchy_ geometric_ random_ bernoulli_ "
    "sum_to_size view view_as reshape_as expand expand_as transpose_ swapaxes_ swapdims_ t_ "
    "squeeze_ unsqueeze_ unfold contiguous repeat size stride dim ndimension numel nelement "
    "element_size is_contiguous item tolist is_floating_point is_complex is_signed is_conj is_neg "
    "is_inference get_device requires_grad_ "
    "float double half bfloat16 long int short char byte bool cfloat cdouble chalf to cpu cuda xpu "
    "type_as type to_device numpy dim_order dense_dim sparse_dim to_dense detach_ is_nonzero "
    "is_same_size is_distributed as_subclass backward unique unique_consecutive resize_as_ "
    "apply_ map_ map2_ __repr__ __format__ __iter__ __contains__ __complex__ __reversed__ __rdiv__ "
    "__deepcopy__ __class__ __doc__ __module__".split()
)


@functools.cache
def is_tensor_method(name: str) -> bool:
    """Whether it is an operation, or asks for what a graph knows."""
    found = static(Tensor, name)
    if isinstance(found, types.WrapperDescriptorType) or name in _TENSOR_METHODS:
        return True
    return name in _methods and isinstance(found, types.MethodDescriptorType | types.FunctionType)


_methods = {name for table in _core.functions.values() for name in table}
