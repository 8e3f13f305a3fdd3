"""Tensors with parts (sparse, masked, nested) as data: the strided tensors that they are made of, and what
else there is to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

__all__ = ["LAYOUTS", "MAKERS", "facts_of", "from_facts", "has_parts"]

#: layouts that files hold, each with the number of its parts
LAYOUTS = {
    "sparse_coo": 2,
    **dict.fromkeys(("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"), 3),
}

#: what else has parts: its name in files, of the name of its parts' class
_KINDS = {"Masked": "masked"}
#: by such a name, what PyTorch makes one with: of its parts and requires_grad
MAKERS = {"masked": ("torch.masked.maskedtensor.core", "MaskedTensor")}


def has_parts(x: Tensor) -> bool:
    """Is it made of strided tensors, and has no memory of its own?"""
    return _core.parts_of(x) is not None


def facts_of(x: Tensor) -> tuple[str, list[Tensor], tuple[int, ...], bool]:
    """(name of the layout, parts, size, is it known to be coalesced?) of a tensor with parts."""
    parts = _core.parts_of(x)
    name = _KINDS.get(type(parts).__name__, str(x.layout).rpartition(".")[2])
    if name not in LAYOUTS and name not in _KINDS.values():
        raise NotImplementedError(f"cannot save a tensor whose layout is {x.layout}")
    tensors = [part.detach() for _, part in parts.named()]
    return name, tensors, tuple(x.shape), bool(getattr(parts, "is_coalesced", False))


def from_facts(name: str, parts: Sequence[Any], size: Sequence[int], is_coalesced: bool) -> Tensor:
    """The tensor, all of its indices checked. ValueError or RuntimeError for facts that make none."""
    if name == "masked":
        return _masked(parts)
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
