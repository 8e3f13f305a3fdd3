"""One file of HTML that shows a profile, without any other file or network."""

from __future__ import annotations

import html
import importlib.resources
import json
import linecache
import platform
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import taeda

from ._ledger import Peak
from ._recording import Range
from ._roofline import Limits, Row, Work, roofline
from ._texts import format_memory
from ._wastes import Finding

__all__ = ["Shown", "page"]

_SLICES, _POINTS, _ROWS, _NAMES, _PEAKS, _WORDS, _LINES = 15_000, 1_000, 60, 2_000, 5, 40, 30


@dataclass
class Shown:
    """What a page shows. What was not recorded is empty, and its part of the page says so."""

    title: str
    ranges: Sequence[Range]
    took: int  # nanoseconds
    curve: Sequence[tuple[int, int, str]] = ()  # (when, bytes, the line that ran)
    peak: Peak | None = None
    findings: Sequence[Finding] | None = None  # None: nobody looked
    work: Mapping[str, Work] = field(default_factory=dict)
    limits: Limits | None = None
    lines: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # (calls, nanoseconds)
    steps: int = 0  # of optimizers


def page(shown: Shown) -> bytes:
    """The page, always below 2 MB: of many operations the timeline shows the longest."""
    origin = min((one.start for one in shown.ranges), default=0)
    names: dict[str, int] = {}
    slices = _slices(shown, origin, names)
    rows = roofline(shown.work, shown.limits)[:_ROWS] if shown.limits else []
    peaks, places = _peaks(shown), dict[str, int]()
    data = {
        "names": list(names), "slices": slices, "memory": _memory(shown, origin, places),
        "places": list(places),
        "peaks": [[(when - origin) // 100, size] for when, size, _ in peaks],
        "roof": [[row.name[:80], row.intensity, row.flops] for row in rows if row.flops],
        "limits": list(shown.limits) if shown.limits else [],
    }  # fmt: skip
    parts = {
        "TITLE": html.escape(shown.title), "ADVICE": _advice(shown.findings),
        "FACTS": html.escape(_facts(shown)), "BAND": _band(shown),
        "KEPT": f"the {len(slices):,} longest of {len(shown.ranges):,}",
        "PHASES": _phase_table(shown), "LINES": _by_line(shown),
        "OPERATORS": _table(["operation", "calls", "self ms", "%"], _operators(shown)),
        "MODULES": _table(["module", "calls", "ms"], _modules(shown)),
        "PEAKS": _peak_table(peaks), "HOLDERS": _holders(shown.peak),
        "LIMITS": _limits(shown.limits), "ROOF": _roof(rows),
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }  # fmt: skip
    frame = importlib.resources.files(__package__).joinpath("_page.html").read_text("utf-8")
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], frame).encode()


def _facts(shown: Shown) -> str:
    words = [f"{shown.took / 1e9:.2f} s"]
    if shown.steps:
        each = shown.steps * 1e9 / max(1, shown.took)
        words.append(f"{shown.steps:,} steps of optimizers, {each:.3g} a second")
    words += [f"{taeda.get_num_threads()} threads", f"taeda {taeda.__version__}"]
    return f"{', '.join(words)}, Python {platform.python_version()}, {platform.machine()}"


_COLOURS = {
    "load": "#8e6bbf", "forward": "#4a90d9", "backward": "#e0803c", "step": "#5aa55a",
    "other operations": "#b8a03c", "Python and waiting": "#ccc",
}  # fmt: skip


def _band(shown: Shown) -> str:
    """The phases beside each other, as wide as they are long."""
    return "".join(
        f'<div style="flex:{max(0.1, float(part))};background:{_COLOURS[name]}" '
        f'title="{name}: {part} %"></div>'
        for name, _, part in _phases(shown)
    )


def _phase_table(shown: Shown) -> str:
    rows = [[f"\u25a0 {name}", ms, part] for name, ms, part in _phases(shown)]
    text = _table(["phase", "ms", "%"], rows)
    for name, colour in _COLOURS.items():
        text = text.replace(f"\u25a0 {name}", f'<span style="color:{colour}">\u25a0</span> {name}')
    return text


def _by_line(shown: Shown) -> str:
    """The lines in which operations took longest, with their words."""
    if not shown.lines:
        return "Not recorded: pass with_stack=True or with_advice=True."
    total = sum(took for _, took in shown.lines.values()) or 1
    rows = sorted(shown.lines.items(), key=lambda row: -row[1][1])[:_LINES]
    cells = [
        [place, _words(place), calls, f"{took / 1e6:.3f}", f"{100 * took / total:.1f}"]
        for place, (calls, took) in rows
    ]
    return _table(["line", "", "operations", "ms", "%"], cells)


def _words(place: str) -> str:
    """What stands in a line of a file."""
    file, _, number = place.rpartition(":")
    return linecache.getline(file, int(number)).strip() if number.isdigit() else ""


def _advice(findings: Sequence[Finding] | None) -> str:
    if findings is None:
        return (
            "<li>Nobody looked: pass with_advice=True to the profile, or run the program with "
            "<code>python -m taeda.profiler</code>.</li>"
        )
    if not findings:
        return "<li>None was found.</li>"
    return "".join(
        f"<li><code>{html.escape(one.place)}</code>: {html.escape(one.text)} "
        f"<pre>{html.escape(_words(one.place)[:200])}</pre><i>Gain: {html.escape(one.gain)}.</i></li>"
        for one in findings[:_WORDS]
    )


