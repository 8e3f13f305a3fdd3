"""How many arguments of public functions and classes their docstrings describe, module by module.

    python tools/hold/arguments.py                      a line for each module; the exit status is 1
                                                   where one is below its floor
    python tools/hold/arguments.py --open taeda.fft     the arguments of a module that nobody describes

An argument is described by an entry `name: text`, or `name, other: text`, in the block `Args:` of
the docstring of its function, or of its class or the class's `__init__`. What operations with
overloads of several forms take (`*args, **kwargs`) is held by core's tests of its table.
"""

from __future__ import annotations

import argparse
import enum
import importlib
import inspect
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["FLOORS", "Count", "count", "described", "parameters", "undescribed"]

#: the least share of each module in percent
FLOORS: dict[str, float] = {
    "taeda": 100,
    "taeda.Tensor": 100,
    "taeda.linalg": 100,
    "taeda.fft": 100,
    "taeda.special": 100,
    "taeda.nn.functional": 100,
    "taeda.nn": 100,
    "taeda.nn.init": 100,
    "taeda.nn.utils": 100,
    "taeda.nn.utils.rnn": 100,
    "taeda.nn.utils.parametrize": 100,
    "taeda.nn.utils.parametrizations": 100,
    "taeda.nn.utils.prune": 100,
    "taeda.nn.parallel": 100,
    "taeda.nn.attention": 100,
    "taeda.optim": 100,
    "taeda.optim.lr_scheduler": 100,
    "taeda.optim.swa_utils": 100,
    "taeda.utils.data": 100,
    "taeda.utils.checkpoint": 100,
    "taeda.autograd": 100,
    "taeda.autograd.functional": 100,
    "taeda.func": 100,
    "taeda.amp": 100,
    "taeda.distributions": 100,
    "taeda.distributions.transforms": 100,
    "taeda.distributions.constraints": 100,
    "taeda.distributed": 100,
    "taeda.distributed.device_mesh": 100,
    "taeda.distributed.fsdp": 100,
    "taeda.distributed.tensor": 100,
    "taeda.distributed.tensor.parallel": 100,
    "taeda.distributed.checkpoint": 100,
    "taeda.distributed.checkpoint.state_dict": 100,
    "taeda.distributed.optim": 100,
    "taeda.distributed.nn.functional": 100,
    "taeda.compiler": 100,
    "taeda.sparse": 100,
    "taeda.nested": 100,
    "taeda.masked": 100,
    "taeda.export": 100,
    "taeda.onnx": 100,
    "taeda.profiler": 100,
    "taeda.quantization": 100,
    "taeda.monitor": 100,
    "taeda.monitor.Stat": 100,
    "taeda.utils.tensorboard": 100,
    "taeda.utils.tensorboard.FileWriter": 100,
    "taeda.utils.tensorboard.SummaryWriter": 100,
    "taeda.ao.nn.intrinsic": 100,
    "taeda.ao.nn.intrinsic.qat": 100,
    "taeda.ao.nn.intrinsic.quantized": 100,
    "taeda.ao.nn.qat": 100,
    "taeda.ao.nn.qat.dynamic": 100,
    "taeda.ao.nn.quantizable": 100,
    "taeda.ao.nn.quantized": 100,
    "taeda.ao.nn.quantized.dynamic": 100,
    "taeda.ao.nn.quantized.functional": 100,
    "taeda.ao.quantization": 100,
    "taeda.ao.quantization.backend_config": 100,
    "taeda.fx": 100,
    "taeda.jit": 100,
    "taeda.library": 100,
    "taeda.utils.cpp_extension": 100,
    "taeda.cuda": 100,
    "taeda.serialization": 100,
    "taeda.cuda.amp": 100,
    "taeda.cuda.comm": 100,
    "taeda.cuda.gds": 100,
    "taeda.cuda.jiterator": 100,
    "taeda.cuda.memory": 100,
    "taeda.cuda.nvtx": 100,
    "taeda.cuda.random": 100,
    "taeda.cuda.streams": 100,
    "taeda.cuda.tunable": 100,
    "taeda.cuda.warm": 100,
    "taeda.signal.windows": 100,
}

