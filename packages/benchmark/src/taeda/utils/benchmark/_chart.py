"""A picture of times, for eyes that compare faster than tables do."""

from __future__ import annotations

import io
from pathlib import Path

from taeda._core_api.files import atomic_write

from ._units import select_unit
from .measurement import Measurement


def draw(measurements: list[Measurement], path: Path) -> None:
    """Write a PNG: for each measurement a box from the first to the third quartile, and every time
    as a dot.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("a plot needs matplotlib: pip install matplotlib") from error

    unit, scale = select_unit(min(one.median for one in measurements))
    times = [[seconds / scale for seconds in one.times] for one in measurements]
    names = [one.title.splitlines()[0][:40] for one in measurements]
    figure = Figure(figsize=(7, 1.2 + 0.5 * len(times)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places = list(range(len(times), 0, -1))  # the first statement on top
    axes.boxplot(times, positions=places, orientation="horizontal", showfliers=False, widths=0.5)
    for place, row in zip(places, times, strict=True):
        axes.plot(row, [place] * len(row), "o", markersize=3, alpha=0.4)
    axes.set_yticks(places, names)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"time for one run [{unit}]")
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    with atomic_write(path) as file:
        file.write(picture.getvalue())