def _peaks(shown: Shown) -> list[tuple[int, int, str]]:
    """The highest point of each fifth of the run, if it is near the highest of all."""
    curve = shown.curve
    most = max((size for _, size, _ in curve), default=0)
    every = max(1, -(-len(curve) // _PEAKS))
    tops = [
        max(curve[at : at + every], key=lambda point: point[1])
        for at in range(0, len(curve), every)
    ]
    return [top for top in tops if most and top[1] >= 0.8 * most]


def _peak_table(peaks: list[tuple[int, int, str]]) -> str:
    if not peaks:
        return ""
    rows = [[place, format_memory(size)] for _, size, place in peaks]
    return _table(["line that reached a peak", "held"], rows)


def _holders(peak: Peak | None) -> str:
    if peak is None or not peak.size:
        return ""
    held = sorted(peak.by_place.items(), key=lambda item: -item[1])[:12]
    rows = [
        [p, format_memory(size), f"{100 * size / peak.size:.0f}"] for p, size in held if size > 0
    ]
    return _table(["line that took what was held at the highest", "bytes", "%"], rows)


def _limits(limits: Limits | None) -> str:
    if limits is None:
        return "Not measured in this profile."
    return (
        f"This machine was measured at {limits.flops / 1e9:.1f} billion operations (products of float32) "
        f"and {limits.moved / 1e9:.1f} GB a second (copies). Operations without arithmetic of products "
        "count bytes alone."
    )


def _roof(rows: list[Row]) -> str:
    if not rows:
        return ""
    cells = [
        [
            row.name, f"{row.intensity:.2f}", f"{row.flops / 1e9:.2f}", f"{row.moved / 1e9:.2f}",
            f"{100 * row.reached:.0f}",
        ]
        for row in rows[:30]
    ]  # fmt: skip
    return _table(
        ["operation", "operations a byte", "G operations/s", "GB/s", "% of the limit"], cells
    )


def _slices(shown: Shown, origin: int, names: dict[str, int]) -> list[list[int]]:
    """[name, begin, length, depth] in tenths of microseconds."""
    longest = sorted(shown.ranges, key=lambda one: one.start - one.end)[:_SLICES]
    made = []
    for one in sorted(longest, key=lambda one: one.start):
        name = one.name[:80] if len(names) < _NAMES or one.name[:80] in names else "(another name)"
        number = names.setdefault(name, len(names))
        made.append(
            [number, (one.start - origin) // 100, (one.end - one.start) // 100, _depth(one)]
        )
    return made


def _depth(one: Range) -> int:
    depth, above = 0, one.parent
    while above is not None and depth < 40:
        depth, above = depth + 1, above.parent
    return depth


def _memory(shown: Shown, origin: int, places: dict[str, int]) -> list[list[int]]:
    """[when, bytes, number of the line]: the most of each piece of time. Lines get their numbers."""
    every = max(1, len(shown.curve) // _POINTS)
    pieces = [shown.curve[at : at + every] for at in range(0, len(shown.curve), every)]
    tops = [max(piece, key=lambda point: point[1]) for piece in pieces]
    return [
        [(when - origin) // 100, size, places.setdefault(place[-80:], len(places))]
        for when, size, place in tops
    ]


def _self(one: Range) -> int:
    return one.end - one.start - sum(child.end - child.start for child in one.children or ())


def _operators(shown: Shown) -> list[list[Any]]:
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in shown.ranges:
        if one.kind == "cpu_op":
            sums[one.name][0] += 1
            sums[one.name][1] += _self(one)
    total = sum(took for _, took in sums.values()) or 1
    rows = sorted(sums.items(), key=lambda row: -row[1][1])[:_ROWS]
    return [[n, c, f"{took / 1e6:.3f}", f"{100 * took / total:.1f}"] for n, (c, took) in rows]


def _phases(shown: Shown) -> list[list[str]]:
    """The time of the outermost ranges by what they are, and what lies between them."""
    took = shown.took
    sums = dict.fromkeys(("load", "forward", "backward", "step", "other operations"), 0)
    for one in shown.ranges:
        if one.parent is None:
            sums[_phase(one)] += one.end - one.start
    sums["Python and waiting"] = max(0, took - sum(sums.values()))
    return [
        [name, f"{ns / 1e6:.1f}", f"{100 * ns / max(1, took):.1f}"] for name, ns in sums.items()
    ]


def _phase(one: Range) -> str:
    if one.name.startswith("nn.Module: "):
        return "forward"
    if one.name.startswith("Optimizer.step#"):
        return "step"
    return one.name if one.name in ("load", "backward") else "other operations"


def _modules(shown: Shown) -> list[list[Any]]:
    """Modules within modules, by their names and classes."""
    sums: defaultdict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    for one in shown.ranges:
        if one.name.startswith("nn.Module: "):
            path = _path(one)
            sums[path][0] += 1
            sums[path][1] += one.end - one.start
    rows = _tree(sums)[: 4 * _ROWS]
    return [["\u2003" * (len(path) - 1) + path[-1], c, f"{ns / 1e6:.3f}"] for path, (c, ns) in rows]


def _tree(sums: Mapping[tuple[str, ...], list[int]]) -> list[tuple[tuple[str, ...], list[int]]]:
    """Each behind the one it lies in, in the order of their first calls."""
    order = {path: k for k, path in enumerate(sums)}
    return sorted(
        sums.items(),
        key=lambda row: [
            order[row[0][: k + 1]] for k in range(len(row[0])) if row[0][: k + 1] in order
        ],
    )


def _path(one: Range | None) -> tuple[str, ...]:
    found: list[str] = []
    while one is not None:
        if one.name.startswith("nn.Module: "):
            kind = one.name.removeprefix("nn.Module: ")
            found.append(f"{one.text}: {kind}" if one.text else kind)
        one = one.parent
    return tuple(reversed(found))


def _table(heads: list[str], rows: list[list[Any]]) -> str:
    head = "".join(f"<th>{html.escape(one)}</th>" for one in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell)[:80])}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
