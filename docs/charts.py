"""Draw the charts of the pages from `figures.json`: a row for each case, as
`benchmarks/run.py --json` writes them.

Bars are times of taeda, in units of PyTorch's time for the same; a line stands at 1. Colours are
readable on light and on dark pages.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

__all__ = ["chart", "write"]

WIDTH, ROW, LABELS, RIGHT, TOP = 480, 24, 205, 40, 26
FASTER, SLOWER, TEXT, LINE = "#2f8f6b", "#c0703a", "#808890", "#808890"
START = "training"  # the group on the first page


def write(figures: Path, folder: Path) -> None:
    """A chart for each group of `figures` into `folder`, and one for the first page."""
    rows = json.loads(figures.read_text())
    folder.mkdir(exist_ok=True)
    groups = dict.fromkeys(row["group"] for row in rows)
    for group in groups:
        text = chart([row for row in rows if row["group"] == group and "ratio" in row])
        for name in (group, "start") if group == START else (group,):
            path = folder / f"{name}.svg"
            if not path.exists() or path.read_text() != text:
                path.write_text(text)


def chart(rows: list[dict[str, Any]]) -> str:
    """An SVG with a bar for each row, the shortest first."""
    rows = sorted(rows, key=lambda row: row["ratio"])
    most = max(1.0, *(row["ratio"] for row in rows)) * 1.02
    scale = (WIDTH - LABELS - RIGHT) / most
    height = TOP + ROW * len(rows) + 6
    one = LABELS + scale
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="13" role="img">'
        ),
        (
            f'<line x1="{one:.1f}" y1="{TOP - 6}" x2="{one:.1f}" y2="{height}" stroke="{LINE}" '
            'stroke-dasharray="3 3"/>'
        ),
        f'<text x="{one:.1f}" y="13" text-anchor="middle" fill="{TEXT}">PyTorch</text>',
    ]
    for place, row in enumerate(rows):
        parts += _bar(row["case"], row["ratio"], TOP + ROW * place, scale)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bar(case: str, ratio: float, top: float, scale: float) -> list[str]:
    colour = FASTER if ratio <= 1 else SLOWER
    end = LABELS + ratio * scale
    inside = 0.75 < ratio <= 1.1  # beside the bar it would stand on the line
    place = (
        f'x="{end - 5:.1f}" text-anchor="end" fill="white"'
        if inside
        else f'x="{end + 5:.1f}" fill="{TEXT}"'
    )
    return [
        f'<text x="{LABELS - 8}" y="{top + 16}" text-anchor="end" fill="{TEXT}">{html.escape(case)}</text>',
        (
            f'<rect x="{LABELS}" y="{top + 3}" width="{ratio * scale:.1f}" height="{ROW - 7}" rx="2" '
            f'fill="{colour}"/>'
        ),
        f'<text {place} y="{top + 16}">{ratio:.2f}</text>',
    ]
