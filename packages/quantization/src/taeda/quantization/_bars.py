"""A picture of bars, as text in SVG: no library is needed to write it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from taeda._core_api.files import atomic_write

__all__ = ["draw"]

_LINE, _NAMES, _BARS = 22, 260, 360  # pixels


def draw(bars: Sequence[tuple[str, float]], label: str, path: Path) -> None:
    """Write a bar for each (name, length), below each other; `label` says what lengths are."""
    most = max((length for _, length in bars), default=0.0) or 1.0
    height = _LINE * (len(bars) + 1) + 10
    space = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12"'
    lines = [
        f'<svg {space} width="{_NAMES + _BARS + 90}" height="{height}">',
        f'<text x="{_NAMES}" y="16">{escape(label)}</text>',
        *(_bar(at, name, length, most) for at, (name, length) in enumerate(bars, 1)),
        "</svg>",
    ]
    with atomic_write(path) as file:
        file.write("\n".join([*lines, ""]).encode())


def _bar(at: int, name: str, length: float, most: float) -> str:
    y, width = at * _LINE, _BARS * length / most
    return (
        f'<text x="{_NAMES - 8}" y="{y + 16}" text-anchor="end">{escape(name[-40:])}</text>'
        f'<rect x="{_NAMES}" y="{y + 4}" width="{width:.1f}" height="{_LINE - 6}" fill="#4878a8"/>'
        f'<text x="{_NAMES + width + 6:.1f}" y="{y + 16}">{length:.2e}</text>'
    )
