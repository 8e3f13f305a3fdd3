"""One file of HTML that shows a profile, without any other file or network."""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._collect import Range
from ._ledger import Peak
from ._roofline import Limits, Row, Work, roofline
from ._texts import format_memory
from ._wastes import Finding

__all__ = ["Shown", "page"]

_SLICES, _POINTS, _ROWS, _NAMES, _PEAKS, _WORDS = 15_000, 1_000, 60, 2_000, 5, 40


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


def page(shown: Shown) -> bytes:
    """The page, always below 2 MB: of many operations the timeline shows the longest."""
    origin = min((one.start for one in shown.ranges), default=0)
    names: dict[str, int] = {}
    slices = _slices(shown, origin, names)
    rows = roofline(shown.work, shown.limits)[:_ROWS] if shown.limits else []
    peaks = _peaks(shown)
    data = {
        "names": list(names), "slices": slices, "memory": _memory(shown, origin),
        "peaks": [[(when - origin) // 100, size] for when, size, _ in peaks],
        "roof": [[row.name[:80], row.intensity, row.flops] for row in rows if row.flops],
        "limits": list(shown.limits) if shown.limits else [],
    }  # fmt: skip
    parts = {
        "TITLE": html.escape(shown.title), "ADVICE": _advice(shown.findings),
        "KEPT": f"the {len(slices):,} longest of {len(shown.ranges):,}",
        "PHASES": _table(["phase", "ms", "%"], _phases(shown)),
        "OPERATORS": _table(["operation", "calls", "self ms", "%"], _operators(shown)),
        "MODULES": _table(["module", "calls", "ms"], _modules(shown)),
        "PEAKS": _peak_table(peaks), "HOLDERS": _holders(shown.peak),
        "LIMITS": _limits(shown.limits), "ROOF": _roof(rows),
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }  # fmt: skip
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], _TEXT).encode()


