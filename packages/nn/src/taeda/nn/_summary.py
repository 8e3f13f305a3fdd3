"""`nn.summary`: the tree of a model's layers with what they hold and, for given inputs, what they return."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda import Tensor

from .modules.module import Module

__all__ = ["Summary", "summary"]


@dataclass
class _Line:
    """A layer: where, of what kind, and the numbers of what it holds itself."""

    depth: int
    name: str
    kind: str
    own: int
    total: int
    note: str
    output: str = ""


@dataclass
class Summary:
    """The lines of a model; `str` is a table, a notebook shows a tree that opens."""

    lines: list[_Line]
    parameters: int
    trainable: int
    buffers: int
    bytes: int
    inputs: bool = field(default=False)

    def __str__(self) -> str:
        rows = [("layer", "output", "parameters")]
        for line in self.lines:
            label = f"{'  ' * line.depth}{line.name}: {line.kind}" if line.name else line.kind
            count = (
                f"{line.total:,}{' ' + line.note if line.note else ''}"
                if line.total or line.note
                else ""
            )
            rows.append((label, line.output, count))
        keep = (0, 1, 2) if self.inputs else (0, 2)
        widths = [max(len(row[i]) for row in rows) for i in keep]
        shown = [
            "  ".join(row[i].ljust(w) for i, w in zip(keep, widths, strict=True)).rstrip()
            for row in rows
        ]
        rule = "-" * max(map(len, shown))
        return "\n".join([shown[0], rule, *shown[1:], rule, self._totals()])

    __repr__ = __str__

    def _totals(self) -> str:
        frozen = self.parameters - self.trainable
        text = f"{self.parameters:,} parameters"
        if frozen:
            text += f" ({frozen:,} of them frozen)"
        if self.buffers:
            text += f", {self.buffers:,} numbers in buffers"
        return f"{text}, {_size(self.bytes)}"

    def _repr_html_(self) -> str:
        head = (
            '<tr><th style="text-align:left">layer</th>'
            + "<th>output</th>" * self.inputs
            + "<th>parameters</th></tr>"
        )
        body = ""
        for line in self.lines:
            label = f"{line.name}: {line.kind}" if line.name else line.kind
            cell = (
                "<td "
                f'style="text-align:left;padding-left:{1 + 1.5 * line.depth}em">{html.escape(label)}</td>'
            )
            output = f"<td>{html.escape(line.output)}</td>" if self.inputs else ""
            body += f"<tr>{cell}{output}<td>{line.total:,} {html.escape(line.note)}</td></tr>"
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table><p>{self._totals()}</p>"


def _size(count: int) -> str:
    """A number of bytes in a unit in which it can be read."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.2f} {unit}"
    return f"{count} bytes"


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(type(size) is int for size in value)


def summary(model: Module, *inputs: Any, depth: int | None = None, **options: Any) -> Summary:
    """The layers of `model` with the numbers of their parameters; a parameter that several share
    counts once, where it comes first.

    With `inputs` (and `options`, which the model gets as keywords) it is run once, in evaluation
    and without gradients, and every layer's output shape is shown. A tuple of sizes stands for
    zeros of them. `depth` ends the tree there. Modes and hooks are afterwards what they were.

    >>> print(summary(taeda.nn.Sequential(taeda.nn.Linear(2, 3), taeda.nn.ReLU()), taeda.ones(4, 2)))
    layer        output  parameters
    -------------------------------
    Sequential   [4, 3]  9
      0: Linear  [4, 3]  9
      1: ReLU    [4, 3]
    -------------------------------
    9 parameters, 36 bytes
    """
    seen: set[int] = set()
    lines: list[_Line] = []
    by_module: dict[Module, list[_Line]] = {}
    _walk(model, "", 0, depth, seen, lines, by_module)
    if inputs or options:
        made = tuple(taeda.zeros(each) if _is_shape(each) else each for each in inputs)
        _run(model, made, options, by_module)
    parameters = {id(p): p for p in model.parameters()}.values()
    buffers = {id(b): b for b in model.buffers()}.values()
    return Summary(
        lines,
        sum(p.numel() for p in parameters),
        sum(p.numel() for p in parameters if p.requires_grad),
        sum(b.numel() for b in buffers),
        sum(t.numel() * t.element_size() for t in (*parameters, *buffers)),
        bool(inputs or options),
    )


def _walk(
    module: Module,
    name: str,
    level: int,
    depth: int | None,
    seen: set[int],
    lines: list[_Line],
    by_module: dict[Module, list[_Line]],
) -> int:
    """Add the lines of a module and of those below; return how many numbers came with it."""
    fresh = [p for p in module._parameters.values() if p is not None and id(p) not in seen]
    shared = any(p is not None and id(p) in seen for p in module._parameters.values())
    seen.update(map(id, fresh))
    own = sum(p.numel() for p in fresh)
    line = _Line(level, name, type(module).__name__, own, own, "shared" if shared else "")
    if depth is None or level <= depth:
        lines.append(line)
        by_module.setdefault(module, []).append(line)
    frozen = bool(fresh) and not any(p.requires_grad for p in fresh)
    for key, child in module._modules.items():
        if child is not None:
            line.total += _walk(child, key, level + 1, depth, seen, lines, by_module)
    line.note = line.note or ("frozen" if frozen else "")
    return line.total


def _run(model: Module, inputs: Any, options: Any, by_module: dict[Module, list[_Line]]) -> None:
    modes = {module: module.training for module in model.modules()}
    handles = []

    def note(module: Module, _: Any, output: Any) -> None:
        for line in by_module[module]:
            line.output = _shape(output)

    try:
        handles += [module.register_forward_hook(note) for module in by_module]
        model.eval()
        with taeda.no_grad():
            model(*inputs, **options)
    finally:
        for handle in handles:
            handle.remove()
        for module, training in modes.items():
            module.training = training


def _shape(output: Any) -> str:
    if isinstance(output, Tensor):
        return str(list(output.shape))
    if isinstance(output, dict):
        return "{" + ", ".join(f"{k}: {_shape(v)}" for k, v in output.items()) + "}"
    if isinstance(output, (list, tuple)):
        return f"({', '.join(map(_shape, output))})"
    return type(output).__name__
