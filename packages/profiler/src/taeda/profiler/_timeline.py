"""What memory held, over time, by what it is for.

Categories are those of the recording: a leaf that wants gradients is a parameter, what its `.grad`
is a gradient, what an optimizer keeps is its state; what operations make with a graph is an
activation, within a backward pass a detail of autograd, else temporary; what an operation reads and
none made is an input.
"""

from __future__ import annotations

import base64
import enum
import gzip
import io
import json
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from taeda import Tensor
from taeda._core_api.files import atomic_write
from taeda._core_api.runtime import backward_task

from ._tensors import storage_of, tensors_of

__all__ = ["Action", "Block", "BlockLog", "Category", "write_timeline"]


class Category(enum.Enum):
    """What a block is for."""

    INPUT = 1
    TEMPORARY = 2
    ACTIVATION = 3
    GRADIENT = 4
    AUTOGRAD_DETAIL = 5
    PARAMETER = 6
    OPTIMIZER_STATE = 7


class Action(enum.Enum):
    """What happened to a block."""

    PREEXISTING = 0
    CREATE = 1
    INCREMENT_VERSION = 2
    DESTROY = 3


@dataclass
class Block:
    """Memory from when it was taken to when it was given back."""

    size: int
    taken: int | None  # nanoseconds; None: before the recording
    place: str
    category: Category | None = None
    given: int | None = None  # None: it is still held
    written: tuple[int, ...] = ()  # when an operation changed it


