"""Scalars as curves in a notebook, drawn again while the program adds to them."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable
from typing import Any

__all__ = ["LivePlot", "display_of_notebook"]

_MOST = 1000  # points of a curve; then every second one goes
_WIDTH, _HEIGHT, _LEFT, _BELOW = 640, 240, 56, 22
_COLOURS = ("#4a90d9", "#e0803c", "#5aa55a", "#8e6bbf", "#c8504f", "#7a6a53", "#d17fb8", "#666")

Update = Callable[[Any], object]


def display_of_notebook(plot: Any) -> Update:
    """Show `plot` below the cell that runs, and return what shows it anew. RuntimeError where there is
    no notebook.
    """
    try:
        from IPython import get_ipython  # pyright: ignore[reportMissingImports]
        from IPython.display import display  # pyright: ignore[reportMissingImports]
    except ImportError:
        get_ipython = None
    if get_ipython is None or get_ipython() is None:
        raise RuntimeError(
            "SummaryWriter.show draws below the cell of a notebook, and this program runs in none; "
            "`tensorboard --logdir` shows the same scalars in a browser"
        )
    handle = display(plot, display_id=True)
    return lambda made: handle.update(made)


class LivePlot:
    """The curves of some tags. `_repr_html_` is a picture of what is known now."""

    def __init__(
        self,
        tags: tuple[str, ...],
        seconds: float,
        show: Callable[[Any], Update],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if seconds <= 0:
            raise ValueError(f"SummaryWriter.show: seconds is {seconds}, and has to be above 0")
        self.tags, self._seconds, self._clock = tags, seconds, clock
        self._curves: dict[str, list[tuple[float, float]]] = {}
        self._strides: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._shown = clock()
        self._update = show(self)

    def add(self, tag: str, value: float, step: float) -> None:
        """One point more; the picture is drawn again when the last one is old."""
        if self.tags and tag not in self.tags:
            return
        curve = self._curves.setdefault(tag, [])
        stride = self._strides.setdefault(tag, 1)
        self._counts[tag] = count = self._counts.get(tag, 0) + 1
        if (count - 1) % stride == 0:
            curve.append((step, value))
        if len(curve) >= _MOST:
            del curve[1::2]
            self._strides[tag] = 2 * stride
        if self._clock() - self._shown >= self._seconds:
            self.draw()

    def draw(self) -> None:
        """Draw all that is known."""
        self._shown = self._clock()
        self._update(self)

    def _repr_html_(self) -> str:
        points = [p for curve in self._curves.values() for p in curve if math.isfinite(p[1])]
        if not points:
            return "<p>No scalars yet.</p>"
        (left, right), (low, high) = _span(p[0] for p in points), _span(p[1] for p in points)

        def place(point: tuple[float, float]) -> str:
            x = _LEFT + (point[0] - left) / (right - left) * (_WIDTH - _LEFT - 8)
            y = 8 + (high - point[1]) / (high - low) * (_HEIGHT - _BELOW - 16)
            return f"{x:.1f},{y:.1f}"

        lines, words = [], []
        for number, (tag, curve) in enumerate(self._curves.items()):
            colour = _COLOURS[number % len(_COLOURS)]
            way = " ".join(place(p) for p in curve if math.isfinite(p[1]))
            lines.append(
                f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
            )
            last = f"{curve[-1][1]:.4g}" if curve else ""
            words.append(f'<span style="color:{colour}">\u25a0 {html.escape(tag)}: {last}</span>')
        marks = [
            (4, 16, high), (4, _HEIGHT - _BELOW, low), (_LEFT, _HEIGHT - 6, left),
            (_WIDTH - 60, _HEIGHT - 6, right),
        ]  # fmt: skip
        texts = "".join(f'<text x="{x}" y="{y}">{value:.4g}</text>' for x, y, value in marks)
        return (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" style="max-width:100%" '
            f'font-size="11" font-family="sans-serif" fill="#666">{texts}{"".join(lines)}</svg>'
            f"<div>{'&emsp;'.join(words)}</div>"
        )


def _span(values: Any) -> tuple[float, float]:
    """The least and the greatest, apart."""
    found = list(values)
    low, high = min(found), max(found)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
