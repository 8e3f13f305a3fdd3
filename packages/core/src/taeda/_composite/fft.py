"""Fourier transforms as users call them, in terms of three kernels; and those of short pieces."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import taeda
from taeda import Tensor
from taeda._C import _nn
from taeda._warnings import warn

from .view import wrap_dim

__all__ = ["fftfreq", "fftshift", "ifftshift", "istft", "rfftfreq", "stft"]

NONE, BY_ROOT, BY_COUNT = range(3)
Ints = Sequence[int]


# ---- arguments ----


def _normalization(norm: str | None, forward: bool) -> int:
    if norm is None or norm == "backward":
        return NONE if forward else BY_COUNT
    if norm == "forward":
        return BY_COUNT if forward else NONE
    if norm == "ortho":
        return BY_ROOT
    raise RuntimeError(
        f'Invalid normalization mode: "{norm}"; it must be "backward", "forward" or "ortho"'
    )


def _promoted(name: str, x: Tensor, need_complex: bool = False) -> Tensor:
    """Integers as the default float; RuntimeError for half types."""
    dtype = x.dtype
    if dtype is taeda.complex64 or dtype is taeda.complex128:
        return x
    if not (dtype.is_floating_point or dtype.is_complex):
        x = x.to(taeda.get_default_dtype())
    if x.dtype not in (taeda.float32, taeda.float64):
        raise RuntimeError(f"{name}: Unsupported dtype {x.dtype}; use float32 or float64")
    return x.to(_complex_of(x)) if need_complex else x


def _complex_of(x: Tensor) -> taeda.dtype:
    return taeda.complex128 if x.dtype is taeda.float64 else taeda.complex64


def _real(name: str, x: Tensor) -> Tensor:
    if x.is_complex():
        raise RuntimeError(f"{name} expects a real input tensor, but got {x.dtype}")
    return _promoted(name, x)


def _dim(x: Tensor, dim: int) -> int:
    if x.dim() == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, x.dim())


def _axes(x: Tensor, s: Ints | None, dim: Ints | None) -> tuple[list[int], list[int]]:
    """(sizes, dimensions): the last ones for sizes without dimensions, all for neither."""
    if dim is not None:
        dims = [_dim(x, d) for d in dim]
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"FFT dims must be unique, but got {list(dim)}")
        if s is not None and len(s) != len(dims):
            raise RuntimeError(
                "When given, dim and shape arguments must have the same length, but got "
                f"{len(dims)} and {len(s)}"
            )
    elif s is not None:
        if len(s) > x.dim():
            raise RuntimeError(
                f"Got shape with {len(s)} values but input tensor only has {x.dim()} dimensions."
            )
        dims = list(range(x.dim() - len(s), x.dim()))
    else:
        dims = list(range(x.dim()))
    sizes = (
        [x.size(d) for d in dims]
        if s is None
        else [x.size(d) if n == -1 else n for n, d in zip(s, dims, strict=True)]
    )
    _check_sizes(sizes)
    return sizes, dims


def _check_sizes(sizes: Ints) -> None:
    for n in sizes:
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _fitted(x: Tensor, sizes: Ints, dims: Ints) -> Tensor:
    """Cut, or padded with zeros, at the ends: padded at once, so that no memory is taken for a part of what
    does not fit.
    """
    pads = [0] * (2 * x.dim())
    for n, d in zip(sizes, dims, strict=True):
        have = x.size(d)
        if n < have:
            x = x.narrow(d, 0, n)
        pads[2 * (x.dim() - 1 - d) + 1] = max(n - have, 0)
    return taeda.constant_pad_nd(x, pads, 0) if any(pads) else x


def _cut(x: Tensor, s: Ints | None, dim: Ints | None) -> tuple[Tensor, list[int]]:
    """(x of the sizes that are asked for, dimensions)."""
    if s is None and dim is not None and len(dim) == 1:  # the common case, where each call counts
        d = _dim(x, dim[0])
        _check_sizes((x.size(d),))
        return x, [d]
    sizes, dims = _axes(x, s, dim)
    return _fitted(x, sizes, dims), dims


# ---- over several dimensions ----


def _c2c(
    name: str, forward: bool, x: Tensor, s: Ints | None, dim: Ints | None, norm: str | None
) -> Tensor:
    x, dims = _cut(_promoted(name, x), s, dim)
    code = _normalization(norm, forward)
    if x.is_complex():
        return taeda._fft_c2c(x, dims, code, forward)
    if forward and dims:
        return taeda._fft_r2c(x, dims, code, False)
    return taeda._fft_c2c(x.to(_complex_of(x)), dims, code, forward)


def _rfftn(name: str, x: Tensor, s: Ints | None, dim: Ints | None, norm: str | None) -> Tensor:
    x, dims = _cut(_real(name, x), s, dim)
    _need_dims(name, dims)
    return taeda._fft_r2c(x, dims, _normalization(norm, True), True)


def _need_dims(name: str, dims: Ints) -> None:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


def _half(x: Tensor, s: Ints | None, dim: Ints | None) -> tuple[int, list[int], list[int]]:
    """(points of the last dimension, sizes of the half spectrum, dimensions)."""
    known = None if s is None else list(s)
    if known is not None and known and known[-1] != -1:
        last = known[-1]
        _check_sizes([last])
        known[-1] = last // 2 + 1
        sizes, dims = _axes(x, known, dim)
        return last, sizes, dims
    sizes, dims = _axes(x, known, dim)
    last = 2 * (sizes[-1] - 1) if sizes else 0
    if sizes:
        _check_sizes([last])
    return last, sizes, dims


def _irfftn(name: str, x: Tensor, s: Ints | None, dim: Ints | None, norm: str | None) -> Tensor:
    x = _promoted(name, x, need_complex=True)
    last, sizes, dims = _half(x, s, dim)
    _need_dims(name, dims)
    return taeda._fft_c2r(_fitted(x, sizes, dims), dims, _normalization(norm, False), last)


def _hfftn(name: str, x: Tensor, s: Ints | None, dim: Ints | None, norm: str | None) -> Tensor:
    """Forward over all but the last dimension, then its half is that of a real spectrum."""
    x = _promoted(name, x, need_complex=True)
    last, sizes, dims = _half(x, s, dim)
    _need_dims(name, dims)
    code = _normalization(norm, True)
    x = _fitted(x, sizes, dims)
    if len(dims) > 1:
        x = taeda._fft_c2c(x, dims[:-1], code, True)
    return taeda._fft_c2r(x.conj(), dims[-1:], code, last)


def _ihfftn(name: str, x: Tensor, s: Ints | None, dim: Ints | None, norm: str | None) -> Tensor:
    x, dims = _cut(_real(name, x), s, dim)
    _need_dims(name, dims)
    code = _normalization(norm, False)
    made = taeda._fft_r2c(x, dims[-1:], code, True).conj_physical()
    return taeda._fft_c2c(made, dims[:-1], code, False) if len(dims) > 1 else made


# ---- one dimension is a case of several ----

Several = Callable[[Tensor, Ints | None, Ints | None, str | None], Tensor]


def _single(several: Several) -> Callable[[Tensor, int | None, int, str | None], Tensor]:
    def transform(self: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
        if n is None:
            return several(self, None, (dim,), norm)
        _check_sizes((n,))
        return several(self, (n,), (dim,), norm)

    return transform


_SEVERAL: dict[str, Callable[[str], Several]] = {
    "fft": lambda name: partial(_c2c, name, True),
    "ifft": lambda name: partial(_c2c, name, False),
    "rfft": lambda name: partial(_rfftn, name),
    "irfft": lambda name: partial(_irfftn, name),
    "hfft": lambda name: partial(_hfftn, name),
    "ihfft": lambda name: partial(_ihfftn, name),
}
for _name, _made in _SEVERAL.items():
    globals()[_name] = _single(_made(_name))
    globals()[f"{_name}2"] = _made(f"{_name}2")
    globals()[f"{_name}n"] = _made(f"{_name}n")


def _shift(x: Tensor, dim: Ints | None, sign: int) -> Tensor:
    dims = list(range(x.dim())) if dim is None else [_dim(x, d) for d in dim]
    if not dims:
        return x.clone()
    halves = [x.size(d) // 2 if sign > 0 else (x.size(d) + 1) // 2 for d in dims]
    return x.roll(halves, dims)


def fftshift(self: Tensor, dim: Ints | None) -> Tensor:
    """Rolled by half of the size, rounded down."""
    return _shift(self, dim, 1)


def ifftshift(self: Tensor, dim: Ints | None) -> Tensor:
    """Rolled by half of the size, rounded up."""
    return _shift(self, dim, -1)


def _frequencies(
    name: str, n: int, d: float, first: int, last: int, dtype: taeda.dtype | None, device: Any
) -> Tensor:
    if n < 0:
        raise RuntimeError(f"{name}: the number of points must not be negative, got {n}")
    real = taeda.get_default_dtype() if dtype is None else dtype
    span = n * d
    # Points at no distance have infinite frequencies, as arithmetic on tensors has it.
    step = 1.0 / span if span else math.copysign(math.inf, d)
    return taeda.arange(first, last, dtype=real, device=device) * step


def fftfreq(
    n: int, d: float, dtype: taeda.dtype | None, layout: object, device: Any, pin_memory: object
) -> Tensor:
    """0, 1, ..., then the negative ones, over n d."""
    return _frequencies("fftfreq", n, d, -(n // 2), (n + 1) // 2, dtype, device).roll(-(n // 2))


def rfftfreq(
    n: int, d: float, dtype: taeda.dtype | None, layout: object, device: Any, pin_memory: object
) -> Tensor:
    """0, 1, ..., n // 2, over n d."""
    return _frequencies("rfftfreq", n, d, 0, n // 2 + 1, dtype, device)


# ---- short times ----


def _window(
    name: str, x: Tensor, n_fft: int, win_length: int | None, window: Tensor | None
) -> Tensor:
    """The window in the middle of n_fft points; of ones if there is none."""
    length = n_fft if win_length is None else win_length
    if not 0 < length <= n_fft:
        raise RuntimeError(
            f"{name}: expected 0 < win_length <= n_fft, but got win_length={length} and n_fft={n_fft}"
        )
    if window is None:
        window = taeda.ones(length, dtype=x.dtype.to_real(), device=x.device)
    if window.dim() != 1 or window.size(0) != length:
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={length}, but got "
            f"{list(window.shape)}"
        )
    left = (n_fft - length) // 2
    return taeda.constant_pad_nd(window, [left, n_fft - length - left], 0)


