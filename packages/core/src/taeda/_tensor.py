"""Methods of Tensor that are written in Python; they are set on the C type itself."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from ._legacy_types import construct, tensor_type
from ._native import core as _core

Tensor = _core.Tensor
__all__: list[str] = []


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of this file a method of Tensor, under its own name without leading "tensor"."""
    setattr(Tensor, function.__name__, function)
    return function


# ---- printing and formatting ----


@_method
def __repr__(self: Tensor, *, tensor_contents: Any = None) -> str:
    from ._printing import tensor_repr

    return tensor_repr(self)


@_method
def __format__(self: Tensor, spec: str) -> str:
    if self.dim() == 0 and self.device.type != "meta" and type(self) is Tensor:
        return self.item().__format__(spec)
    return object.__format__(self, spec) if spec else repr(self)


# ---- protocol methods ----


@_method
def __iter__(self: Tensor) -> Iterator[Tensor]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@_method
def __contains__(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, int, float, complex)):
        return bool((self == element).any())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


@_method
def __complex__(self: Tensor) -> complex:
    return complex(self.item())


@_method
def __reversed__(self: Tensor) -> Tensor:
    return self.flip(0) if self.dim() else self


@_method
def __dir__(self: Tensor) -> list[str]:
    return sorted({*dir(type(self)), *self.__dict__})


@_method
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """What numpy asks for: an array on this memory, or a copy. ValueError if `copy` is False and one is needed."""
    array = self.numpy()
    if dtype is None or array.dtype == dtype:
        return array.copy() if copy else array
    if copy is False:
        raise ValueError(
            f"__array__: dtype {dtype} of a {self.dtype} tensor needs a copy, and copy=False forbids it"
        )
    return array.astype(dtype)


@_method
def __array_wrap__(
    self: Tensor, array: Any, context: Any = None, return_scalar: bool = False
) -> Any:
    from ._creation import from_numpy

    return from_numpy(array.copy() if not array.flags.writeable else array)


Tensor.__array_priority__ = 1000  # numpy lets the tensor's own operators answer


@_method
def __deepcopy__(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "Use detach().clone() for a computed tensor."
        )
    if id(self) in memo:
        return memo[id(self)]
    with _no_grad():
        made = _copy_storage(self, memo)
    if type(self) is not Tensor:
        made = Tensor._make_subclass(type(self), made)
    made.requires_grad_(self.requires_grad)
    if self.grad is not None:
        made.grad = copy.deepcopy(self.grad, memo)
    made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    memo[id(self)] = made
    return made


def _copy_storage(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    """A copy with the same place in a copied storage, so that tensors that share one still do."""
    if self.device.type == "meta":
        return self.detach().clone()
    key = ("storage", _core.storage_address(self))
    if key not in memo:
        memo[key] = _core.storage_bytes(self.detach()).clone()
    if self.is_conj() or self.is_neg():
        return self.detach().clone()
    return _core.on_storage(
        memo[key], self.dtype, tuple(self.shape), tuple(self.stride()), self.storage_offset()
    )


@_method
def __reduce_ex__(self: Tensor, protocol: Any) -> Any:
    from ._pickling import describe

    with _no_grad():
        return describe(self)


class _no_grad:
    """Grad mode off for a with block; the public one lives in taeda.autograd, above core."""

    def __enter__(self) -> None:
        self.before = _core._set_grad_enabled(False)

    def __exit__(self, *unused: object) -> None:
        _core._set_grad_enabled(self.before)


# ---- numpy ----


@_method
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """The same memory as a numpy array.

    RuntimeError if the tensor requires grad or has a conj or neg bit (force=True detaches and copies then);
    TypeError for meta tensors. bfloat16 and float8 arrays carry the dtypes of ml_dtypes.
    """
    array = None if force else _core.to_array(self)
    return _numpy_of_unusual(self, force) if array is None else array


def _numpy_of_unusual(self: Tensor, force: bool) -> Any:
    import numpy as np

    if force:
        return self.detach().cpu().resolve_conj().resolve_neg().numpy()
    if self.requires_grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if self.is_conj():
        raise RuntimeError(
            "Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead."
        )
    if self.is_neg():
        raise RuntimeError(
            "Can't call numpy() on Tensor that has negative bit set. Use tensor.resolve_neg().numpy() instead."
        )
    if self.device.type != "cpu":
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    name = str(self.dtype).removeprefix("taeda.")
    if name.startswith(("bfloat", "float8")):
        import ml_dtypes

        plain = self.view(_core.uint8 if self.itemsize == 1 else _core.int16)
        return np.asarray(memoryview(plain)).view(getattr(ml_dtypes, name))
    if name in ("complex32",) or name.startswith("q"):
        raise TypeError(f"Got unsupported ScalarType {name}: numpy has no such dtype")
    return np.asarray(memoryview(self))


# ---- conversions ----

_CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "long": "int64", "int": "int32",
    "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "complex64", "cdouble": "complex128",
    "chalf": "complex32",
}  # fmt: skip