def _advice(findings: Sequence[Finding] | None) -> str:
    if findings is None:
        return "<li>Nobody looked: run the program with <code>python -m taeda.profiler</code>.</li>"
    if not findings:
        return "<li>None was found.</li>"
    return "".join(
        f"<li><code>{html.escape(one.place)}</code>: {html.escape(one.text)} "
        f"<i>Gain: {html.escape(one.gain)}.</i></li>"
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


def _memory(shown: Shown, origin: int) -> list[list[int]]:
    """The most of each piece of time."""
    every = max(1, len(shown.curve) // _POINTS)
    pieces = [shown.curve[at : at + every] for at in range(0, len(shown.curve), every)]
    return [[(piece[0][0] - origin) // 100, max(size for _, size, _ in piece)] for piece in pieces]


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
    """Modules within modules, by their classes."""
    sums: defaultdict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    for one in shown.ranges:
        if one.name.startswith("nn.Module: "):
            path = _path(one)
            sums[path][0] += 1
            sums[path][1] += one.end - one.start
    rows = sorted(sums.items())[: 4 * _ROWS]
    return [["\u2003" * (len(path) - 1) + path[-1], c, f"{ns / 1e6:.3f}"] for path, (c, ns) in rows]


def _path(one: Range | None) -> tuple[str, ...]:
    found: list[str] = []
    while one is not None:
        if one.name.startswith("nn.Module: "):
            found.append(one.name.removeprefix("nn.Module: "))
        one = one.parent
    return tuple(reversed(found))


def _table(heads: list[str], rows: list[list[Any]]) -> str:
    head = "".join(f"<th>{html.escape(one)}</th>" for one in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell)[:80])}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


_TEXT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}
h2{margin:1.6em 0 .4em;font-size:1.1em}table{border-collapse:collapse}
th,td{padding:2px 14px 2px 0;text-align:right;border-bottom:1px solid #eee}
td:first-child{max-width:640px;overflow-wrap:anywhere}code{font-size:13px;overflow-wrap:anywhere}
table{margin:.6em 0;font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left;font-family:ui-monospace,monospace;font-size:13px}
canvas{width:100%;border:1px solid #ddd;display:block}li{margin:.4em 0}.note{color:#666;font-size:13px}
</style></head><body><h1>@TITLE@</h1>
<h2>Advice</h2><ul id="advice">@ADVICE@</ul>
<h2>Phases</h2>@PHASES@
<h2>Timeline</h2><p class="note">@KEPT@ ranges. Turn the wheel to zoom, drag to move. <b id="at"></b></p>
<canvas id="line" height="260"></canvas>
<h2>Memory</h2><p class="note">Bytes held by tensors; at most <b id="most"></b>.</p>
<canvas id="memory" height="120"></canvas>@PEAKS@@HOLDERS@
<h2>Roofline</h2><p class="note">@LIMITS@</p>
<canvas id="roof" height="220"></canvas>@ROOF@
<h2>Operations by their own time</h2>@OPERATORS@
<h2>Modules</h2>@MODULES@
<script>const data=@DATA@;
const line=document.getElementById('line'),memory=document.getElementById('memory'),row=16;
const ends=data.slices.map(s=>s[1]+s[2]);let end=1;for(const e of ends)if(e>end)end=e;
let from=0,to=end;
function colour(n){return `hsl(${n*47%360} 60% 70%)`}
function begin(c){c.width=c.clientWidth;const g=c.getContext('2d');g.clearRect(0,0,c.width,c.height);return g}
function draw(){let g=begin(line);const k=line.width/(to-from);g.font='11px sans-serif';
for(const [n,b,l,d] of data.slices){if(b+l<from||b>to)continue;const x=(b-from)*k,w=Math.max(1,l*k);
g.fillStyle=colour(n);g.fillRect(x,d*row,w,row-1);
if(w>40){g.fillStyle='#222';g.save();g.beginPath();g.rect(x,d*row,w-2,row);g.clip();
g.fillText(data.names[n],Math.max(x,0)+2,d*row+11);g.restore()}}
g=begin(memory);let most=1;for(const p of data.memory)if(p[1]>most)most=p[1];
document.getElementById('most').textContent=most.toLocaleString();g.beginPath();g.strokeStyle='#2a6';
data.memory.forEach(([t,b],i)=>{const x=(t-from)*k,y=memory.height*(1-b/most*.95);
i?g.lineTo(x,y):g.moveTo(x,y)});
g.stroke();g.fillStyle='#c33';for(const [t,b] of data.peaks){
g.beginPath();g.arc((t-from)*k,memory.height*(1-b/most*.95),4,0,7);g.fill()}
roof()}
function roof(){const c=document.getElementById('roof');
if(!data.limits.length||!data.roof.length){c.hidden=true;return}
const g=begin(c),[F,B]=data.limits,xs=data.roof.map(r=>r[1]),W=c.width,H=c.height;
const x0=Math.log10(Math.min(.05,...xs.filter(v=>v>0))/2),x1=Math.log10(Math.max(F/B*10,...xs)*2);
const y1=Math.log10(F*2),y0=Math.log10(Math.min(F/1e3,...data.roof.map(r=>r[2])))-.2;
const X=v=>(Math.log10(v)-x0)/(x1-x0)*W,Y=v=>H-(Math.log10(v)-y0)/(y1-y0)*H;
g.strokeStyle='#444';g.beginPath();g.moveTo(X(10**x0),Y(B*10**x0));g.lineTo(X(F/B),Y(F));g.lineTo(W,Y(F));g.stroke();
g.font='11px sans-serif';data.roof.slice(0,20).forEach(([n,i,f],k)=>{g.fillStyle=colour(k);g.beginPath();
g.arc(X(i),Y(f),5,0,7);g.fill();g.fillStyle='#222';const w=g.measureText(n).width;
g.fillText(n,X(i)+8+w>W?X(i)-8-w:X(i)+8,Y(f)+4)})}
line.onwheel=e=>{e.preventDefault();const t=from+e.offsetX/line.width*(to-from),z=e.deltaY>0?1.25:.8;
from=Math.max(0,t-(t-from)*z);to=Math.min(end,t+(to-t)*z);if(to-from<10)to=from+10;draw()};
line.onmousemove=e=>{if(e.buttons){const m=e.movementX/line.width*(to-from);
if(from-m>=0&&to-m<=end){from-=m;to-=m;draw()}return}
const t=from+e.offsetX/line.width*(to-from),d=Math.floor(e.offsetY/row);
const s=data.slices.find(s=>s[3]==d&&s[1]<=t&&s[1]+s[2]>=t);
document.getElementById('at').textContent=s?`${data.names[s[0]]}: ${s[2]/10} us`:''};
onresize=draw;draw();</script></body></html>
"""
