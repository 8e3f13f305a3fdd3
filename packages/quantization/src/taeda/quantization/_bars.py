"""A picture of bars, as text in SVG: no library is needed to write it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from taeda._core_api.files import atomic_write

__all__ = ["draw"]

_LINE, _NAMES, _BARS, _NOTES = 22, 260, 360, 190  # pixels
_ABOVE, _BELOW = "#4878a8", "#c05030"  # of lengths above and below 0


def draw(bars: Sequence[tuple[str, float, str]], label: str, path: Path) -> None:
    """Write a bar for each (name, length, note), below each other; `label` says what lengths are. One
    below 0 has another colour, and its sign in the number beside it.
    """
    most = max((abs(length) for _, length, _ in bars), default=0.0) or 1.0
    height = _LINE * (len(bars) + 1) + 10
    space = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12"'
    lines = [
        f'<svg {space} style="background:#fff" width="{_NAMES + _BARS + _NOTES}" height="{height}">',
        f'<text x="8" y="16" font-weight="bold">{escape(label)}</text>',
        *(_bar(at, bar, most) for at, bar in enumerate(bars, 1)),
        "</svg>",
    ]
    with atomic_write(path) as file:
        file.write("\n".join([*lines, ""]).encode())


def _bar(at: int, bar: tuple[str, float, str], most: float) -> str:
    name, length, note = bar
    y, width, colour = at * _LINE, _BARS * abs(length) / most, _BELOW if length < 0 else _ABOVE
    beside = escape(f"{length:.2e}, {note}" if note else f"{length:.2e}")
    return (
        f'<text x="{_NAMES - 8}" y="{y + 16}" text-anchor="end">{escape(name[-40:])}</text>'
        f'<rect x="{_NAMES}" y="{y + 4}" width="{width:.1f}" height="{_LINE - 6}" fill="{colour}"/>'
        f'<text x="{_NAMES + width + 6:.1f}" y="{y + 16}">{beside}</text>'
    )