def _cast_method(name: str, dtype: Any) -> Callable[..., Any]:
    def cast(self: Tensor, memory_format: Any = _core.preserve_format) -> Tensor:
        return self.to(dtype, memory_format=memory_format)

    cast.__name__, cast.__qualname__ = name, f"Tensor.{name}"
    cast.__doc__ = f"The tensor in {dtype}; itself if it has that dtype already."
    return cast


for _name, _kind in _CASTS.items():
    setattr(Tensor, _name, _cast_method(_name, getattr(_core, _kind)))


_PYTHON_TYPES: tuple[Any, ...] = (float, int, bool, complex)


def _parse_to(
    args: tuple[Any, ...], dtype: Any, device: Any, other: Any
) -> tuple[Any, Any, list[Any]]:
    """(dtype, device, further positional arguments) of the forms to(dtype), to(device, dtype), to(other)."""
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
    if other is not None:
        return other.dtype, other.device, rest
    if rest and (isinstance(rest[0], _core.dtype) or rest[0] in _PYTHON_TYPES):
        dtype = rest.pop(0)
    elif rest and (
        isinstance(rest[0], (str, _core.device))
        or rest[0] is None
        or (isinstance(rest[0], int) and not isinstance(rest[0], bool))
    ):
        device = rest.pop(0)
        if rest and (isinstance(rest[0], _core.dtype) or rest[0] is None):
            dtype = rest.pop(0)
    elif rest:
        raise TypeError(f"to(): wanted a dtype, a device or a tensor, got {type(rest[0]).__name__}")
    return dtype, device, rest


