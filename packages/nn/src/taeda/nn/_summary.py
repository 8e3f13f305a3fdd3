"""`nn.summary`: the tree of a model's layers with what they hold and, for given inputs, what they return."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.programs import tracers

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
    held: int = 0  # bytes of its outputs
    work: int | None = None  # multiply-adds, with those below; None: nobody counts


@dataclass
class Summary:
    """The lines of a model; `str` is a table, a notebook shows a tree that opens."""

    lines: list[_Line]
    parameters: int
    trainable: int
    buffers: int
    bytes: int
    inputs: bool = field(default=False)
    outputs: int = 0  # bytes that layers without layers in them return in one run
    multiply_adds: int | None = None  # of one run; None without inputs, or without taeda-profiler

    def _columns(self) -> list[tuple[str, list[str]]]:
        """Titles with a cell for each line."""
        columns = [("layer", [_label(line) for line in self.lines])]
        if self.inputs:
            columns.append(("output", [line.output for line in self.lines]))
            columns.append(
                ("memory", [_size(line.held) if line.held else "" for line in self.lines])
            )
        if self.multiply_adds is not None:
            work = [f"{line.work:,}" if line.work else "" for line in self.lines]
            columns.append(("multiply-adds", work))
        columns.append(("parameters", [_count(line) for line in self.lines]))
        return columns

    def __str__(self) -> str:
        columns = [
            [
                title,
                *(
                    "  " * line.depth * (not at) + cell
                    for line, cell in zip(self.lines, cells, strict=True)
                ),
            ]
            for at, (title, cells) in enumerate(self._columns())
        ]
        wide = [max(map(len, column)) for column in columns]
        shown = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)).rstrip()
            for row in zip(*columns, strict=True)
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
        text += f", {_size(self.bytes)}"
        if self.inputs:
            text += f"; outputs of layers {_size(self.outputs)}"
        if self.multiply_adds is not None:
            text += f", {self.multiply_adds:,} multiply-adds"
        return text

    def _repr_html_(self) -> str:
        (first, labels), *others = self._columns()
        head = f'<tr><th style="text-align:left">{first}</th>'
        head += "".join(f"<th>{title}</th>" for title, _ in others) + "</tr>"
        body = ""
        for number, line in enumerate(self.lines):
            style = f"text-align:left;padding-left:{1 + 1.5 * line.depth}em"
            cells = "".join(f"<td>{html.escape(column[number])}</td>" for _, column in others)
            body += f'<tr><td style="{style}">{html.escape(labels[number])}</td>{cells}</tr>'
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table><p>{self._totals()}</p>"


def _label(line: _Line) -> str:
    return f"{line.name}: {line.kind}" if line.name else line.kind


def _count(line: _Line) -> str:
    if not line.total and not line.note:
        return ""
    return f"{line.total:,}{' ' + line.note if line.note else ''}"


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
    and without gradients, and every layer's output is shown with its shape and memory; with
    taeda-profiler the multiply-adds of products, convolutions and attention too. A tuple of sizes
    stands for zeros of them. `depth` ends the tree there. Modes and hooks are afterwards what they were.

    Args:
        model: the module.
        *inputs: its arguments: tensors, or tuples of sizes for float zeros; none: it is not run.
        depth: levels of the tree that are shown (None: all).
        **options: its keyword arguments.

    >>> print(summary(taeda.nn.Sequential(taeda.nn.Linear(2, 3), taeda.nn.ReLU()), taeda.ones(4, 2)))
    layer        output  memory    multiply-adds  parameters
    --------------------------------------------------------
    Sequential   [4, 3]  48 bytes  24             9
      0: Linear  [4, 3]  48 bytes  24             9
      1: ReLU    [4, 3]  48 bytes
    --------------------------------------------------------
    9 parameters, 36 bytes; outputs of layers 96 bytes, 24 multiply-adds
    """
    seen: set[int] = set()
    lines: list[_Line] = []
    by_module: dict[Module, list[_Line]] = {}
    _walk(model, "", 0, depth, seen, lines, by_module)
    outputs, work = 0, None
    if inputs or options:
        made = tuple(taeda.zeros(each) if _is_shape(each) else each for each in inputs)
        outputs, work = _run(model, made, options, by_module)
    parameters = {id(p): p for p in model.parameters()}.values()
    buffers = {id(b): b for b in model.buffers()}.values()
    return Summary(
        lines,
        sum(p.numel() for p in parameters),
        sum(p.numel() for p in parameters if p.requires_grad),
        sum(b.numel() for b in buffers),
        sum(t.numel() * t.element_size() for t in (*parameters, *buffers)),
        bool(inputs or options),
        outputs,
        work,
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


def _run(
    model: Module, inputs: Any, options: Any, by_module: dict[Module, list[_Line]]
) -> tuple[int, int | None]:
    """Run it once. Bytes that its innermost layers returned, and its multiply-adds."""
    modes = {module: module.training for module in model.modules()}
    handles: list[Any] = []
    counter = _Counter.made()
    before: list[int] = []
    outputs = 0

    def begin(module: Module, _: Any) -> None:
        before.append(counter.total if counter else 0)

    def note(module: Module, _: Any, output: Any) -> None:
        nonlocal outputs
        held, begun = _bytes(output), before.pop()
        outputs += held if not module._modules else 0
        for line in by_module.get(module, ()):
            line.output, line.held = _shape(output), line.held + held
            if counter is not None:
                line.work = (line.work or 0) + counter.total - begun

    try:
        for module in modes:
            handles.append(module.register_forward_pre_hook(begin))
            handles.append(module.register_forward_hook(note))
        model.eval()
        with taeda.no_grad(), counter or contextlib.nullcontext():
            model(*inputs, **options)
    finally:
        for handle in handles:
            handle.remove()
        for module, training in modes.items():
            module.training = training
    return outputs, counter.total if counter else None


class _Counter:
    """Adds up the multiply-adds of this thread's operations, by the formulas of taeda-profiler."""

    def __init__(self, cost: Callable[[str, tuple[Any, ...], Any], int]) -> None:
        self._cost, self.total = cost, 0

    @classmethod
    def made(cls) -> _Counter | None:
        """None where taeda-profiler is not installed."""
        try:
            from taeda.utils.flop_counter import flops_of  # upward: where it is installed
        except ImportError:
            return None
        return cls(flops_of)

    def __enter__(self) -> _Counter:
        tracers.push(self)
        return self

    def __exit__(self, *raised: object) -> None:
        tracers.remove(self)

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """Run one kernel and count its work."""
        made = run()
        self.total += self._cost(op.partition(".")[0], args, made) // 2
        return made


def _bytes(output: Any) -> int:
    if isinstance(output, Tensor):
        return output.numel() * output.element_size()
    if isinstance(output, dict):
        return sum(map(_bytes, output.values()))
    return sum(map(_bytes, output)) if isinstance(output, (list, tuple)) else 0


def _shape(output: Any) -> str:
    if isinstance(output, Tensor):
        return str(list(output.shape))
    if isinstance(output, dict):
        return "{" + ", ".join(f"{k}: {_shape(v)}" for k, v in output.items()) + "}"
    if isinstance(output, (list, tuple)):
        return f"({', '.join(map(_shape, output))})"
    return type(output).__name__
