"""Views, joins and parts: the same is done with data and mask."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import arguments_by_name, operator

from .._graph import built, data_of, is_masked, mask_of_parts, tensor_of
from ._registry import map_tensors, rule

ROWS = """
    atleast_1d atleast_2d atleast_3d broadcast_to broadcast_tensors cat chunk column_stack contiguous
    diagonal dsplit.int dsplit.array expand expand_as flatten.using_ints flip hsplit.int hsplit.array
    hstack index.Tensor index_select meshgrid.indexing movedim.int movedim.intlist narrow permute ravel
    repeat reshape reshape_as select.int slice.Tensor split.Tensor split.sizes split_with_sizes squeeze
    squeeze.dim squeeze.dims stack swapaxes swapdims t tile transpose.int numpy_T mT unbind.int unflatten.int
    unfold unsqueeze view view_as vsplit.int vsplit.array vstack dstack atleast_1d.Sequence
    atleast_2d.Sequence atleast_3d.Sequence roll
""".split()


def _data(x: Tensor) -> Tensor:
    return data_of(x) if is_masked(x) else x


#: rows with plain tensors beside the masked one that say places or a shape
_WITH_PLAIN = {"index.Tensor", "index_select", "expand_as", "reshape_as", "view_as"}


def has_masked(value: Any) -> bool:
    """Whether there is a masked tensor in it, in its lists too."""
    if isinstance(value, (list, tuple)):
        return any(map(has_masked, value))
    return is_masked(value)


def _wrapped(data: Any, mask: Any) -> Any:
    if isinstance(data, Tensor):
        return built(data, mask)
    return type(data)([_wrapped(d, m) for d, m in zip(data, mask, strict=True)])


def _register(row: str) -> None:
    function = operator(row)

    def mask_of(x: Tensor) -> Tensor:
        if row in _WITH_PLAIN or is_masked(x):
            return mask_of_parts(x) if is_masked(x) else x
        return taeda.ones_like(x, dtype=taeda.bool)

    @rule(row)
    def run(*args: Any) -> Any:
        if row in _WITH_PLAIN and not is_masked(args[0]):
            return NotImplemented
        if row in ("index.Tensor", "index_select") and has_masked(args[1:]):
            raise RuntimeError(
                f"{row.partition('.')[0]}: an index says a place for each element, and a masked tensor "
                "leaves some open: index with its to_tensor(value), or with a plain tensor"
            )
        data, mask = (
            function(**arguments_by_name(row, [map_tensors(x, change) for x in args]))
            for change in (_data, mask_of)
        )
        return _wrapped(data, mask)


for _row in ROWS:
    _register(_row)


@rule("kron")
def kron(x: Tensor, other: Tensor) -> Tensor:
    masks = (_ones(x), _ones(other))
    return built(taeda.kron(_data(x), _data(other)), taeda.kron(*masks) > 0)


def _ones(x: Tensor) -> Tensor:
    if is_masked(x):
        return mask_of_parts(x).to(taeda.uint8)
    return taeda.ones_like(x, dtype=taeda.uint8)


@rule("im2col")
def im2col(x: Tensor, *args: Any) -> Tensor:
    """Padding does not count: there is nothing in it."""
    function = operator("im2col")
    made = function(data_of(x), *args)
    mask = function(mask_of_parts(x).to(made.dtype), *args)
    return built(made, mask != 0)


# ---- copies ----


@rule("alias")
def alias(x: Tensor) -> Tensor:
    return built(data_of(x), mask_of_parts(x))


@rule("detach")
def detach(x: Tensor) -> Tensor:
    with taeda.no_grad():
        return tensor_of(data_of(x).detach(), mask_of_parts(x))


@rule("clone")
def clone(x: Tensor, memory_format: Any = None) -> Tensor:
    return built(data_of(x).clone(), mask_of_parts(x).clone())


@rule("_to_copy")
def to_copy(
    x: Tensor,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Data and mask go to the device; the dtype is that of the data."""
    own = data_of(x)
    data = own.to(dtype=dtype or own.dtype, device=device or own.device, copy=True)
    return built(data, mask_of_parts(x).to(device=data.device, copy=True))


def _like(name: str) -> None:
    function = getattr(taeda, name)

    @rule(name)
    def run(
        x: Tensor,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
        memory_format: Any = None,
    ) -> Any:
        if pin_memory or layout not in (None, taeda.strided):
            return NotImplemented
        made = function(data_of(x).detach(), dtype=dtype, device=device)
        return built(made, mask_of_parts(x).to(made.device))


for _name in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"):
    _like(_name)