@_method
def to(
    self: Tensor, *args: Any, dtype: Any = None, device: Any = None, other: Any = None, non_blocking: bool = False,
    copy: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """The tensor with another dtype or on another device; itself if nothing changes and copy is False.

    Forms: to(dtype), to(device, dtype=None), to(other). Differentiable across floating-point dtypes.
    """
    dtype, device, rest = _parse_to(args, dtype, device, other)
    if len(rest) > 1:  # to(..., non_blocking, copy); a copy between cpu tensors never waits
        copy = rest[1]
    if device is not None and not isinstance(device, _core.device):
        device = _core.device(device)
    same_dtype = dtype is None or dtype is self.dtype
    same_device = device is None or device.type == self.device.type
    same_format = memory_format in (None, _core.preserve_format) or self.is_contiguous(
        memory_format=memory_format
    )
    if same_dtype and same_device and same_format and not copy:
        return self
    return _core.functions[""]["_to_copy"](
        self, dtype=dtype, device=device, memory_format=memory_format
    )


@_method
def cpu(self: Tensor, memory_format: Any = _core.preserve_format) -> Tensor:
    """The tensor on the cpu; itself if it is there already."""
    return self.to("cpu", memory_format=memory_format)


@_method
def cuda(
    self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None
) -> Tensor:
    """The tensor on a CUDA device; RuntimeError where there is none."""
    return self.to("cuda" if device is None else device)


@_method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of `other`."""
    return self.to(other.dtype)


setattr(Tensor, "type", tensor_type)  # noqa: B010 - the stub declares a method there


@_method
def new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """A tensor of this one's dtype: `x.new(2, 3)` has these sizes, `x.new([1, 2])` these values."""
    place = self.device if device is None else device
    return construct("new", self.dtype, args, place)


# ---- attributes that are views ----


def _set_property(name: str, get: Callable[[Tensor], Any], doc: str) -> None:
    """Add a property; `__torch_function__` of a subclass is asked with `Tensor.<name>.__get__`."""

    def read(self: Tensor) -> Any:
        return get(self) if type(self) is Tensor else asked(self)

    def asked(self: Tensor) -> Any:
        from . import _dispatch  # it needs Tensor complete

        if not _dispatch.has_overrides((self,)):
            return get(self)
        return _dispatch.dispatch_override(vars(Tensor)[name].__get__, (self,), {})

    setattr(Tensor, name, property(read, doc=doc))


def _set_view_properties() -> None:
    functions = {**_core.functions[""], **_core.functions.get("attribute", {})}
    for name, op, doc in (
        ("T", "numpy_T", "Dimensions reversed."), ("mT", "mT", "The last two dimensions exchanged."),
        ("H", "matrix_H", "Conjugate transpose of a matrix."), ("mH", "mH", "Conjugate transpose of the last two dimensions."),
        ("real", "real", "Real part, a view."), ("imag", "imag", "Imaginary part, a view."),
    ):  # fmt: skip
        if op in functions:
            _set_property(name, functions[op], doc)


_set_view_properties()


_ABSENT = (
    *("is_cuda", "is_sparse", "is_sparse_csr", "is_quantized", "is_mkldnn", "is_mps", "is_xpu"),
    *("is_nested", "is_ipu", "is_xla", "is_mtia", "is_maia", "is_vulkan"),
)
_PROPERTIES: dict[str, tuple[Callable[[Tensor], Any], str]] = {
    "is_cpu": (lambda self: self.device.type == "cpu", "True if the memory is on the cpu."),
    "is_meta": (lambda self: self.device.type == "meta", "True for a tensor without memory."),
    "name": (lambda self: None, "None: tensors have no names."),
    "volatile": (lambda self: False, "False; kept for old programs."),
    **dict.fromkeys(_ABSENT, (lambda self: False, "False: no such tensors in this build.")),
}
for _name, (_get, _doc) in _PROPERTIES.items():
    _set_property(_name, _get, _doc)


# ---- in-place changes of geometry ----


@_method
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Other sizes in place: grows the storage, never shrinks it, keeps the elements in storage order."""
    flat = tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    return self._resize(tuple(flat))


@_method
def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """The sizes of `other`, in place."""
    return self._resize(tuple(other.shape))


@_method
def __rdiv__(self: Tensor, other: Any) -> Tensor:
    return self.reciprocal() * other


@_method
def lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """(LU, pivots), with `get_infos` also which pivot is zero."""
    from .functional import lu as factors

    return factors(self, pivot, get_infos)


@_method
def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The tensor where the condition holds, else `other`."""
    return _core.functions[""]["where"](condition, self, other)


@_method
def detach_(self: Tensor) -> Tensor:
    """Leave the graph, in place; RuntimeError for views, whose history belongs to their base."""
    if self._is_view():
        raise RuntimeError("Can't detach views in-place. Use detach() instead.")
    made = self.detach()
    made.__dict__.update(self.__dict__)
    self._swap(made)
    return self


@_method
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
    """A new leaf with a copy of `data`, in this tensor's dtype and device unless given."""
    from ._creation import _placed, _read

    made = _read(data, dtype or self.dtype).detach()
    placed = _placed(made, dtype or self.dtype, device or self.device)
    return (placed.clone() if placed is made else placed).requires_grad_(requires_grad)


@_method
def as_subclass(self: Tensor, cls: Any) -> Any:
    """An object of the subclass `cls` on the same memory, with the same history."""
    return Tensor._make_subclass(cls, self) if not self.requires_grad else _with_history(cls, self)


def _with_history(cls: Any, source: Tensor) -> Any:
    made = Tensor._make_subclass(cls, source.detach())
    view = _core.functions[""]["alias"](source)
    node, number = _core.gradient_edge(view)
    if node is not None:
        _core.set_history(node, number, made)
    return made


@_method
def apply_(self: Tensor, function: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what `function` returns for it; slow, for the cpu."""
    return self.copy_(_like(self, [function(v) for v in self.detach().reshape(-1).tolist()]))


@_method
def map_(self: Tensor, other: Tensor, function: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by `function(own, other's)`; slow, for the cpu."""
    pairs = zip(
        self.detach().reshape(-1).tolist(),
        other.detach().expand_as(self).reshape(-1).tolist(),
        strict=True,
    )
    return self.copy_(_like(self, [function(a, b) for a, b in pairs]))


def _like(self: Tensor, values: list[Any]) -> Tensor:
    return self.new_tensor(values).reshape(self.shape)


@_method
def __setstate__(self: Tensor, state: Any) -> None:
    raise RuntimeError("tensors are rebuilt by their constructor, not by __setstate__")


# ---- what autograd adds lives in taeda.autograd; here only the way there ----


def _autograd_method(name: str, target: str) -> None:
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        from taeda.autograd import _tensor_methods  # upward: its absence is explained

        return getattr(_tensor_methods, target)(self, *args, **kwargs)

    call.__name__, call.__qualname__ = name, f"Tensor.{name}"
    call.__doc__ = f"See taeda.autograd._tensor_methods.{target}."
    setattr(Tensor, name, call)


for _name in ("backward", "retain_grad", "register_hook", "register_post_accumulate_grad_hook"):
    _autograd_method(_name, _name)


@classmethod  # type: ignore[misc]  # set on the type below
def _torch_function(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The default: run the function on plain tensors, and give results the subclass."""
    from ._dispatch import default_torch_function

    return default_torch_function(cls, func, types, args, kwargs or {})


setattr(Tensor, "__torch_function__", _torch_function)  # noqa: B010 - a method for mypy
Tensor.__module__ = "taeda"


# ---- storage ----


@_method
def untyped_storage(self: Tensor) -> Any:
    """The bytes that this tensor views."""
    from .storage import UntypedStorage

    return UntypedStorage._of(self)


@_method
def storage(self: Tensor) -> Any:
    """The storage seen as elements of this tensor's dtype."""
    from .storage import TypedStorage

    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)


@_method
def set_(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:
    """Become a view of another tensor's storage, or of a storage with the given geometry."""
    if source is None:
        view = _core.functions[""]["empty"](0, dtype=self.dtype)
    elif isinstance(source, Tensor) and size is None:
        view = source.detach()
    else:
        base = (
            source
            if isinstance(source, Tensor)
            else getattr(source, "_untyped_storage", source)._bytes
        )
        count = (base.numel() * base.element_size() // self.dtype.itemsize - storage_offset,)
        sizes = count if size is None else tuple(size)
        view = _core.on_storage(
            base,
            self.dtype,
            sizes,
            tuple(stride) if stride is not None else _row_major(sizes),
            storage_offset,
        )
    if view.dtype is not self.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {view.dtype} to a tensor of type {self.dtype}"
        )
    return self._set(source if isinstance(source, Tensor) else view, view)


def _row_major(sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


@_method
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost."""
    return tuple(sorted(range(self.dim()), key=lambda d: -self.stride(d)))


@_method
def is_shared(self: Tensor) -> bool:
    """Whether other processes can see the memory: moved by `share_memory_`, or mapped from a file to be shared."""
    facts = _core.segment_facts(self)
    return facts is not None and facts[0]


@_method
def share_memory_(self: Tensor) -> Tensor:
    """Move the memory to where other processes can see it; views move along, `.grad` stays. Returns the tensor.

    No change if it is shared already. RuntimeError if shared memory or file descriptors are out. A numpy array made
    from the tensor before keeps the old memory, and no longer sees writes.
    """
    from ._sharing import share

    share(self)
    return self


@_method
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the memory is page-locked for an accelerator: False, there is none."""
    return False


@_method
def __dlpack__(
    self: Tensor,
    *,
    stream: int | None = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule on this memory, of version 1 if `max_version` allows it; see `taeda.utils.dlpack`."""
    from .utils.dlpack import export

    return export(self, stream, max_version, dl_device, copy)


@_method
def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Where the memory lies, in DLPack's numbers: (1, 0), the cpu. ValueError for a meta tensor, which has none."""
    from .utils.dlpack import device_of

    return device_of(self)


# ---- functions with one result or several ----


def _functional_method(name: str) -> None:
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        from . import functional

        return getattr(functional, name)(self, *args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"See `taeda.{name}`."
    setattr(Tensor, name, call)


_functional_method("unique")
_functional_method("unique_consecutive")