class BlockLog:
    """Every block that was held during a recording. Who records keeps `place` up to date."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.place, self.lost = "", 0
        self._live: dict[int, Block] = {}
        self._leaves: dict[int, weakref.ref[Tensor]] = {}

    def block(self, when: int, address: int, size: int) -> None:
        """One more, or one less; what was there before is not known by its address."""
        if size > 0:
            self._live[address] = made = Block(size, when, self.place)
            self.blocks.append(made)
        elif (held := self._live.pop(address, None)) is not None:
            held.given = when
        else:
            self.blocks.append(Block(-size, None, "", given=when))

    def missed(self, count: int) -> None:
        """The recording is not whole."""
        self.lost += count

    def forget(self) -> None:
        """Blocks that are gone were those of steps to warm up."""
        self.blocks = list(self._live.values())

    # ---- what blocks are for ----

    def operation(self, args: Any, made: Any, graph: bool, when: int) -> None:
        """An operation ran, and what it took was delivered."""
        read = list(tensors_of(args))
        for tensor in read:
            if tensor.requires_grad and tensor.is_leaf:
                self._leaves[id(tensor)] = weakref.ref(tensor)
                self._name(tensor, Category.PARAMETER)
            else:
                self._name(tensor, Category.INPUT, known=False)
        within = backward_task() is not None
        kind = (
            Category.AUTOGRAD_DETAIL
            if within
            else Category.ACTIVATION
            if graph
            else Category.TEMPORARY
        )
        sources = {_address(tensor) for tensor in read}
        for tensor in tensors_of(made):
            block = self._live.get(_address(tensor))
            if block is not None and _address(tensor) in sources:
                block.written += (when,)
            self._name(tensor, kind, known=False)

    def gradients(self) -> None:
        """Gradients of the leaves that were seen are what they are."""
        for known in self._leaves.values():
            tensor = known()
            if tensor is not None and tensor.grad is not None:
                self._name(tensor.grad, Category.GRADIENT)

    def optimizer(self, optimizer: Any) -> None:
        """Its parameters, their gradients and its state are what they are."""
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self._name(parameter, Category.PARAMETER)
                if parameter.grad is not None:
                    self._name(parameter.grad, Category.GRADIENT)
        for state in optimizer.state.values():
            for value in state.values():
                for tensor in tensors_of(value):
                    self._name(tensor, Category.OPTIMIZER_STATE)

    def _name(self, tensor: Tensor, category: Category, known: bool = True) -> None:
        block = self._live.get(_address(tensor))
        if block is not None and (known or block.category is None):
            block.category = category

    # ---- over time ----

    def points(self, begin: int) -> list[tuple[int, Action, int, Category | None]]:
        """(when, what, bytes, category) in order; what was held before is held at `begin`."""
        made = []
        for block in self.blocks:
            taken = Action.CREATE if block.taken is not None else Action.PREEXISTING
            made.append((block.taken or begin, taken, block.size, block.category))
            made += [
                (at, Action.INCREMENT_VERSION, block.size, block.category) for at in block.written
            ]
            if block.given is not None:
                made.append((block.given, Action.DESTROY, block.size, block.category))
        return sorted(made, key=lambda point: point[0])

    def curve(self) -> list[tuple[int, int, str]]:
        """(when, bytes, the line that took or gave the last) of what was taken while recording."""
        changes = []
        for block in self.blocks:
            if block.taken is not None:
                changes.append((block.taken, block.size, block.place))
                if block.given is not None:
                    changes.append((block.given, -block.size, block.place))
        total, made = 0, []
        for when, size, place in sorted(changes, key=lambda change: change[0]):
            total += size
            made.append((when, total, place))
        return made


def _address(tensor: Tensor) -> int:
    storage = storage_of(tensor)
    return -1 if storage is None else storage.data_ptr()


def write_timeline(path: str | os.PathLike[str], log: BlockLog, begin: int, device: str) -> None:
    """Write the timeline in the form that the name asks for: .raw.json.gz, .json.gz, .json, .html."""
    name = os.fspath(path)
    points = log.points(begin) if device.startswith("cpu") else []
    if name.endswith(".raw.json.gz"):
        raw = [(when, act.value, size, cat.value if cat else 0) for when, act, size, cat in points]
        data = gzip.compress(json.dumps(raw).encode(), mtime=0)
    elif name.endswith((".json", ".json.gz")):
        data = json.dumps(_sums(points)).encode()
        data = gzip.compress(data, mtime=0) if name.endswith(".gz") else data
    elif name.endswith(".html"):
        data = _drawn(points, device).encode()
    else:
        raise ValueError(
            f"export_memory_timeline: {name!r} has to end in .html, .json, .json.gz or .raw.json.gz"
        )
    with atomic_write(name) as file:
        file.write(data)


def _sums(points: Sequence[tuple[int, Action, int, Category | None]]) -> list[list[Any]]:
    """[times, sizes]: at each time the bytes of each category, unknown ones first."""
    held = [0] * (len(Category) + 1)
    times: list[int] = []
    sizes: list[list[int]] = []
    for when, action, size, category in points:
        if action is Action.INCREMENT_VERSION:
            continue
        held[category.value if category else 0] += -size if action is Action.DESTROY else size
        if times and times[-1] == when:
            sizes[-1] = list(held)
        else:
            times.append(when)
            sizes.append(list(held))
    return [times, sizes]


_COLOURS = (
    "grey",
    "black",
    "mediumpurple",
    "firebrick",
    "mediumblue",
    "royalblue",
    "darkgreen",
    "goldenrod",
)


def _drawn(points: Sequence[tuple[int, Action, int, Category | None]], device: str) -> str:
    """A page with the plot as a picture in it; needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "export_memory_timeline draws .html with matplotlib, which is not installed: pip install "
            "matplotlib, or write .json"
        ) from error
    times, sizes = _sums(points)
    figure = Figure(figsize=(12, 6), layout="constrained")
    axes = figure.subplots()
    begin = times[0] if times else 0
    labels = ["unknown", *(one.name.lower().replace("_", " ") for one in Category)]
    parts = [[row[k] / 2**20 for row in sizes] for k in range(len(labels))]
    shown = [(at - begin) / 1e6 for at in times]
    axes.stackplot(shown, *parts, labels=labels, colors=_COLOURS, step="post")
    most = max((sum(row) for row in sizes), default=0)
    axes.set(
        xlabel="milliseconds",
        ylabel="MiB",
        title=f"memory of {device}, at most {most / 2**20:.1f} MiB",
    )
    axes.legend(loc="upper left")
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=100)
    encoded = base64.b64encode(picture.getvalue()).decode()
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>memory</title></head>'
        f'<body><img alt="memory by category" src="data:image/png;base64,{encoded}"></body></html>'
    )
