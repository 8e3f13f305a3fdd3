"""How a tensor looks in a notebook: what it is, its statistics, its values as a small drawing, and
a picture where it is one.
"""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING

import taeda

if TYPE_CHECKING:
    from taeda import Tensor

__all__ = ["tensor_html"]

_LARGE = 1 << 22  # elements: statistics of more are left out, for they take a while
_FEW = 32  # elements: so many are shown as they are, and a histogram of them says little
_BINS, _HEIGHT = 32, 28
_EDGE = 192  # of a picture, in points
_LONGEST = 8  # a side of a picture, in the other: what is longer is a table of numbers


def tensor_html(x: Tensor) -> str:
    """The table; numbers are those of the tensor at this moment."""
    parts = [f"<b>{html.escape(_kind(x))}</b>"]
    numbers = x.detach()
    if x.device.type != "meta" and x.numel() and not x.dtype.is_complex and x.numel() <= _LARGE:
        numbers = numbers.cpu().double()
        finite = numbers[numbers.isfinite()]
        parts.append(_statistics(numbers, finite))
        if finite.numel() > _FEW:
            parts.append(_histogram(finite))
        if (picture := _picture(numbers)) is not None:
            parts.append(picture)
    text = html.escape(repr(x))
    shown = " open" if x.numel() <= _FEW else ""
    parts.append(f"<details{shown}><summary>values</summary><pre>{text}</pre></details>")
    body = "".join(f'<div style="margin:2px 0">{part}</div>' for part in parts)
    return f'<div style="font-family:monospace;font-size:12px">{body}</div>'


def _kind(x: Tensor) -> str:
    words = [
        type(x).__name__,
        str(list(x.shape)),
        str(x.dtype).rpartition(".")[2],
        str(x.device),
    ]
    if x.requires_grad:
        words.append("requires grad" if x.is_leaf else type(x.grad_fn).__name__)
    return " · ".join(words)


def _statistics(numbers: Tensor, finite: Tensor) -> str:
    if not finite.numel():
        return "no finite element"
    words = [f"min {finite.min().item():.4g}", f"mean {finite.mean().item():.4g}"]
    words.append(f"max {finite.max().item():.4g}")
    if finite.numel() > 1:
        words.append(f"std {finite.std().item():.4g}")
    for name, count in (("nan", numbers.isnan().sum()), ("inf", numbers.isinf().sum())):
        if count:
            words.append(f"{name} {int(count)}")
    return ", ".join(words)


def _histogram(finite: Tensor) -> str:
    """Bars of how often values are there, from the smallest to the largest."""
    low, high = finite.min().item(), finite.max().item()
    if low == high:
        return ""
    counts = taeda.histc(finite, _BINS, low, high).tolist()
    top = max(counts)
    bars = "".join(
        f'<rect x="{6 * i}" y="{_HEIGHT - round(_HEIGHT * c / top, 1)}" width="5" '
        f'height="{round(_HEIGHT * c / top, 1)}"/>'
        for i, c in enumerate(counts)
        if c
    )
    return (
        f'<svg width="{6 * _BINS}" height="{_HEIGHT}" fill="currentColor" role="img" '
        f'aria-label="histogram">{bars}</svg>'
    )


def _picture(numbers: Tensor) -> str | None:
    """The tensor as an image: (H, W), (1, H, W), (3, H, W) or (H, W, 3) from 8 points on; not what
    is long and thin.
    """
    shape = tuple(numbers.shape)
    if len(shape) == 2:
        points = numbers.unsqueeze(2)
    elif len(shape) == 3 and shape[0] in (1, 3):
        points = numbers.permute(1, 2, 0)
    elif len(shape) == 3 and shape[2] == 3:
        points = numbers
    else:
        return None
    height, width, channels = points.shape
    short, long = sorted((height, width))
    if short < 8 or long > min(4096, _LONGEST * short):
        return None
    finite = points.nan_to_num(0, 0, 0)
    low, high = finite.min(), finite.max()
    if low >= 0 and high <= 1:
        low, high = taeda.zeros_like(low), taeda.ones_like(high)
    elif low >= 0 and high <= 255 and channels == 3:
        low, high = taeda.zeros_like(low), high.new_full((), 255)
    span = (high - low).clamp_min(1e-300)
    data = ((finite - low) / span * 255).round().to(taeda.uint8)
    code = base64.b64encode(_png(data.contiguous())).decode()
    scale = _EDGE / max(height, width)
    size = f'width="{round(width * scale)}" height="{round(height * scale)}"'
    return (
        f'<img alt="as a picture" {size} style="image-rendering:pixelated" '
        f'src="data:image/png;base64,{code}">'
    )


def _png(points: Tensor) -> bytes:
    """A PNG file of (H, W, 1) grey or (H, W, 3) coloured bytes."""
    height, width, channels = points.shape
    rows = points.reshape(-1).numpy().tobytes()
    step = width * channels
    lines = b"".join(b"\0" + rows[i * step : (i + 1) * step] for i in range(height))
    header = struct.pack(">2I5B", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(d)) + kind + d + struct.pack(">I", zlib.crc32(kind + d))
        for kind, d in chunks
    )
