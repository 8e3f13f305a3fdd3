"""Expressions drawn at random, by family: a text, the tensors that it names, and whether gradients
are compared.

`parity.compare` takes them. What is known to differ, and documented, is not drawn: comments say what.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

Drawn = tuple[str, dict[str, torch.Tensor], bool]

REAL = ("float32", "float64", "bfloat16", "float16")
WHOLE = ("int64", "int32", "int16", "int8", "uint8", "bool")
COMPLEX = ("complex64", "complex128")
DTYPES = REAL + WHOLE + COMPLEX


# ---- tensors ----


def numbers(r: random.Random, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    """Small multiples of a quarter, which every floating-point dtype holds; nothing negative for
    unsigned ones.
    """
    low = 0 if dtype in ("uint8", "bool") else -6
    data = [r.randint(low, 6) for _ in range(torch.Size(shape).numel())]
    x = torch.tensor(data, dtype=torch.float64).reshape(shape)
    if dtype in COMPLEX:
        return torch.complex(x / 2, x.flip(0) if x.dim() else x).to(getattr(torch, dtype))
    return (x / 4 if dtype in REAL else x).to(getattr(torch, dtype))


def distinct(r: random.Random, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    """No two elements equal, so that an order has one answer."""
    count = torch.Size(shape).numel()
    data = r.sample(range(-count // 2, count - count // 2), count)
    return torch.tensor(data, dtype=getattr(torch, dtype)).reshape(shape)


def lay_out(r: random.Random, x: torch.Tensor, *, expand: bool = True) -> torch.Tensor:
    """The same numbers with other strides, now and then repeated with stride 0."""
    kind = r.choice(("plain", "plain", "turned", "stepped", "offset", "expanded"))
    if kind == "turned" and x.dim() > 1:
        order = r.sample(range(x.dim()), x.dim())
        return x.permute(order).contiguous().permute([order.index(i) for i in range(x.dim())])
    if kind == "stepped" and x.dim():
        dim = r.randrange(x.dim())
        return x.repeat_interleave(2, dim)[(slice(None),) * dim + (slice(None, None, 2),)]
    if kind == "offset" and x.dim() and x.numel():
        return torch.cat([x[:1], x])[1:]
    if kind == "expanded" and expand and x.dim() and x.shape[0]:
        return x[:1].expand(x.shape)
    return x


def shape(r: random.Random, low: int, high: int, sizes: str) -> tuple[int, ...]:
    return tuple(int(r.choice(sizes)) for _ in range(r.randint(low, high)))


# ---- indexing ----


def _slice(r: random.Random, size: int) -> str:
    def end() -> str:
        return r.choice(("", "", str(r.randint(-size - 1, size + 1))))

    steps = (":-1", ":0") if r.random() < 0.03 else ("", "", ":1", ":2", ":3")
    return f"{end()}:{end()}{r.choice(steps)}"


def _part(r: random.Random, size: int, broadcast: int) -> str:
    """Something that indexes one dimension; index tensors have `broadcast` columns or one element."""
    kind = r.choice(("slice", "slice", "int", "list", "tensor", "zero", "matrix", "mask"))
    if kind == "slice" or size == 0:
        return _slice(r, size)

    def one() -> int:
        return r.randint(-size, size - 1) if r.random() < 0.98 else size

    row = [one() for _ in range(broadcast)]
    short = r.choice(("", "", ", dtype=t.int32"))
    return {
        "int": str(one()),
        "list": str(r.choice((row, [one()]))),
        "mask": f"t.tensor({[r.random() < 0.5 for _ in range(size)]})",
        "zero": f"t.tensor({one()})",
        "tensor": f"t.tensor({row}{short})",
        "matrix": f"t.tensor({[row, [one() for _ in row]]}{short})",
    }[kind]


def index(r: random.Random, sizes: tuple[int, ...]) -> str:
    """What stands between the brackets, now and then something wrong."""
    if r.random() < 0.05:
        return r.choice(("...", "None", "()", "True", "t.tensor(True)", "x > 0"))
    broadcast, used = r.randint(1, 3), r.randint(0, len(sizes))
    parts = [_part(r, size, broadcast) for size in sizes[:used]]
    if r.random() < 0.4:  # what follows an ellipsis counts from the end
        at = r.randint(0, used)
        last = sizes[len(sizes) - (used - at) :]
        parts = [*parts[:at], "...", *(_part(r, size, broadcast) for size in last)]
    for _ in range(r.choice((0, 0, 1, 2))):
        parts.insert(r.randint(0, len(parts)), r.choice(("None", "None", "True")))
    return ", ".join(parts) + ("," if len(parts) == 1 else "") if parts else "()"


def _selected(where: str, x: torch.Tensor) -> torch.Tensor | None:
    """The entry in torch, None if the index is wrong."""
    try:
        return eval(f"x[{where}]", {"x": x, "t": torch})
    except (IndexError, ValueError, TypeError, RuntimeError):
        return None


def _indexed(r: random.Random, sizes: tuple[int, ...], dtype: str) -> tuple[torch.Tensor, str]:
    x = lay_out(r, numbers(r, sizes, dtype))
    where = index(r, sizes)
    found = _selected(where, x)
    # torch does not look at indices where nothing is selected; we refuse those out of bounds
    return x, "..." if found is not None and not found.numel() else where


def getitem(r: random.Random) -> Drawn:
    dtype = r.choice(("float32", "float64", "int64", "bool"))
    x, where = _indexed(r, shape(r, 1, 4, "0123345"), dtype)
    return f"x[{where}]", {"x": x}, True


def setitem(r: random.Random) -> Drawn:
    dtype = r.choice(("float32", "float64", "int64", "bool"))
    x, where = _indexed(r, shape(r, 1, 3, "0123345"), dtype)
    value = r.choice(("2", "1.5", "True", "v", "v"))
    # an index that names a place twice takes either value: there they are all the same
    v = numbers(r, (1,), dtype)
    found = _selected(where, x)
    if found is not None and not any(word in where for word in ("tensor", "[", "x >")):
        v = lay_out(r, numbers(r, tuple(found.shape[r.randint(0, found.dim()) :]), dtype))
    return f"[y := x.clone(), y.__setitem__(({where}), {value})][0]", {"x": x, "v": v}, True


# ---- promotion ----

PAIRS = (
    ("x + "
    "y"), "x - y", "x * y", "x / y", "x ** y", "x // y", "x % y", "x == y", "x < y", "x & y",
    "t.maximum(x, y)", "t.where(m, x, y)",
    ("t.cat([x.reshape(-1), "
    "y.reshape(-1)])"), "t.stack([x, y])", "t.atan2(x, y)", "t.add(x, y, alpha=2)", "x.clone().add_(y)",
    "x.clone().mul_(y)", "x.clone().div_(y)", "x.clone().copy_(y)", "t.result_type(x, y)",
    "t.lerp(x, y, 0.5)", "t.addcmul(x, x, y)",
    ("t.fmod(x, "
    "y)"), "t.logical_or(x, y)", "x.clone().pow_(y)", "t.clamp(x, min=y)", "x.masked_fill(m, 2)",
    "t.isclose(x, y)",
    ("t.add(x, y, out=t.empty(0, "
    "dtype=t.float64))"), "t.bitwise_left_shift(x, y)", "t.dot(x.reshape(-1), y.reshape(-1))",
    ("t.masked_select(x, "
    "m)"), "t.hypot(x, y)", "t.gcd(x, y)", "t.floor_divide(x, y)", "t.mm(x.reshape(1, -1), y.reshape(-1, 1))",
)  # fmt: skip


def promotion(r: random.Random) -> Drawn:
    text, one, other = r.choice(PAIRS), r.choice(DTYPES), r.choice(DTYPES)
    if "clamp" in text and one == other == "bool":
        one = other = "int8"
    if "pow" in text or "**" in text:  # zero to the power zero is NaN in torch's complex numbers
        one, other = (r.choice(REAL + WHOLE[:-1]) for _ in "xy")
    elif {one, other} & set(COMPLEX) and "float16" in (one, other):  # numpy has no complex32
        one = other
    left, right = r.choice((((3,), (3,)), ((3,), ()), ((), (3,)), ((), ())))
    names = {"x": numbers(r, left, one), "y": numbers(r, right, other)}
    names["m"] = torch.tensor([True, False, True])
    if text.startswith("x ") and r.random() < 0.3:
        # an unsigned 0-dim tensor compares with a negative number as with a large one
        text = text.replace("y", r.choice(("2", "2.5", "3", "0.5") + ("-1",) * (one != "uint8")))
    # between dtypes, gradients are of either's precision
    return text, names, one == other


# ---- reductions ----

ORDERED = (
    "median",
    "nanmedian",
    "mode",
    "max",
    "min",
    "argmax",
    "argmin",
    "aminmax",
    "cummax",
    "sort",
    "argsort",
    "amax",
    "amin",
)
SUMMED = ("sum", "mean", "prod", "any", "all", "var", "std", "logsumexp", "norm", "count_nonzero",
          "nansum", "cumsum", "cumprod", "softmax",
          "var_mean", "linalg.vector_norm", "flip", "diff", "unique")  # fmt: skip
ONE_DIM = {*ORDERED, "prod", "cumsum", "cumprod", "softmax", "unique", "diff"} - {"amax", "amin"}
NEEDS_DIM = {
    "cumsum",
    "cumprod",
    "softmax",
    "cummax",
    "logsumexp",
    "flip",
    "aminmax",
    "amax",
    "amin",
}
NO_KEEPDIM = {
    "cumsum",
    "cumprod",
    "softmax",
    "cummax",
    "sort",
    "argsort",
    "count_nonzero",
    "unique",
    "flip",
    "diff",
}
TYPED = {"sum", "mean", "prod", "nansum", "cumsum", "cumprod"}


def reduction(r: random.Random) -> Drawn:
    name = r.choice(ORDERED + SUMMED)
    ordered = name in ORDERED
    sizes = shape(r, name == "unique", 4, "012334")
    dtype = r.choice(
        ("float32", "float64", "int64", "int32")
        if ordered or name == "softmax"
        else ("float32", "float64", "int64", "uint8", "bool", "bfloat16", "complex64")
    )
    if name == "softmax":  # torch takes an empty tensor of integers
        dtype = "float64"
    x = lay_out(
        r, distinct(r, sizes, dtype) if ordered else numbers(r, sizes, dtype), expand=not ordered
    )
    words, dim, rank = [], "", max(1, len(sizes))
    if name in NEEDS_DIM or r.random() < 0.8:
        wrong = name in ("sum", "amax") and r.random() < 0.1
        dim = str(rank if wrong else r.randint(-rank, rank - 1))
        # the empty tuple has several meanings
        if name not in ONE_DIM and sizes and r.random() < 0.5:
            dim = str(tuple(r.sample(range(rank), r.randint(1, rank))))
        words.append(f"{'dims' if name == 'flip' else 'dim'}={dim}")
        if name not in NO_KEEPDIM and r.random() < 0.5:
            words.append("keepdim=True")
    if name in TYPED and dim != str(rank) and r.random() < 0.4:
        words.append(
            f"dtype=t.{r.choice(('float32', 'float64') if dtype != 'complex64' else COMPLEX)}"
        )
    if name in ("var", "std", "var_mean") and r.random() < 0.5:
        words.append(f"correction={r.choice((0, 1))}")
    if name == "norm":
        words.insert(0, r.choice(("2", "1", "0.5", *(["float('inf')"] if 0 not in sizes else []))))
    gradient = name != "unique" and not (name in TYPED and "dtype" in str(words))
    return f"t.{name}(x{''.join(', ' + w for w in words)})", {"x": x}, gradient


# ---- casts and the like ----

CASTS = (
    "x.to({d})", "x.type({d})", "x.view({d})", "t.zeros(x.shape, dtype={d}).copy_(x)", "x.float()",
    "x.long()", "x.bool()", "x.half()",
    "x.tolist()", "x.to({d}, copy=True)", "x.to(y)", "x.type_as(y)",
    "t.tensor(x.tolist(), dtype={d})", "t.can_cast(x.dtype, {d})",
    ("t.promote_types(x.dtype, "
    "{d})"), "x.clone(memory_format=t.contiguous_format)", "t.zeros_like(x, dtype=y.dtype)",
    "x.data", "x.nbytes",
    ("x.new_full((2,), 1, "
    "dtype={d})"), "x.view({d}).view(x.dtype)", "x.element_size()", "x.is_signed()", "t.full_like(x, 1.0)",
    "x.reshape(-1)", "x.flatten()", "x.squeeze()", "x.unsqueeze(0)", "x.ravel()", "x.t()", "x.mT",
    "x.is_contiguous()",
    ("x.expand(2, "
    "*x.shape)"), "x.repeat(2, *([1] * x.dim()))", "t.as_tensor(x, dtype={d})",
    "t.tensor(3.7, dtype={d})", "x.ne(0).to({d})",
)  # fmt: skip


def cast(r: random.Random) -> Drawn:
    one, other = r.choice(DTYPES), r.choice(DTYPES)
    x = lay_out(r, numbers(r, shape(r, 0, 3, "01234"), one))
    x = x.clone() if x.storage_offset() else x  # which the copy for the other library has not
    return (
        r.choice(CASTS).replace("{d}", f"t.{other}"),
        {"x": x, "y": numbers(r, (2,), other)},
        True,
    )


# ---- einsum ----


def einsum(r: random.Random) -> Drawn:
    size = {letter: r.choice((1, 2, 3)) for letter in "abcdeK"}
    terms, names = [], {}
    for name in "xyz"[: r.randint(1, 3)]:
        term, dots = r.choices("abcdeK", k=r.randint(0, 3)), r.random() < 0.2
        sizes = tuple(1 if r.random() < 0.1 else size[c] for c in term)
        terms.append(("..." if dots else "") + "".join(term))
        names[name] = lay_out(r, numbers(r, ((2,) if dots else ()) + sizes, "float64"))
    formula = ",".join(terms)
    if r.random() < 0.7:
        letters = sorted(set(formula) - set(",."))
        out = "".join(r.sample(letters, r.randint(0, len(letters))))
        formula += "->" + ("..." if "..." in formula and r.random() < 0.9 else "") + out
    if r.random() < 0.3:
        formula = formula.replace(",", " , ")
    return f"t.einsum({formula!r}, {', '.join(names)})", names, True


# ---- writes through views ----

VIEWS = (
    ("{n}.transpose({a}, "
    "{b})"), "{n}.movedim({a}, {b})", "{n}[1:]", "{n}[::2]", "{n}[:-1]", "{n}[..., 0]", "{n}[None]",
    "{n}.unsqueeze({a})",
    ("{n}.select({a}, "
    "0)"), "{n}.narrow({a}, 0, 1)", "{n}.diagonal()", "{n}.flatten()", "{n}.view({n}.shape)", "{n}.squeeze()",
    "{n}.detach()", "{n}.reshape(-1)", "{n}.unfold({a}, 1, 1)", "{n}.expand(2, *{n}.shape)[0]",
    "{n}.T", "{n}.view_as({n})",
)  # fmt: skip
MADE = ("{n} * {n}", "{n}.sin()", "{n}.clone()", "{n}.sum()", "{n} + 1")
WRITES = (
    "{n}.mul_(2)", "{n}.add_({m})", "{n}.copy_({m})", "{n}.zero_()", "{n}.exp_()", "{n}.sin_()",
    "{n}.mul_({m})", "{n}.fill_(1.5)", "{n}.neg_()",
    ("{n}.__setitem__(0, "
    "3.0)"), "{n}.__setitem__(..., {m})", "{n}.clamp_(-1, 1)",
    "{n}.masked_fill_({n}.detach() > 0, 0.5)", "{n}.sub_(1)",
    ("{n}.addcmul_({m}, "
    "{m})"), "{n}.index_fill_(0, t.tensor([0]), 2.0)", "{n}.t_()", "{n}.div_(2)", "{n}.sigmoid_()",
    "{n}.lerp_({m}, 0.25)",
    "{n}.unsqueeze_(0)", "{n}.squeeze_()", "{n}.transpose_(0, -1)", "{n}.relu_()",
    "{n}.requires_grad", "{n}.is_leaf",
)  # fmt: skip


def writes(r: random.Random) -> Drawn:
    """Views of views, results and writes in any order; what torch refuses is left out, but now and then."""
    x = numbers(r, shape(r, 1, 3, "1234"), "float64")
    env = {"x": x.clone().requires_grad_(), "t": torch}
    steps, names = ["a := x * 1.5"], ["a"]
    env["a"] = env["x"] * 1.5
    for name in "bcdefghij"[: r.randint(2, 9)]:
        source, dims = r.choice(names), range(max(1, env["x"].dim()))
        kind = r.choice((VIEWS, VIEWS, WRITES, WRITES, MADE))
        # of the memory that is written, the order would matter
        other = f"{r.choice(names)}.clone()"
        text = r.choice(kind).format(n=source, m=other, a=r.choice(dims), b=r.choice(dims))
        try:
            made = eval(text, env)
        except (RuntimeError, IndexError):
            if r.random() < 0.95:
                continue
            made = None
        if kind is WRITES or made is None:
            steps.append(text)
            continue
        steps.append(f"{name} := {text}")
        env[name] = made
        names.append(name)
    return (
        f"[{', '.join(f'({step})' for step in steps)}, ({', '.join(names)},)][-1]",
        {"x": x},
        True,
    )


FAMILIES: dict[str, Callable[[random.Random], Drawn]] = {
    f.__name__: f for f in (getitem, setitem, promotion, reduction, cast, einsum, writes)
}
