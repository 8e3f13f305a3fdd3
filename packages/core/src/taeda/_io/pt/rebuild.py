"""Tensors and parameters, made of a storage and numbers in a pickle; each number is checked first."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core
from taeda.storage import TypedStorage, UntypedStorage

from ..._tensor.qschemes import qscheme
from ..layouts import LAYOUTS, from_facts
from .allowed import Allowed
from .context import Context, Known, want
from .errors import RefusedPickle
from .plain import counts
from .state import set_attributes

__all__ = [
    "device_tensor",
    "from_type",
    "jagged",
    "masked",
    "meta_tensor",
    "nested",
    "njt",
    "parameter",
    "parameter_with_state",
    "quantized",
    "sparse",
    "tensor_v1",
    "tensor_v2",
    "tensor_v3",
]

Arguments = tuple[Any, ...]
TENSOR = 600  # bytes, besides its elements
_MOST_DIMS = 64


def tensor_v1(arguments: Arguments, context: Context) -> Tensor:
    """(storage, offset, size, stride): before torch 0.4."""
    storage, offset, size, stride = want(
        arguments, (TypedStorage, int, (tuple, list), (tuple, list)), "a tensor"
    )
    return _on_storage(storage.untyped(), storage.dtype, offset, size, stride, context)


def tensor_v2(arguments: Arguments, context: Context) -> Tensor:
    """(storage, offset, size, stride, requires_grad, backward_hooks[, marks])."""
    if not arguments or not isinstance(arguments[0], TypedStorage):
        raise RefusedPickle("a tensor is made of a storage, offset, size, stride and more")
    made = tensor_v1(arguments[:4], context)
    return _with_marks(made, *_rest(arguments[4:]))


def tensor_v3(arguments: Arguments, context: Context) -> Tensor:
    """(untyped storage, offset, size, stride, requires_grad, backward_hooks, dtype[, marks])."""
    if len(arguments) not in (7, 8):
        raise RefusedPickle(f"a tensor is made of 7 or 8 values, got {len(arguments)}")
    kinds = (UntypedStorage, int, (tuple, list), (tuple, list), taeda.dtype)
    chosen = (*arguments[:4], arguments[6])
    storage, offset, size, stride, dtype = want(chosen, kinds, "a tensor")
    made = _on_storage(storage, dtype, offset, size, stride, context)
    return _with_marks(made, *_rest((*arguments[4:6], *arguments[7:])))


def sparse(arguments: Arguments, context: Context) -> Tensor:
    """(layout, (parts..., size[, is it coalesced?]))."""
    layout, data = want(arguments, (taeda.layout, tuple), "a sparse tensor")
    name = str(layout).rpartition(".")[2]
    count = LAYOUTS.get(name)
    coalesced = data[-1] if name == "sparse_coo" and len(data) == 4 else False
    data = data[:3] if name == "sparse_coo" else data
    if count is None or len(data) != count + 1 or not isinstance(data[-1], (tuple, list)):
        raise RefusedPickle(f"a tensor of layout {layout} is made of parts and a size")
    context.budget.spend(TENSOR)
    parts = [part.detach() if isinstance(part, Tensor) else part for part in data[:-1]]
    return _of_layout("sparse", name, parts, counts(data[-1], "a shape"), coalesced)


def masked(arguments: Arguments, context: Context) -> Tensor:
    """(data, mask, requires_grad)."""
    data, mask, requires_grad = want(arguments, (Tensor, Tensor, bool), "a masked tensor")
    context.budget.spend(TENSOR)
    made = _of_layout("masked", "masked", (data.detach(), mask.detach()), ())
    return _differentiable(made) if requires_grad else made


def jagged(arguments: Arguments, context: Context) -> Tensor:
    """(values, offsets, lengths or None, ragged dimension)."""
    if len(arguments) != 4:
        raise RefusedPickle(f"a nested tensor is made of 4 values, got {len(arguments)}")
    has = tuple(part for part in arguments[:3] if part is not None)
    parts = want(has, (Tensor,) * len(has), "a nested tensor")
    context.budget.spend(TENSOR)
    made = _of_layout("nested", "jagged", [part.detach() for part in parts], (arguments[3],))
    return made.requires_grad_(bool(parts and parts[0].requires_grad))


def njt(arguments: Arguments, context: Context) -> Tensor:
    """(the arguments of a nested tensor by their names,): how torch writes those that are jagged."""
    (given,) = want(arguments, (dict,), "a nested tensor")
    known = {"values", "offsets", "lengths", "_ragged_idx", "_metadata_cache", "requires_grad"}
    if not {"values", "offsets", "_ragged_idx"} <= given.keys() <= known:
        raise RefusedPickle("a nested tensor is made of values, offsets and the ragged dimension")
    facts = given["values"], given["offsets"], given.get("lengths"), given["_ragged_idx"]
    made = jagged(facts, context)
    return _differentiable(made) if given.get("requires_grad") is True else made


def nested(arguments: Arguments, context: Context) -> Tensor:
    """(buffer, sizes, strides, offsets): a batch of tensors that lie in one buffer, a row of sizes each."""
    buffer, *tables = want(arguments, (Tensor,) * 4, "a nested tensor")
    places = [table.tolist() for table in tables if table.dtype is taeda.int64]
    if [table.dim() for table in tables] != [2, 2, 1] or len(places) < 3 or buffer.dim() != 1:
        raise RefusedPickle("a nested tensor is made of a buffer and int64 tables of places in it")
    if len({len(rows) for rows in places}) > 1:
        raise RefusedPickle("a nested tensor has sizes, strides and an offset for each tensor")
    storage, first = buffer.untyped_storage(), buffer.storage_offset()
    pieces = [
        _on_storage(storage, buffer.dtype, first + offset, size, stride, context)
        for size, stride, offset in zip(*places, strict=True)
    ]
    made = _of_layout("nested", "nested", pieces, ())
    return _differentiable(made) if buffer.requires_grad else made


def quantized(arguments: Arguments, context: Context) -> Tensor:
    """(storage, offset, size, stride, (scheme, scale, zero point) or (scheme, scales, zero points, axis),
    requires_grad, backward_hooks).
    """
    chosen = arguments[:5]
    kinds = (TypedStorage, int, (tuple, list), (tuple, list), tuple)
    storage, offset, size, stride, scaled = want(chosen, kinds, "a quantized tensor")
    if len(arguments) != 7 or not scaled or not isinstance(scaled[0], qscheme):
        raise RefusedPickle("a quantized tensor is made of 7 values, one of them how it is scaled")
    word = str(storage.dtype).rpartition(".")[2]
    plain = {"quint8": taeda.uint8, "qint8": taeda.int8, "qint32": taeda.int32}.get(word)
    size, scheme = counts(size, "a shape"), str(scaled[0]).rpartition(".")[2]
    bits = {"quint4x2": 4, "quint2x4": 2}.get(word)
    if bits is not None:
        context.budget.spend(TENSOR)
        count = -(-math.prod(size) * bits // 8)
        integers = _on_storage(storage.untyped(), taeda.uint8, offset, (count,), (1,), context)
    elif plain is None:
        raise RefusedPickle(f"a quantized tensor does not lie on a storage of {storage.dtype}")
    else:
        integers = _on_storage(storage.untyped(), plain, offset, size, stride, context)
    parts = [integers, *(x.detach() for x in scaled[1:] if isinstance(x, Tensor))]
    facts = [word, scheme, *(x for x in scaled[1:] if not isinstance(x, Tensor)), *size]
    return _of_layout("quantized", "quantized", parts, facts)


def _of_layout(
    what: str, name: str, parts: Sequence[Tensor], numbers: Any, coalesced: bool = False
) -> Tensor:
    try:
        return from_facts(name, parts, numbers, coalesced)
    except MemoryError:  # a RuntimeError as well: memory is out, and the file is innocent
        raise
    except (RuntimeError, ValueError, OverflowError) as error:
        raise RefusedPickle(f"a {what} tensor cannot be: {error}") from None


def _rest(values: Arguments) -> tuple[bool, dict[str, bool]]:
    """requires_grad and marks, of (requires_grad, backward_hooks[, marks])."""
    if len(values) == 2:
        values = (*values, {})
    requires_grad, hooks, marks = values if len(values) == 3 else (None, None, None)
    if type(requires_grad) is not bool or not (hooks is None or isinstance(hooks, dict)):
        raise RefusedPickle("a tensor is made of a storage, offset, size, stride and more")
    if hooks:
        raise RefusedPickle("a tensor has backward hooks, which are code: save `tensor.detach()`")
    marks = marks or {}
    if not isinstance(marks, dict) or not marks.keys() <= {"conj", "neg"}:
        raise RefusedPickle("a tensor has marks other than conj and neg")
    return requires_grad, marks


def _on_storage(
    storage: UntypedStorage, dtype: Any, offset: int, size: Any, stride: Any, context: Context
) -> Tensor:
    size, stride = counts(size, "a shape"), counts(stride, "a stride")
    if len(size) != len(stride) or len(size) > _MOST_DIMS or type(offset) is not int or offset < 0:
        raise RefusedPickle(
            f"a shape of {len(size)} dimensions, {len(stride)} strides and the offset {offset} "
            f"make no tensor; {_MOST_DIMS} dimensions are the most"
        )
    context.budget.spend(TENSOR)
    base, item = storage._bytes, dtype.itemsize
    begin = base.storage_offset()
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    end = 0 if 0 in size else (last + 1) * item
    if end > base.numel() or begin % item or offset >= 1 << 62:
        raise RefusedPickle(
            f"a tensor of shape {size}, strides {stride} and offset {offset} reaches to byte {end} "
            f"of a storage of {base.numel()}"
        )
    try:
        if base.is_meta:
            return taeda.empty_strided(size, stride, dtype=dtype, device="meta")
        return _core.on_storage(base, dtype, size, stride, begin // item + offset)
    except MemoryError:  # a RuntimeError as well: memory is out, and the file is innocent
        raise
    except (RuntimeError, ValueError, OverflowError) as error:
        raise RefusedPickle(f"a tensor of shape {size} cannot be: {error}") from None


def _with_marks(made: Tensor, requires_grad: bool, marks: dict[str, bool]) -> Tensor:
    if marks.get("conj") and made.is_complex():
        made = made.conj()
    if marks.get("neg"):
        made = taeda._neg_view(made)
    return _differentiable(made) if requires_grad else made


def _differentiable(made: Tensor) -> Tensor:
    if not (made.is_floating_point() or made.is_complex()):
        raise RefusedPickle(f"a tensor of dtype {made.dtype} is said to require a gradient")
    return made.requires_grad_()


def parameter(arguments: Arguments, context: Context) -> Tensor:
    """(tensor[, requires_grad[, backward_hooks]])."""
    defaults = (None, True, None)
    data, requires_grad, hooks = want(
        (*arguments, *defaults[len(arguments) :]),
        (Tensor, bool, (OrderedDict, type(None))),
        "a Parameter",
    )
    if hooks:
        raise RefusedPickle("a parameter has backward hooks, which are code: save `state_dict()`")
    if requires_grad and not (data.is_floating_point() or data.is_complex()):
        raise RefusedPickle(f"a parameter of dtype {data.dtype} is said to require a gradient")
    context.budget.spend(TENSOR)
    return taeda.nn.Parameter(data.detach(), requires_grad)  # upward: a file with parameters


def uninitialized(name: str) -> Callable[[Arguments, Context], Tensor]:
    """(requires_grad[, device[, dtype[, persistent]]]): what a lazy module holds before its first call."""

    def made(arguments: Arguments, context: Context) -> Tensor:
        defaults = (True, None, None, True)
        kinds = (bool, (taeda.device, type(None)), (taeda.dtype, type(None)), bool)
        requires_grad, device, dtype, _ = want(
            (*arguments, *defaults[len(arguments) :]), kinds, f"an {name}"
        )
        context.budget.spend(TENSOR)
        dtype = dtype or taeda.float32
        if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
            raise RefusedPickle(f"an {name} of dtype {dtype} is said to require a gradient")
        kind = getattr(taeda.nn.parameter, name)  # upward: a file with the state of lazy modules
        return kind(requires_grad, device, dtype)

    return made


def parameter_with_state(arguments: Arguments, context: Context) -> Tensor:
    """(tensor, requires_grad, backward_hooks, attributes)."""
    made = parameter(arguments[:3], context)
    if len(arguments) != 4:
        raise RefusedPickle(
            f"a Parameter with attributes is made of 4 values, got {len(arguments)}"
        )
    return set_attributes(made, arguments[3])


def meta_tensor(arguments: Arguments, context: Context) -> Tensor:
    """(dtype, size, stride, requires_grad): a tensor that has no bytes."""
    kinds = (taeda.dtype, (tuple, list), (tuple, list), bool)
    dtype, size, stride, requires_grad = want(arguments, kinds, "a tensor without data")
    size, stride = counts(size, "a shape"), counts(stride, "a stride")
    if len(size) != len(stride) or len(size) > _MOST_DIMS:
        raise RefusedPickle(f"a shape of {len(size)} dimensions with {len(stride)} strides")
    context.budget.spend(TENSOR)
    try:
        made = taeda.empty_strided(size, stride, dtype=dtype, device="meta")
    except MemoryError:
        raise
    except (RuntimeError, ValueError, OverflowError) as error:
        raise RefusedPickle(f"a tensor of shape {size} cannot be: {error}") from None
    return _differentiable(made) if requires_grad else made


def device_tensor(arguments: Arguments, context: Context) -> Tensor:
    """(array or tensor, dtype, device, requires_grad): how devices without storages are saved."""
    data, dtype, device, requires_grad = want(
        arguments, (object, taeda.dtype, str, bool), "a tensor from a device"
    )
    if type(data).__name__ == "ndarray":
        data = taeda.from_numpy(data.copy())  # made by `arrays`, so of a plain dtype
    if not isinstance(data, Tensor):
        raise RefusedPickle("a tensor from a device is made of an array or a tensor")
    context.budget.spend(TENSOR + data.numel() * dtype.itemsize)
    made = data.detach().to(dtype)
    if context.place.is_meta(device):
        made = made.to("meta")
    return _differentiable(made) if requires_grad else made


def from_type(arguments: Arguments, context: Context) -> Tensor:
    """(maker, type, its arguments, attributes): a tensor that had attributes, a Buffer, or of an
    allowed class.
    """
    maker, kind, inner, state = want(arguments, (Known, Known, tuple, object), "a tensor")
    if (maker.name, kind.name) == _NJT:  # what it is given besides repeats what it is made of
        return maker.make(inner, context)
    if (maker.name, kind.name) == _MASKED:
        return _masked_by_type(inner, state, context)
    of_user = isinstance(kind, Allowed) and isinstance(kind.kind, type)
    fits = kind.name in _TENSOR_TYPES or (of_user and issubclass(kind.kind, Tensor))
    if maker.name not in _TENSOR_MAKERS or not fits:
        raise RefusedPickle(
            f"a tensor of the type {kind.name} is made by {maker.name}: save a plain tensor"
        )
    made = maker.make(inner, context)
    return set_attributes(Tensor.as_subclass(made, kind.kind) if of_user else made, state)


def _masked_by_type(inner: Arguments, state: Any, context: Context) -> Tensor:
    """A masked tensor, of the claims of a class (requires_grad is the last) and a dict of data and mask."""
    if not inner or not isinstance(state, dict) or state.keys() != {"_masked_data", "_masked_mask"}:
        raise RefusedPickle("a masked tensor is made of data and a mask")
    return masked((state["_masked_data"], state["_masked_mask"], inner[-1]), context)


_NJT = tuple(
    f"torch.nested._internal.nested_tensor {name}" for name in ("_rebuild_njt", "NestedTensor")
)
_MASKED = (
    "torch._utils _rebuild_wrapper_subclass",
    "torch.masked.maskedtensor.core MaskedTensor",
)
_TENSOR_TYPES = ("torch Tensor", "torch.nn.parameter Parameter")
_TENSOR_MAKERS = {
    f"torch._utils _rebuild_{name}"
    for name in ("tensor_v2", "tensor_v3", "parameter", "meta_tensor_no_storage")
}
