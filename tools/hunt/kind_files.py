"""Files of tensors of every kind, good ones and ones whose data is not what it should be; and how what comes
back is read. Used by mutate_files.py and fuzz_files.py.

What `save` writes of a kind is data: strided tensors, and what they stand for. Here somebody wrote into those
tensors, whose memory he shares, before the file was made: offsets that fall, places out of bounds, masks
and scales of other numbers. Checksums of such a file are right.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from random import Random
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core

__all__ = ["KINDS", "broken", "good", "read"]

NUMBERS = (0, 1, 2, 3, 4, 5, 6, 100, -1, -2, 2**31, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, float("inf"), float("nan"), 1e-45, 3e38)


def _matrix() -> Tensor:
    return taeda.tensor([[0.0, 2, 0, 0], [3, 0, 4, 0], [0, 0, 0, 0], [0, 5, 0, 6]])


def _uncoalesced() -> Tensor:
    return taeda.sparse_coo_tensor([[1, 0, 1], [2, 0, 2]], [1.0, 2, 3], (3, 4))


def _holes() -> Tensor:
    offsets, lengths = taeda.tensor([0, 2, 5]), taeda.tensor([1, 3])
    return taeda.nested.nested_tensor_from_jagged(taeda.ones(6, 2), offsets, lengths)


def _ragged() -> Tensor:
    return taeda.nested.nested_tensor([[1.0, 2], [3.0]], layout=taeda.jagged, requires_grad=True)


def _masked() -> Tensor:
    return taeda.masked.masked_tensor(_matrix(), _matrix() > 0)


def _channels(dtype: Any = taeda.qint8) -> Tensor:
    scales = taeda.tensor([0.1, 0.2, 0.3, 0.4])
    return taeda.quantize_per_channel(
        _matrix(), scales, taeda.zeros(4, dtype=taeda.int64), 0, dtype
    )


#: a tensor of each kind that files hold
KINDS: dict[str, Callable[[], Tensor]] = {
    "coo": lambda: _matrix().to_sparse(),
    "coo, uncoalesced": _uncoalesced,
    "coo, hybrid": lambda: _matrix().to_sparse(1),
    "csr": lambda: _matrix().to_sparse_csr(),
    "csc": lambda: _matrix().to_sparse_csc(),
    "bsr": lambda: _matrix().to_sparse_bsr((2, 2)),
    "bsc": lambda: _matrix().to_sparse_bsc((2, 2)),
    "csr, batched": lambda: taeda.stack([_matrix(), _matrix()]).to_sparse_csr(),
    "csr, hybrid": lambda: _matrix().unsqueeze(-1).expand(4, 4, 2).to_sparse_csr(dense_dim=1),
    "jagged": _ragged,
    "jagged, holes": _holes,
    "nested, strided": lambda: taeda.nested.nested_tensor([_matrix(), _matrix()[:2, 1:]]),
    "masked": _masked,
    "quantized": lambda: taeda.quantize_per_tensor(_matrix(), 0.1, 3, taeda.quint8),
    "quantized, channels": _channels,
    "quantized, nibbles": lambda: _channels(taeda.quint4x2),
}


def _saved(value: Any, form: str) -> bytes:
    file = io.BytesIO()
    taeda.save(value, file, **({} if form == "taeda" else {"format": form}))
    return file.getvalue()


def good(form: str) -> list[bytes]:
    """A file of each kind, and one of all of them."""
    made = {name: make() for name, make in KINDS.items()}
    return [*(_saved({"x": x}, form) for x in made.values()), _saved(made, form)]


def broken(form: str, random: Random) -> bytes:
    """A file of a kind with other numbers in one of its tensors; a good file where that is not saved."""
    x = random.choice([*KINDS.values()])()
    _, part = random.choice(core.parts_of(x).named())
    with taeda.no_grad():
        _spoil(part, random)
    try:
        return _saved([x, x], form)
    except (RuntimeError, ValueError):
        return _saved([_matrix().to_sparse()], form)


def _spoil(part: Tensor, random: Random) -> None:
    flat = part.detach().reshape(-1) if part.is_contiguous() else part.detach()
    if not flat.numel():
        return
    kind = random.randrange(4)
    if kind == 0 and flat.dim() == 1:
        flat.copy_(flat[taeda.tensor(random.sample(range(flat.numel()), flat.numel()))])
    elif kind == 1:
        flat.copy_(flat.flip(0))
    elif kind == 2:
        flat.fill_(_number(part, random))
    else:
        flat[random.randrange(flat.shape[0])] = _number(part, random)


def _number(part: Tensor, random: Random) -> Any:
    if part.dtype is taeda.bool:
        return random.random() < 0.5
    if part.is_floating_point():
        return random.choice(FLOATS)
    limits = taeda.iinfo(part.dtype)
    return max(limits.min, min(random.choice(NUMBERS), limits.max))


def read(x: Tensor) -> None:
    """Compute with everything that a tensor of a kind is made of."""
    if max((part.numel() for _, part in _named(x)), default=0) > 1 << 16:
        return
    if x.layout is not taeda.strided and not x.is_nested:
        _read_sparse(x.detach())
    elif x.is_nested:
        for piece in x.detach().unbind():
            piece.clone()
        (x.detach() * 2).sum()
    elif hasattr(x, "get_mask"):
        (x.detach() + 1).sum()
    else:
        x.dequantize().clone()
        x.int_repr().clone()
    repr(x)


def _named(x: Tensor) -> Any:
    parts = core.parts_of(x)
    return () if parts is None else parts.named()


def _read_sparse(x: Tensor) -> None:
    small = 0 < x.numel() < 1 << 16
    if small:
        x.to_dense().clone()
    if x.dim() == 2 and x.shape[1] < 1 << 12 and x.shape[0] < 1 << 16:
        with contextlib.suppress(NotImplementedError):  # hybrid ones, and dtypes without products
            x @ taeda.ones(x.shape[1], 2, dtype=x.dtype)
    taeda.sparse.sum(x) if x.layout is taeda.sparse_coo else x.sum()
