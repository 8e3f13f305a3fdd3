"""Hostile uses of sparse, nested, masked, named and quantized tensors: parts of fuzz_parts.py.

The functions of their packages get arguments by name (offsets, indices, masks, layouts). Besides, a
short program takes a tensor of some kind through conversions, selections, files and gradients; a
step that is refused in a documented type leaves the tensor as it was.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import fuzz
import hostile_kinds
from hostile import DTYPES, FLOATS, INTS, Near, _tensor

import taeda

__all__ = ["FUNCTIONS", "KIND_PROGRAMS", "argument_by_name", "use_kind"]

#: packages whose functions are called
FUNCTIONS = ("taeda.sparse", "taeda.nested", "taeda.masked", "taeda.quantization")
LAYOUTS = (
    taeda.strided, taeda.sparse_coo, taeda.sparse_csr, taeda.sparse_csc, taeda.sparse_bsr,
    taeda.sparse_bsc, taeda.jagged,
)  # fmt: skip
QUANTIZED = (taeda.quint8, taeda.qint8, taeda.qint32, taeda.float32, taeda.int8)

# ---- arguments ----


def size(random: Random) -> int:
    return random.choice(INTS) if random.random() < 0.15 else random.randint(0, 4)


def numbers(random: Random, rising: bool = False) -> taeda.Tensor:
    """Indices or offsets of an integer type, a few of them absurd."""
    found = [random.randint(0, 4) for _ in range(random.choice((0, 1, 3, 4, 5)))]
    found = [0, *sorted(found)] if rising else found
    if found and random.random() < 0.2:
        found[random.randrange(len(found))] = random.choice(INTS)
    dtype = random.choice(("int64", "int64", "int32", "int32", "int16", "float32", "bool"))
    made = taeda.tensor(found, dtype=taeda.int64).to(getattr(taeda, dtype))
    return made[:, None].expand(-1, 2).T if random.random() < 0.1 else made


def values(random: Random, kind: str = "") -> taeda.Tensor:
    """Two to four dimensions, as the kinds have them."""
    shape = random.choice(
        ((4,), (4, 4), (4, 4), (4, 3), (2, 4, 4), (4, 4, 2), (0, 4), (1, 2, 4, 4))
    )
    near = Near(shape, random.choice(("float32", "float32", "float64", *DTYPES)), False, kind=kind)
    return _tensor(near, random, certain=0.95)


def argument_by_name(name: str, random: Random) -> Any:
    """What the packages of kinds call so; None for a name that says nothing."""
    if name in ("crow_indices", "ccol_indices", "compressed_indices", "offsets"):
        return numbers(random, rising=True)
    if name in ("col_indices", "row_indices", "plain_indices", "lengths"):
        return numbers(random)
    if name == "layout":
        return random.choice(LAYOUTS)
    if name.endswith("mask"):
        return values(random).bool()
    if name in ("tensor_list", "ts"):
        return [values(random) for _ in range(random.choice((0, 1, 2, 3)))]
    return None


# ---- programs ----

Step = Callable[[Any, Random], Any]


def pickled(x: Any, random: Random) -> Any:
    return pickle.loads(pickle.dumps(x, protocol=random.choice((2, 5))))


def saved(x: Any, random: Random) -> Any:
    file = io.BytesIO()
    taeda.save({"x": x}, file)
    file.seek(0)
    return taeda.load(file)["x"]


def selected(x: Any, random: Random) -> Any:
    one = random.choice(
        (
            size(random), slice(size(random), size(random)), ..., None, slice(None, None, 2),
            numbers(random), [size(random)], values(random) > 0, True,
        )
    )  # fmt: skip
    return x[(one, size(random))] if random.random() < 0.2 else x[one]


def derived(x: Any, random: Random) -> Any:
    """The gradient of a sum with respect to the tensor, of whatever kind it is."""
    leaf = x.detach().clone().requires_grad_()
    result = random.choice(
        (lambda t: t * 2, lambda t: t.sum(), lambda t: t @ t, lambda t: t.to_dense())
    )(leaf)
    result.sum().backward()
    return leaf.grad


def dense_beside(x: Any, random: Random) -> Any:
    other = values(random, random.choice(("", hostile_kinds.drawn_kind(random, 1.0))))
    way = random.choice(("add", "mul", "matmul", "sub", "div", "maximum", "eq"))
    pair = (x, other) if random.random() < 0.6 else (other, x)
    return getattr(taeda, way)(*pair)


def written(x: Any, random: Random) -> Any:
    """Parts of the tensor that share its memory get other numbers."""
    asked = random.choice(
        ("_indices", "_values", "crow_indices", "col_indices", "values", "offsets")
    )
    if not hasattr(x, asked):  # only nested tensors have offsets
        return x
    getattr(x, asked)().fill_(size(random))
    return x


def moved(x: Any, random: Random) -> Any:
    return x.to(
        random.choice((taeda.float64, taeda.float16, taeda.int32, "meta", "cpu", taeda.complex64))
    )


def other_size(x: Any, random: Random) -> tuple[list[int], int, int]:
    """Mostly what the tensor has and one size larger."""
    sizes = [*x.shape]
    if random.random() < 0.4:
        return [size(random) for _ in sizes], size(random), size(random)
    sizes[random.randrange(len(sizes))] += size(random)
    return sizes, x.sparse_dim(), x.dense_dim()


def by_channel(x: Any, random: Random) -> Any:
    """Scales and zeros that mostly fit the axis."""
    axis = size(random) % max(x.dim(), 1)
    fits = random.random() < 0.7
    scales = taeda.full((x.shape[axis],), random.choice(FLOATS)) if fits else values(random)
    zeros = taeda.zeros(x.shape[axis], dtype=taeda.int64) if fits else numbers(random)
    return taeda.quantize_per_channel(x, scales, zeros, axis, random.choice(QUANTIZED))


KIND_PROGRAMS: dict[str, Step] = {
    "pickle": pickled, "save": saved, "index": selected, "derive": derived, "other": dense_beside,
    "write": written, "to": moved,
    "deepcopy": lambda x, r: copy.deepcopy(x),
    "repr": lambda x, r: (repr(x), x)[1],
    "to_sparse": lambda x, r: x.to_sparse(size(r)),
    "layout": lambda x, r: x.to_sparse(layout=r.choice(LAYOUTS)),
    "blocks": lambda x, r: (x.to_sparse_bsr if r.random() < 0.5 else x.to_sparse_bsc)((size(r), size(r))),
    "csr": lambda x, r: x.to_sparse_csr(), "csc": lambda x, r: x.to_sparse_csc(),
    "dense": lambda x, r: x.to_dense(), "coalesce": lambda x, r: x.coalesce(),
    "mask": lambda x, r: values(r).sparse_mask(x),
    "resize": lambda x, r: x.sparse_resize_(*other_size(x, r)),
    "clear": lambda x, r: x.sparse_resize_and_clear_(*other_size(x, r)),
    "turn": lambda x, r: x.transpose(size(r) - 2, size(r) - 2), "t": lambda x, r: x.t(),
    "view": lambda x, r: x.view(size(r) - 1, size(r) - 1), "reshape": lambda x, r: x.reshape(-1, size(r)),
    "narrow": lambda x, r: x.narrow(size(r) - 1, size(r), size(r)),
    "select": lambda x, r: x.select(size(r) - 1, size(r) - 1),
    "index_select": lambda x, r: x.index_select(size(r) - 1, numbers(r)),
    "sum": lambda x, r: x.sum(size(r) - 2), "softmax": lambda x, r: x.softmax(size(r) - 2),
    "cat": lambda x, r: taeda.cat([x, x], size(r) - 2), "unbind": lambda x, r: x.unbind(size(r) - 1)[0],
    "unsqueeze": lambda x, r: x.unsqueeze(size(r) - 2), "squeeze": lambda x, r: x.squeeze(),
    "padded": lambda x, r: taeda.nested.to_padded_tensor(x, r.choice(FLOATS)),
    "chunk": lambda x, r: x.chunk(size(r), size(r) - 2)[0], "flatten": lambda x, r: x.flatten(size(r) - 2),
    "rename": lambda x, r: x.rename(*r.choices(("a", "b", None, "..."), k=r.randint(0, 3))),
    "align": lambda x, r: x.align_to("...", *r.sample([n for n in (*x.names, "b") if n], 1)),
    "quantize": lambda x, r: taeda.quantize_per_tensor(x, r.choice(FLOATS), size(r), r.choice(QUANTIZED)),
    "channels": by_channel,
    "dequantize": lambda x, r: x.dequantize(), "relu": lambda x, r: taeda.relu(x),
    "pool": lambda x, r: taeda.nn.functional.max_pool2d(x, size(r), size(r), size(r)),
    "zero": lambda x, r: x.zero_(), "copy": lambda x, r: x.copy_(values(r, hostile_kinds.drawn_kind(r, 0.7))),
    "like": lambda x, r: r.choice((taeda.zeros_like, taeda.empty_like, taeda.rand_like, taeda.ones_like))(x),
    "mkldnn": lambda x, r: x.to_mkldnn(),
    "equal": lambda x, r: (taeda.equal(x, x), taeda.allclose(x, x), x)[2],
    "list": lambda x, r: (x.tolist(), x)[1], "numpy": lambda x, r: (x.numpy(), x)[1],
    "nbytes": lambda x, r: (x.numel(), x.nbytes, x.stride(), x.is_contiguous(), x)[4],
}  # fmt: skip


def use_kind(kind: str, random: Random, say: Any) -> None:
    """A tensor of the kind goes through steps; what is refused is left out."""
    x: Any = values(random, kind)
    steps = [random.choice(list(KIND_PROGRAMS)) for _ in range(random.randint(1, 6))]
    say([x, *steps], {})
    for step in steps:
        try:
            y = KIND_PROGRAMS[step](x, random)
            fuzz.use(y)
        except fuzz.DOCUMENTED:
            continue
        x = y if isinstance(y, taeda.Tensor) and y.numel() < 1 << 16 else x
