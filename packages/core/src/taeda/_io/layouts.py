"""Tensors with parts (sparse, masked, nested, quantized) as data: the strided tensors that they are made
of, and what else there is to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

__all__ = ["LAYOUTS", "MAKERS", "facts_of", "from_facts", "has_parts", "made_of", "refuse_names"]

#: layouts that files hold, each with the number of its parts
LAYOUTS = {
    "sparse_coo": 2,
    **dict.fromkeys(("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"), 3),
}

#: what else has parts, by the name that its parts have for files: what PyTorch makes one with
MAKERS = {
    "masked": ("torch.masked.maskedtensor.core", "MaskedTensor"),
    "jagged": ("torch.nested", "nested_tensor_from_jagged"),
    "nested": ("torch._utils", "_rebuild_nested_tensor"),
}


def has_parts(x: Tensor) -> bool:
    """Is it made of strided tensors, and has no memory of its own?"""
    return _core.parts_of(x) is not None


def refuse_names(x: Tensor, what: str) -> None:
    """RuntimeError if its dimensions have names, which files and pickles do not keep."""
    if _core.names_of(x) is not None:
        raise RuntimeError(
            f"cannot save {what}: its dimensions have names, which are not kept in files and pickles. "
            "Take them away by tensor.rename(None) first"
        )


def facts_of(x: Tensor) -> tuple[str, list[Tensor], tuple[int, ...], bool]:
    """(name of the layout, parts, size, is it known to be coalesced?) of a tensor with parts; of a nested one
    the ragged dimension in place of the size, of a quantized one what its integers stand for.
    """
    parts = _core.parts_of(x)
    name = getattr(parts, "in_files", str(x.layout).rpartition(".")[2])
    if name == "quantized":
        tensors, facts = parts.saved()
        return name, tensors, facts, False
    if name not in LAYOUTS and name not in MAKERS:
        raise NotImplementedError(
            f"no file holds tensors of layout {x.layout}: save the strided tensors that it is made of"
        )
    tensors = [part.detach() for _, part in parts.named()]
    if name == "nested":  # each tensor has a shape of its own
        return name, tensors, (), False
    size = (parts.ragged,) if name == "jagged" else tuple(x.shape)
    return name, tensors, size, bool(getattr(parts, "is_coalesced", False))


def from_facts(name: str, parts: Sequence[Any], size: Sequence[int], is_coalesced: bool) -> Tensor:
    """The tensor, all of its indices checked. ValueError or RuntimeError for facts that make none."""
    if name == "masked":
        return _masked(parts)
    if name == "jagged":
        return _jagged(parts, size)
    if name == "nested":
        return _nested(parts)
    if name == "quantized":
        return _quantized(parts, size)
    if LAYOUTS.get(name) != len(parts) or not all(isinstance(p, Tensor) for p in parts):
        raise ValueError(f"a tensor of layout {name!s:.50} is not made of {len(parts)} values")
    if any(part.layout is not taeda.strided or part.requires_grad for part in parts):
        raise ValueError("a sparse tensor is made of strided tensors outside of any graph")
    if any(type(n) is not int for n in size) or type(is_coalesced) is not bool:
        raise ValueError("the size of a sparse tensor is a list of ints")
    if name != "sparse_coo":
        compressed, plain, values = parts
        layout: Any = getattr(taeda, name)
        return taeda.sparse_compressed_tensor(  # upward: such a file
            compressed, plain, values, tuple(size), layout=layout
        )
    indices, values = parts
    more: Any = {"is_coalesced": is_coalesced, "check_invariants": True}
    return taeda.sparse_coo_tensor(indices, values, tuple(size), **more)  # upward: such a file


def _masked(parts: Sequence[Any]) -> Tensor:
    masked: Any = taeda.masked  # upward: such a file
    try:
        data, mask = parts
        made: Tensor = masked.masked_tensor(data, mask)
    except TypeError as error:
        raise ValueError(f"a masked tensor is made of data and bools: {error}") from None
    return made


def _jagged(parts: Sequence[Any], size: Sequence[int]) -> Tensor:
    if not 2 <= len(parts) <= 3 or not all(isinstance(part, Tensor) for part in parts):
        raise ValueError("a nested tensor is made of values, offsets, and perhaps lengths")
    if len(size) != 1 or type(size[0]) is not int:
        raise ValueError("a nested tensor has one ragged dimension")
    values, offsets, lengths = (*parts, None)[:3]
    nested: Any = taeda.nested  # upward: such a file
    made: Tensor = nested.nested_tensor_from_jagged(values, offsets, lengths, size[0])
    return made


def _nested(parts: Sequence[Any]) -> Tensor:
    if not all(isinstance(part, Tensor) and part.layout is taeda.strided for part in parts):
        raise ValueError("a nested tensor of the strided layout is made of strided tensors")
    nested: Any = taeda.nested  # upward: such a file
    made: Tensor = nested.as_nested_tensor([part.detach() for part in parts])
    return made


def _in_one_buffer(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """(all numbers in one row, and a row for each tensor: sizes, strides, where it begins)."""
    whole = [part.contiguous() for part in tensors]
    begins = [0]
    for part in whole[:-1]:
        begins.append(begins[-1] + part.numel())
    tables = [part.shape for part in whole], [part.stride() for part in whole], begins
    buffer = taeda.cat([part.reshape(-1) for part in whole])
    return (buffer, *(taeda.tensor(table, dtype=taeda.int64) for table in tables))


def _quantized(parts: Sequence[Any], facts: Sequence[Any]) -> Tensor:
    quantization: Any = taeda.quantization  # upward: such a file
    made: Tensor = quantization._saved.from_saved(parts, facts)
    return made


def made_of(name: str, x: Tensor, parts: Sequence[Tensor], size: Sequence[int]) -> tuple[Any, ...]:
    """What the function in MAKERS is called with."""
    if name == "masked":
        return (*parts, x.requires_grad)
    if name == "nested":
        buffer, *tables = _in_one_buffer(parts)
        return buffer.requires_grad_(x.requires_grad), *tables
    values, *others = parts
    offsets, lengths = (*others, None)[:2]
    return values.requires_grad_(x.requires_grad), offsets, lengths, size[0]
