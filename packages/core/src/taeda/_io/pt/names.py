"""The names that torch writes into its files, and what of ours stands for each.

`KNOWN` is the whole of what a file can ask for. Its keys are "module name" as in the pickle, its
values a `Known` (a function of ours), a `StorageType` or a dtype.
"""

from __future__ import annotations

from argparse import Namespace
from types import SimpleNamespace
from typing import Any, NoReturn

import taeda

from ..._tensor import qschemes
from ..storages import UNINITIALIZED
from . import arrays, plain, rebuild
from .context import Context, Known, StorageType
from .errors import RefusedPickle

__all__ = ["KNOWN", "QUANTIZED", "STORAGE_OF", "find", "present"]


def find(module: str, name: str) -> Any:
    """What stands for a name; None if it is not known."""
    return KNOWN.get(f"{present(module)} {name}")


def present(module: str) -> str:
    """What a module is called today."""
    return _MODULES.get(module, module)


#: modules that have had another name
_MODULES = {
    "__builtin__": "builtins",
    "torch.tensor": "torch._tensor",
    "torch.nn": "torch.nn.parameter",
    "torch.cuda": "torch",
    "torch.storage": "torch",
    "pathlib._local": "pathlib",
    "numpy.core.multiarray": "numpy._core.multiarray",
    "numpy.core.numeric": "numpy._core.numeric",
}

_STORAGES = {
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexDouble": "complex128",
    "ComplexFloat": "complex64",
}
#: by dtype what torch calls its storage
QUANTIZED = {"quint8": "QUInt8", "qint8": "QInt8", "qint32": "QInt32", "quint4x2": "QUInt4x2",
             "quint2x4": "QUInt2x4"}  # fmt: skip
#: how numbers are scaled
SCHEMES = [name for name in qschemes.__all__ if name != "qscheme"]
_DTYPES = """quint8 qint8 qint32 quint4x2 quint2x4
bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 complex32
complex64 complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"""


def _only_named(arguments: tuple[Any, ...], context: Context) -> NoReturn:
    raise RefusedPickle("a type is called that can only be named")


def _refuse(what: str) -> Any:
    def make(arguments: tuple[Any, ...], context: Context) -> NoReturn:
        raise RefusedPickle(f"the file holds {what}")

    return make


_MAKERS = {
    **dict.fromkeys(plain.FACTORIES, _only_named),
    "builtins set": plain.set_of(set),
    "builtins frozenset": plain.set_of(frozenset),
    "builtins complex": plain.complex_,
    "builtins bytes": plain.no_bytes,
    "builtins bytearray": plain.bytearray_,
    "_codecs encode": plain.bytes_of_text,
    "collections OrderedDict": plain.ordered_dict,
    "collections Counter": plain.counter,
    "collections defaultdict": plain.default_dict,
    "collections deque": plain.deque_,
    "builtins range": plain.range_,
    "builtins xrange": plain.range_,  # Python 2's
    "argparse Namespace": plain.namespace(Namespace),
    "types SimpleNamespace": plain.namespace(SimpleNamespace),
    **{f"pathlib {kind}Path": plain.path for kind in ("Posix", "Windows")},
    "torch Size": plain.size,
    "torch device": plain.device,
    "torch.serialization _get_layout": plain.layout,
    "torch Tensor": _only_named,
    **{f"torch {name}Tensor": _only_named for name in _STORAGES},
    "torch.nn.parameter Parameter": rebuild.parameter,
    **{f"torch.nn.parameter {name}": rebuild.uninitialized(name) for name in UNINITIALIZED},
    "torch._utils _rebuild_tensor": rebuild.tensor_v1,
    "torch._utils _rebuild_tensor_v2": rebuild.tensor_v2,
    "torch._utils _rebuild_tensor_v3": rebuild.tensor_v3,
    "torch._utils _rebuild_parameter": rebuild.parameter,
    "torch._utils _rebuild_parameter_with_state": rebuild.parameter_with_state,
    "torch._utils _rebuild_meta_tensor_no_storage": rebuild.meta_tensor,
    "torch._utils _rebuild_device_tensor_from_numpy": rebuild.device_tensor,
    "torch._utils _rebuild_device_tensor_from_cpu_tensor": rebuild.device_tensor,
    "torch._tensor _rebuild_from_type_v2": rebuild.from_type,
    "torch._utils _rebuild_sparse_tensor": rebuild.sparse,
    "torch.masked.maskedtensor.core MaskedTensor": rebuild.masked,
    "torch.nested nested_tensor_from_jagged": rebuild.jagged,
    "torch._utils _rebuild_qtensor": rebuild.quantized,
    "torch._utils _rebuild_nested_tensor": rebuild.nested,
    "torch.nested._internal.nested_tensor _rebuild_njt": rebuild.njt,
    "torch.nested._internal.nested_tensor NestedTensor": _only_named,
    "torch._dynamo.decorators _DimRange": plain.advice,
    "torch._utils _rebuild_wrapper_subclass": _refuse(
        "a tensor of a class of its own: convert it to a plain tensor and save that"
    ),
    "numpy dtype": arrays.dtype,
    "numpy ndarray": _only_named,
    "numpy._core.multiarray scalar": arrays.scalar,
    "numpy._core.multiarray _reconstruct": arrays.array,
    "numpy._core.numeric _frombuffer": arrays.array_of_bytes,
}

KNOWN: dict[str, Any] = {
    **{name: Known(name, make) for name, make in _MAKERS.items()},
    **{f"torch {name}": getattr(taeda, name) for name in _DTYPES.split()},
    **{
        f"torch {name}Storage": StorageType(f"{name}Storage", getattr(taeda, dtype))
        for name, dtype in _STORAGES.items()
    },
    **{
        f"torch {name}Storage": StorageType(f"{name}Storage", getattr(taeda, dtype))
        for dtype, name in QUANTIZED.items()
    },
    **{f"torch {name}": getattr(qschemes, name) for name in SCHEMES},
    "torch UntypedStorage": StorageType("UntypedStorage", None),
    "torch _UntypedStorage": StorageType("UntypedStorage", None),
}

#: what torch calls a storage of a dtype; others are stored as bytes
STORAGE_OF = {getattr(taeda, dtype): f"{name}Storage" for name, dtype in _STORAGES.items()}