def _hop(name: str, n_fft: int, hop_length: int | None) -> int:
    hop = n_fft // 4 if hop_length is None else hop_length
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    return hop


_PADS = {"reflect": "reflection_pad1d", "replicate": "replication_pad1d"}


def _centred(x: Tensor, pad: int, mode: str) -> Tensor:
    if mode == "constant":
        return taeda.constant_pad_nd(x, [pad, pad], 0)
    if mode == "circular":
        return taeda.cat([x[..., x.size(-1) - pad :], x, x[..., :pad]], -1)
    if mode not in _PADS:
        raise RuntimeError(
            f"stft: pad_mode must be 'constant', 'reflect', 'replicate' or 'circular', not {mode!r}"
        )
    return getattr(_nn, _PADS[mode])(x.unsqueeze(1), [pad, pad]).squeeze(1)


def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    center: bool,
    pad_mode: str,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
) -> Tensor:
    """(batch, frequencies, frames); as pairs of numbers if `return_complex` is False."""
    if not (self.is_floating_point() or self.is_complex()):
        raise RuntimeError(
            f"stft: expected a tensor of floating point or complex values, but got {self.dtype}"
        )
    if self.dim() not in (1, 2):
        raise RuntimeError(f"stft: expected a 1D or 2D tensor, but got {self.dim()}D")
    either = self.is_complex() or (window is not None and window.is_complex())
    if return_complex is None:
        if not either:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs: "
                "return_complex=True gives a complex tensor, False pairs of numbers"
            )
        return_complex = True
    if onesided and either:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    x = self.unsqueeze(0) if self.dim() == 1 else self
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft: align_to_window should only be set when center is False")
        x = _centred(x, n_fft // 2, pad_mode)
    if not 0 < n_fft <= x.size(-1):
        raise RuntimeError(f"stft: expected 0 < n_fft <= {x.size(-1)}, but got n_fft={n_fft}")
    hop, w = _hop("stft", n_fft, hop_length), _window("stft", x, n_fft, win_length, window)
    frames = x.unfold(-1, n_fft, hop) * w
    code = BY_ROOT if normalized else NONE
    if frames.is_complex():
        made = taeda._fft_c2c(frames, [2], code, True)
    else:
        made = taeda._fft_r2c(frames, [2], code, onesided is not False)
    made = made.transpose(1, 2)
    made = made.squeeze(0) if self.dim() == 1 else made
    return made if return_complex else taeda.view_as_real(made)


def _check_istft(x: Tensor, n_fft: int, onesided: bool, hop: int, return_complex: bool) -> None:
    if not x.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            f"return_complex=True, got {x.dtype}"
        )
    if x.numel() == 0:
        raise RuntimeError("istft: input tensor cannot be empty.")
    if x.dim() not in (2, 3):
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions, but got {x.dim()}")
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if x.size(-2) != wanted:
        raise RuntimeError(
            f"istft: expected the frequency dimension (2nd to the last) of the input tensor to match n_fft "
            f"{'/ 2 + 1 ' if onesided else ''}= {wanted}, but got {x.size(-2)}"
        )
    if return_complex and onesided:
        raise RuntimeError(
            "istft: cannot have onesided input and a complex output; use onesided=False"
        )