#: kinds of classes whose arguments nobody passes, and why
NOT_CALLED = {
    enum.Enum: "members are named, not made",
    BaseException: "raised by the library, caught by users",
}
#: names of `*` and `**` arguments that a signature only passes on
PASSED_ON = {"args", "kwargs", "inputs", "options", "keywords"}
#: names whose arguments need no text, and why
REASONS = {
    r"\w+Storage": "a storage comes from a tensor",
    r"(\w+)?Tensor": "a type of tensors: made by `tensor`, asked by `isinstance`",
    r"SymInt|SymFloat|SymBool": "made by the tracer",
}


@dataclass(frozen=True)
class Count:
    """Arguments of a module, and those that are described."""

    described: int
    all: int

    @property
    def share(self) -> float:
        return 100.0 * self.described / self.all if self.all else 100.0


def described(text: str) -> set[str]:
    """The names with an entry in the blocks `Args:` of a docstring.

    >>> sorted(described("Args:\\n    a, b: terms:\\n        x: y\\n    *c: more\\n\\nThe end."))
    ['a', 'b', 'c']
    """
    found: set[str] = set()
    inside: int | None = None  # the indentation of the entries of a block, -1 before the first
    head = 0
    for line in inspect.cleandoc(text).splitlines():
        depth = len(line) - len(line.lstrip())
        if line.strip() == "Args:":
            inside, head = -1, depth
        elif inside is not None and line.strip():
            if depth <= head:
                inside = None
                continue
            inside = depth if inside == -1 else inside
            entry = re.match(r"\s*(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: \([^)]*\))?: \S", line)
            if entry and depth == inside:
                found |= set(re.findall(r"\w+", entry[1]))
    return found


def parameters(value: Any) -> list[str]:
    """The names of what a caller gives; nothing for what has no signature."""
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError):
        return []
    names = []
    for parameter in signature.parameters.values():
        many = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        passed_on = many and parameter.name in PASSED_ON
        if parameter.name not in ("self", "cls") and parameter.name[0] != "_" and not passed_on:
            names.append(parameter.name)
    return names


def undescribed(value: Any) -> tuple[list[str], int]:
    """The arguments of a function or class without an entry, and how many there are."""
    text = inspect.getdoc(value) or ""
    if inspect.isclass(value):
        text += "\n\n" + (inspect.getdoc(value.__init__) or "")
    names, known = parameters(value), described(text)
    return [name for name in names if name not in known], len(names)


def members(module: types.ModuleType | type) -> Iterator[tuple[str, Any]]:
    """The public functions and classes of a module, or the methods of a class."""
    names = getattr(module, "__all__", None) or [n for n in dir(module) if n[0] != "_"]
    for name in names:
        value = getattr(module, name, None)
        ours = inspect.isclass(module) or (getattr(value, "__module__", "") or "").startswith(
            "taeda"
        )
        if callable(value) and ours and not excused(name, value):
            yield name, value


def excused(name: str, value: Any) -> bool:
    """Whether nobody calls it: see `NOT_CALLED` and `REASONS`."""
    if not inspect.isclass(value):
        return False
    return issubclass(value, tuple(NOT_CALLED)) or any(re.fullmatch(r, name) for r in REASONS)


def place(name: str) -> types.ModuleType | type:
    """A module, or a class in one."""
    above, _, last = name.rpartition(".")
    if last[:1].isupper():
        found: type = getattr(importlib.import_module(above), last)
        return found
    return importlib.import_module(name)


def count(name: str) -> tuple[Count, list[str]]:
    """The figures of a module, and its arguments without a text as `function.argument`."""
    silent, total = [], 0
    for member, value in members(place(name)):
        names, number = undescribed(value)
        silent += [f"{member}.{argument}" for argument in names]
        total += number
    return Count(total - len(silent), total), silent


def main() -> int:
    """Print the figures; 1 where a module is below its floor."""
    parser = argparse.ArgumentParser(description="How many arguments are described.")
    parser.add_argument("--open", metavar="MODULE", help="name those that are not")
    asked = parser.parse_args().open
    if asked:
        print(*count(asked)[1], sep="\n")
        return 0
    below = 0
    for name, floor in FLOORS.items():
        found, silent = count(name)
        wrong = found.share < floor
        below += wrong
        told = f"  below its floor: {', '.join(silent[:5])}" if wrong else ""
        print(
            f"{name:40} {found.described:5} of {found.all:5}  {found.share:5.1f} %, at least {floor:g}{told}"
        )
    return int(below > 0)


if __name__ == "__main__":
    sys.exit(main())
