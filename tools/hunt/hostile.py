"""Arguments that nobody means well with. Used by fuzz.py.

Two sources: `draw` takes an op's schema and gives anything to anyone; `spoil` takes a call that is
right (the parity tests have hundreds) and changes dtypes, layouts, values and a shape, which comes
further behind the checks. What they draw depends on `random` alone, so a call can be made again
from its number.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from by_path import load
from hostile_kinds import drawn_kind, of_kind

import taeda
from taeda._native import core
from taeda._table._row import Row
from taeda._table._schema import Argument

__all__ = ["Call", "draw", "spoil", "targets"]

cases = load("packages/core/tests_parity/cases.py")
TABLES = ("POINTWISE", "REDUCTION", "VIEW", "INDEX", "MATMUL", "LAYER")
EXPRESSIONS = [text for name in TABLES for text in cases.expressions(getattr(cases, name))]
INTS = (
    -(2**63),
    -(2**31) - 1,
    -65,
    -3,
    -2,
    -1,
    0,
    0,
    1,
    1,
    2,
    3,
    4,
    7,
    64,
    65,
    2**31,
    2**62,
    2**63 - 1,
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e308, -1e308, math.inf, -math.inf, math.nan)
SCALARS = (*FLOATS, 0, 1, -1, 3, 2**63 - 1, True, False, 1j, complex(math.nan, math.inf))
STRINGS = (
    "",
    "mean",
    "sum",
    "none",
    "tanh",
    "reflect",
    "constant",
    "ij",
    "ij,jk->ik",
    "\0",
    "é",
    "x" * 5000,
)
STRANGERS: tuple[Any, ...] = (
    None,
    "text",
    b"bytes",
    object(),
    [],
    {},
    2**70,
    -(2**70),
    [[1], 2],
    int,
    ...,
)
DTYPES = (
    *(
        "float32",
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
    ),
    *("int64", "int64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"),
)
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 8, 17)
INDICES = ("index", "indices", "target", "repeats", "tensor_indices_or_sections")
OTHERS = (taeda.sparse_coo, taeda.sparse_csr, taeda.sparse_bsc, taeda.jagged)
LAYOUTS = ("plain", "plain", "plain", "transposed", "strided", "offset", "expanded", "overlapping")


@dataclass(frozen=True)
class Near:
    """What the tensors of one call mostly have in common: without that, few calls would come past
    the first check.
    """

    shape: tuple[int, ...]
    dtype: str
    meta: bool
    length: int = 2  # of lists of tensors
    kind: str = ""  # that of most tensors, see hostile_kinds.py
    offsets: list[Any] = field(default_factory=list)  # those that nested tensors share


@dataclass
class Call:
    """One call, ready to be made."""

    path: str
    function: Callable[..., Any]
    args: list[Any]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        words = [spell(value) for value in self.args]
        words += [f"{name}={spell(value)}" for name, value in self.kwargs.items()]
        return f"{self.path}({', '.join(words)})"


def spell(value: Any) -> str:
    """Short text of an argument; a tensor by its facts, because printing it would be a call of its own."""
    if isinstance(value, taeda.Tensor):
        facts = f"{_shape_of(value)}, {str(value.dtype).partition('.')[2]}"
        kind = _kind_of(value)
        if kind:
            facts += f", {kind}"
        elif not value.is_contiguous():
            facts += f", strides {value.stride()}"
        facts += ", meta" if value.device.type == "meta" else ""
        return f"<{facts}{', grad' if value.requires_grad else ''}>"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(spell, value[:8])) + "]"
    return repr(value)[:80]


def _shape_of(x: taeda.Tensor) -> Any:
    """Its shape, or those of the tensors of a nested one that has none."""
    if x.is_nested and x.layout is taeda.strided:
        return [tuple(row.shape) for row in x.unbind()]
    # a number of its own for each ragged size would make one call two
    return tuple(size if type(size) is int else "j" for size in x.shape)


def _kind_of(x: taeda.Tensor) -> str:
    """What a tensor is if it is not plain."""
    if x.layout is not taeda.strided:
        return str(x.layout)
    if x.is_quantized:
        return str(x.qscheme())
    if x.has_names():
        return f"names {x.names}"
    return "" if type(x) in (taeda.Tensor, taeda.nn.Parameter) else type(x).__name__


def targets(row: Row) -> list[tuple[str, Callable[..., Any], bool]]:
    """The ways to reach a row: (path, function, is it in place?)."""
    functions = core.functions.get(row.namespace, {})
    prefix = f"{row.namespace}." if row.namespace else "taeda."
    found: list[tuple[str, Callable[..., Any], bool]] = []
    for name in (row.schema.name, *row.aliases):
        for spelled in (name, f"{name}_"):
            in_place = spelled != name
            if in_place and "inplace" not in row.variants:
                continue
            if spelled in functions and (in_place or "function" in row.variants):
                found.append((prefix + spelled, functions[spelled], in_place))
            if not row.namespace and "method" in row.variants:
                found.append((f"Tensor.{spelled}", getattr(taeda.Tensor, spelled), in_place))
    return found


def draw(row: Row, random: Random) -> Call:
    """A call of `row` with drawn arguments; now and then one is missing, of another type, or too many."""
    path, function, in_place = random.choice(targets(row))
    near = Near(
        _shape(random),
        random.choice(DTYPES),
        random.random() < 0.05,
        random.choice((0, 1, 2, 3, 70)),
        drawn_kind(random),
    )
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for argument in row.schema.arguments:
        if argument.has_default and random.random() < 0.5:
            continue
        value = _value(argument, near, random)
        if argument.keyword_only or kwargs or len(args) < row.schema.arguments.index(argument):
            kwargs[argument.name] = value
        else:
            args.append(value)
    if path.startswith("Tensor.") and not (args and isinstance(args[0], taeda.Tensor)):
        args[:1] = [_tensor(near, random)]
    if "out" in row.variants and not in_place and random.random() < 0.25:
        kwargs["out"] = _out(row, args, near, random)
    if random.random() < 0.02:
        args.append(random.choice(STRANGERS))
    if random.random() < 0.01 and len(args) > 1:
        args.pop()
    return Call(path, function, args, kwargs)


def spoil(text: str, random: Random) -> Call:
    """The call that an expression makes, with inputs that may not fit it."""
    names = [name for name in compile(text, text, "eval").co_names if name in cases.SHAPES]
    kind, offsets = drawn_kind(random), []
    victim = random.choice(names) if names and random.random() < 0.3 else ""
    dtype = random.choice(DTYPES)
    inputs: dict[str, Any] = {}
    for name in names:
        shape = _shape(random) if name == victim else cases.SHAPES[name]
        near = Near(
            shape, {"b": "bool", "i": "int64"}.get(name, dtype), False, kind=kind, offsets=offsets
        )
        inputs[name] = (
            _indices(near, random) if name == "i" else _tensor(near, random, certain=0.95)
        )
    space = {"t": taeda, "F": taeda.nn.functional, **inputs}
    return Call(text, lambda **same: eval(text, {**space, **same}), [], inputs)


def _indices(near: Near, random: Random) -> taeda.Tensor:
    """Mostly small numbers of an integer type, in the shape of the others; now and then one out of
    every bound.
    """
    generator = np.random.default_rng(random.getrandbits(32))
    values = generator.integers(-1 if random.random() < 0.1 else 0, 3, near.shape)
    if values.size and random.random() < 0.1:
        values.reshape(-1)[0] = random.choice(INTS)
    x = taeda.from_numpy(
        values.astype(random.choice(("int64", "int64", "int64", "int32", "uint8")))
    )
    return _laid_out(x, random)


def _out(row: Row, args: list[Any], near: Near, random: Random) -> Any:
    """A target: fresh, of the wrong kind, or the very input."""
    count = len(row.schema.returns)
    mine = [value for value in args if isinstance(value, taeda.Tensor)]
    made = [
        random.choice(mine) if mine and random.random() < 0.4 else _tensor(near, random)
        for _ in range(count)
    ]
    return made[0] if count == 1 else tuple(made)


def _value(argument: Argument, near: Near, random: Random) -> Any:
    if random.random() < 0.02:
        return random.choice(STRANGERS)
    if (argument.optional and random.random() < 0.3) or (
        argument.element_optional and random.random() < 0.1
    ):
        return None
    if argument.is_list:
        common = near.length if argument.base != "int" else argument.length
        length = (
            common if common and random.random() < 0.8 else random.choice((0, 1, 2, 3, 4, 5, 70))
        )
        if argument.base == "int" and argument.length and random.random() < 0.2:
            return _one(argument, near, random)
        return [_one(argument, near, random) for _ in range(length)]
    return _one(argument, near, random)


def _one(argument: Argument, near: Near, random: Random) -> Any:
    match argument.base:
        case "Tensor":
            if argument.name in INDICES and random.random() < 0.8:
                return _indices(near, random)
            return _tensor(near, random)
        case "int" | "SymInt":
            return random.choice(INTS) if random.random() < 0.3 else random.randint(-3, 4)
        case "float":
            return random.choice(FLOATS)
        case "Scalar":
            return random.choice(SCALARS)
        case "bool":
            return random.random() < 0.5
        case "str":
            return random.choice(STRINGS)
        case "ScalarType":
            return getattr(taeda, random.choice(DTYPES))
        case "Device":
            return random.choice(("cpu", "meta", "cuda", "cpu:0", "nowhere", taeda.device("cpu")))
        case "MemoryFormat":
            return random.choice(
                (taeda.contiguous_format, taeda.preserve_format, taeda.channels_last)
            )
        case "Layout":
            return taeda.strided if random.random() < 0.8 else random.choice(OTHERS)
        case "Generator":
            return taeda.Generator()
    raise ValueError(f"no values for arguments of type {argument.base}")


def _shape(random: Random) -> tuple[int, ...]:
    if random.random() < 0.02:
        return (1,) * random.choice((20, 63, 64))
    return tuple(
        random.choice(SIZES) for _ in range(random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5)))
    )


def _tensor(near: Near, random: Random, certain: float = 0.75) -> taeda.Tensor:
    """A tensor whose shape and dtype are, as likely as `certain`, what its neighbours have."""
    shape = near.shape if random.random() < certain else _shape(random)
    dtype = near.dtype if random.random() < certain else random.choice(DTYPES)
    if random.random() < 0.6 * (1 - certain):
        shape = tuple(1 if random.random() < 0.4 else size for size in shape)
    if math.prod(shape) > 20_000:
        shape = shape[:2]
    if near.meta or random.random() < 0.01:
        return _on_meta(shape, dtype, random)
    x = _laid_out(_filled(shape, dtype, random), random)
    if x.is_complex() and random.random() < 0.2:
        x = x.conj()
    if near.kind and random.random() < 0.8:
        try:
            x = of_kind(x, near, random)
        except (NotImplementedError, TypeError):
            return x  # a dtype that the kind does not take
    if (x.is_floating_point() or x.is_complex()) and random.random() < 0.3:
        x = x.detach().requires_grad_()
    return x


def _filled(shape: tuple[int, ...], dtype: str, random: Random) -> taeda.Tensor:
    """Ordinary, small-integer or special values in any dtype."""
    generator = np.random.default_rng(random.getrandbits(32))
    kind = random.random()
    values = (
        generator.standard_normal(shape)
        if kind < 0.5
        else generator.integers(-2, 5, shape).astype(float)
    )
    if kind > 0.85 and values.size:
        flat = values.reshape(-1)
        flat[generator.integers(0, flat.size, max(1, flat.size // 3))] = random.choice(FLOATS)
    with np.errstate(all="ignore"):
        return taeda.from_numpy(np.array(values, dtype=getattr(ml_dtypes, dtype, dtype)))


def _laid_out(x: taeda.Tensor, random: Random) -> taeda.Tensor:
    layout = random.choice(LAYOUTS)
    if x.dim() == 0:
        return x
    if layout == "transposed":
        order = list(range(x.dim()))
        random.shuffle(order)
        return x.permute(order)
    if layout == "strided":
        return x[tuple(slice(None, None, random.choice((1, 2))) for _ in range(x.dim()))]
    if layout == "offset":
        return x[1:]
    if layout == "expanded":
        return x[:1].expand(x.shape) if x.shape[0] else x
    if layout == "overlapping" and x.numel() > 3:
        return x.contiguous().as_strided((x.numel() // 2, 2), (1, 1))
    return x


def _on_meta(shape: tuple[int, ...], dtype: str, random: Random) -> taeda.Tensor:
    """A shape without memory; sometimes one that no memory could hold."""
    x = taeda.empty(shape, device="meta", dtype=getattr(taeda, dtype))
    if x.dim() < 60 and random.random() < 0.3:
        x = x.unsqueeze(-1).expand((*x.shape, 2**40))
    return x