def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    center: bool,
    normalized: bool,
    onesided: bool | None,
    length: int | None,
    return_complex: bool,
) -> Tensor:
    """Pieces added up, over the sum of the squared windows. RuntimeError where that is 0."""
    onesided = self.dim() > 1 and self.size(-2) != n_fft if onesided is None else onesided
    hop = _hop("istft", n_fft, hop_length)
    _check_istft(self, n_fft, onesided, hop, return_complex)
    w = _window("istft", self, n_fft, win_length, window)
    if hop > (n_fft if win_length is None else win_length):
        raise RuntimeError(
            f"istft: expected 0 < hop_length <= win_length, but got hop_length={hop}"
        )
    x = (self.unsqueeze(0) if self.dim() == 2 else self).transpose(1, 2)
    code = BY_ROOT if normalized else BY_COUNT
    if return_complex:
        pieces = taeda._fft_c2c(x, [2], code, False)
    else:
        if w.is_complex():
            raise RuntimeError("istft: complex windows are incompatible with return_complex=False")
        pieces = taeda._fft_c2r(x.narrow(2, 0, n_fft // 2 + 1), [2], code, n_fft)
    batch, frames = pieces.size(0), pieces.size(1)
    total = n_fft + hop * (frames - 1)
    signal = _nn.unfold_backward(pieces * w, [batch, total], 1, n_fft, hop)
    envelope = _nn.unfold_backward(
        (w * w).expand(1, frames, n_fft).contiguous(), [1, total], 1, n_fft, hop
    )
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - start
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    least = envelope.abs().min().item() if envelope.numel() and not envelope.is_meta else 1.0
    if not least > 1e-11:
        raise RuntimeError(f"window overlap add min: {least}; istft cannot divide by it")
    signal = signal / envelope
    if length is not None and signal.size(1) < length:
        warn(
            "istft: the length of signal is shorter than the length parameter. Result is being "
            "padded with zeros in the tail.",
            UserWarning,
        )
        signal = taeda.constant_pad_nd(signal, [0, length - signal.size(1)], 0)
    return signal.squeeze(0) if self.dim() == 2 else signal
