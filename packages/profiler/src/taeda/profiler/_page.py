"""One file of HTML that shows a profile, without any other file or network."""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from typing import Any

from ._advice import advice
from ._collect import Range
from ._watch import Watch

__all__ = ["page"]

_SLICES, _POINTS, _ROWS, _NAMES = 15_000, 1_000, 60, 2_000


def page(watch: Watch, title: str, took: int) -> bytes:
    """The page, always below 2 MB: of many operations the timeline shows the longest."""
    origin = min((one.start for one in watch.ranges), default=0)
    names: dict[str, int] = {}
    slices = _slices(watch, origin, names)
    said = advice(watch)
    wastes = "".join(f"<li>{html.escape(text)}</li>" for text in said) or "<li>None was found.</li>"
    kept = f"the {len(slices):,} longest of {len(watch.ranges):,}"
    data = {"names": list(names), "slices": slices, "memory": _memory(watch, origin)}
    parts = {
        "TITLE": html.escape(title), "ADVICE": wastes, "KEPT": kept,
        "PHASES": _table(["phase", "ms", "%"], _phases(watch, took)),
        "OPERATORS": _table(["operation", "calls", "self ms", "%"], _operators(watch)),
        "MODULES": _table(["module", "calls", "ms"], _modules(watch)),
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }  # fmt: skip
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], _TEXT).encode()


def _slices(watch: Watch, origin: int, names: dict[str, int]) -> list[list[int]]:
    """[name, begin, length, depth] in tenths of microseconds."""
    longest = sorted(watch.ranges, key=lambda one: one.start - one.end)[:_SLICES]
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


def _memory(watch: Watch, origin: int) -> list[list[int]]:
    """The most of each piece of time."""
    every = max(1, len(watch.curve) // _POINTS)
    pieces = [watch.curve[at : at + every] for at in range(0, len(watch.curve), every)]
    return [[(piece[0][0] - origin) // 100, max(size for _, size in piece)] for piece in pieces]


def _self(one: Range) -> int:
    return one.end - one.start - sum(child.end - child.start for child in one.children or ())


def _operators(watch: Watch) -> list[list[Any]]:
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in watch.ranges:
        if one.kind == "cpu_op":
            sums[one.name][0] += 1
            sums[one.name][1] += _self(one)
    total = sum(took for _, took in sums.values()) or 1
    rows = sorted(sums.items(), key=lambda row: -row[1][1])[:_ROWS]
    return [[n, c, f"{took / 1e6:.3f}", f"{100 * took / total:.1f}"] for n, (c, took) in rows]


def _phases(watch: Watch, took: int) -> list[list[str]]:
    """The time of the outermost ranges by what they are, and what lies between them."""
    sums = dict.fromkeys(("forward", "backward", "optimizer", "other operations"), 0)
    for one in watch.ranges:
        if one.parent is None:
            sums[_phase(one)] += one.end - one.start
    sums["Python, loading, waiting"] = max(0, took - sum(sums.values()))
    return [
        [name, f"{ns / 1e6:.1f}", f"{100 * ns / max(1, took):.1f}"] for name, ns in sums.items()
    ]


def _phase(one: Range) -> str:
    if one.name.startswith("nn.Module: "):
        return "forward"
    if one.name.startswith("Optimizer.step#"):
        return "optimizer"
    return "backward" if one.name == "backward" else "other operations"


def _modules(watch: Watch) -> list[list[Any]]:
    """Modules within modules, by their classes."""
    sums: defaultdict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    for one in watch.ranges:
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
th:first-child,td:first-child{text-align:left;font-family:ui-monospace,monospace;font-size:13px}
canvas{width:100%;border:1px solid #ddd;display:block}li{margin:.4em 0}.note{color:#666;font-size:13px}
</style></head><body><h1>@TITLE@</h1>
<h2>Advice</h2><ul id="advice">@ADVICE@</ul>
<h2>Phases</h2>@PHASES@
<h2>Timeline</h2><p class="note">@KEPT@ ranges. Turn the wheel to zoom, drag to move. <b id="at"></b></p>
<canvas id="line" height="260"></canvas>
<h2>Memory</h2><p class="note">Bytes held by tensors; at most <b id="most"></b>.</p>
<canvas id="memory" height="120"></canvas>
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
g.stroke()}
line.onwheel=e=>{e.preventDefault();const t=from+e.offsetX/line.width*(to-from),z=e.deltaY>0?1.25:.8;
from=Math.max(0,t-(t-from)*z);to=Math.min(end,t+(to-t)*z);if(to-from<10)to=from+10;draw()};
line.onmousemove=e=>{if(e.buttons){const m=e.movementX/line.width*(to-from);
if(from-m>=0&&to-m<=end){from-=m;to-=m;draw()}return}
const t=from+e.offsetX/line.width*(to-from),d=Math.floor(e.offsetY/row);
const s=data.slices.find(s=>s[3]==d&&s[1]<=t&&s[1]+s[2]>=t);
document.getElementById('at').textContent=s?`${data.names[s[0]]}: ${s[2]/10} us`:''};
onresize=draw;draw();</script></body></html>
"""
