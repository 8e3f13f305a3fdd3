"""vmap: a function of one sample as a function of many."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import TRANSFORM
from taeda.autograd.batching import Batched, Level, batched, levels, physical

from . import _collections, _tree
from ._collections import is_collection

__all__ = ["debug_unwrap", "vmap"]

Function = Callable[..., Any]
_numbers = itertools.count(1)  # never the same again, so that a tensor of a map that ended is known


class _Mapping:
    """A context in which one more map is at work."""

    def __init__(self, size: int, randomness: str) -> None:
        self.level = Level(next(_numbers), size, randomness)
        self.shown = _core.Switches(show=TRANSFORM)  # also inside of a rule of another map

    def __enter__(self) -> Level:
        levels().append(self.level)
        _core.set_layer_flag(TRANSFORM, True)
        self.shown.__enter__()
        return self.level

    def __exit__(self, *raised: object) -> None:
        levels().remove(self.level)
        self.shown.__exit__(*raised)
        _core.set_layer_flag(TRANSFORM, bool(levels()))


def vmap(
    func: Function,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """The function that computes `func` for every entry along a dimension of its arguments, all at once.

    `in_dims` says along which dimension each argument is mapped, None for one that all samples
    share: an int for all of them, or a structure like the arguments', or a prefix of it. `out_dims`
    says where the samples lie in the results. All samples share what is given by keyword. Random
    functions raise with `randomness="error"`; they draw for each sample with
    "different", once for all with "same". `chunk_size` computes so many samples at a time.

    ValueError for in_dims or out_dims that do not fit, sizes that differ, results that are no
    tensors; RuntimeError inside of the mapped function for what needs the value of a sample.

    Args:
        func: a function of tensors, or of trees of them.
        in_dims: dimension of the samples in the arguments (0).
        out_dims: dimension of the samples in the results (0).
        randomness: "error" (default), "different" or "same".
        chunk_size: samples at a time (None: all).

    >>> vmap(taeda.dot)(taeda.ones(3, 4), taeda.ones(3, 4))
    tensor([4., 4., 4.])
    >>> vmap(lambda x, y: x * y, in_dims=(0, None))(taeda.tensor([1.0, 2.0]), taeda.tensor([1.0, 10.0]))
    tensor([[ 1., 10.],
            [ 2., 20.]])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", type(func).__name__)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        values, places, size = _inputs(name, in_dims, args, kwargs)
        tree = (args, kwargs)
        if chunk_size is None or chunk_size >= size:
            return _mapped(func, name, tree, values, places, out_dims, size, randomness)
        return _in_chunks(func, name, tree, values, places, out_dims, size, randomness, chunk_size)

    return functools.wraps(func)(wrapper) if hasattr(func, "__name__") else wrapper


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """All samples of a tensor inside of `vmap`, along its first dimensions, to be looked at: those
    of the innermost map, with `recurse` those of all maps around as well. Another tensor is
    returned as it is.

    It is for prints and debuggers. What is computed from the result belongs to no map, so results
    of a mapped function that depend on it are not what the function would give. TypeError for what
    is no tensor.

    Args:
        tensor: a tensor, in a mapped function or not.
        recurse: whether all maps are unwrapped, instead of the innermost (True).

    >>> seen = []
    >>> taeda.vmap(lambda x: seen.append(debug_unwrap(x)) or x)(taeda.arange(3))
    tensor([0, 1, 2])
    >>> seen
    [tensor([0, 1, 2])]
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"debug_unwrap: wanted a Tensor, got {type(tensor).__name__}")
    if recurse:
        made: Tensor = physical(tensor)
        return made
    return tensor._value if type(tensor) is Batched else tensor


# ---- arguments ----


def _spread(dims: Any, tree: Any) -> list[Any] | None:
    """A dimension for each leaf of `tree`; None where the structures do not fit."""
    if isinstance(tree, Tensor) or _tree._items(tree, is_collection) is None:
        return [dims] if dims is None or type(dims) is int else None
    items = _tree._items(tree, is_collection) or []
    if dims is None or type(dims) is int:
        return [dims] * len(_tree.leaves(tree, is_collection))
    inner = _tree._items(dims)
    fits = (
        inner is not None
        and len(inner) == len(items)
        and isinstance(dims, dict) == isinstance(tree, dict)
    )
    if not fits or inner is None:
        return None
    if isinstance(tree, dict):
        if set(dims) != set(tree):
            return None
        inner = [dims[key] for key in tree]
    found: list[Any] = []
    for dim, item in zip(inner, items, strict=True):
        part = _spread(dim, item)
        if part is None:
            return None
        found += part
    return found


def _inputs(name: str, in_dims: Any, args: Any, kwargs: Any) -> tuple[list[Any], list[Any], int]:
    head = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)) or isinstance(in_dims, bool):
        raise ValueError(
            f"{head}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs."
        )
    places = _spread(in_dims, args)
    if places is None:
        raise ValueError(
            f"{head}: in_dims is not compatible with the structure of inputs: it must be the same "
            "structure or a prefix of it, with an int or None for each tensor"
        )
    values = _tree.leaves(args, is_collection)
    named = _tree.leaves(kwargs, is_collection)
    values += named
    places += [None] * len(named)
    places = [_checked(head, value, dim) for value, dim in zip(values, places, strict=True)]
    sizes = [_collections.size(v, d) for v, d in zip(values, places, strict=True) if d is not None]
    if not sizes:
        raise ValueError(
            f"{head}: at least one input must be a tensor that is mapped over: every in_dim is None"
        )
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return values, places, sizes[0]


def _checked(head: str, value: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if is_collection(value):
        return _collections.checked_dim(head, value, dim)
    if not isinstance(value, Tensor):
        raise ValueError(
            f"{head}: Got in_dim={dim} for an input but the input is of type {type(value)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    if value.is_quantized:
        raise NotImplementedError(
            f"{head}: Got in_dim={dim} for a quantized tensor, which is not mapped over: pass None as its "
            "in_dim, or map over x.dequantize()"
        )
    if value.layout is not taeda.strided:
        raise NotImplementedError(
            f"{head}: Got in_dim={dim} for a tensor of layout {value.layout}, which is not mapped over: "
            "pass None as its in_dim, or map over x.to_dense()"
        )
    if value.has_names():
        raise RuntimeError(
            f"{head}: Got in_dim={dim} for a tensor whose dimensions have names, which no map carries on: "
            "take them away by x.rename(None)"
        )
    if not -value.dim() <= dim < value.dim():
        raise ValueError(
            f"{head}: Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {value.dim()} so expected in_dim to satisfy -{value.dim()} <= in_dim "
            f"< {value.dim()}."
        )
    return int(dim) % value.dim()


# ---- one run ----


def _run(
    func: Function,
    name: str,
    tree: Any,
    values: list[Any],
    places: list[Any],
    out_dims: Any,
    size: int,
    randomness: str,
) -> tuple[Any, list[Any], list[Any]]:
    """(the result's structure, its leaves with the samples in front, where they are to lie)."""
    with _Mapping(size, randomness) as level:
        inner = [_seen(v, d, level) for v, d in zip(values, places, strict=True)]
        args, kwargs = _tree.filled(tree, iter(inner), is_collection)
        output = func(*args, **kwargs)
        wanted = _outputs(name, out_dims, output)
        found = [
            _leaving(name, level, leaf, dim)
            for leaf, dim in zip(_tree.leaves(output, is_collection), wanted, strict=True)
        ]
    return output, found, wanted


def _seen(value: Any, dim: int | None, level: Level) -> Any:
    """What the mapped function sees of an argument."""
    if is_collection(value):
        return _collections.sample(value, dim, level)
    return value if dim is None else batched(value.movedim(dim, 0) if dim else value, level.number)


def _outputs(name: str, out_dims: Any, output: Any) -> list[Any]:
    wanted = _spread(out_dims, output)
    if wanted is None and isinstance(out_dims, tuple) and len(out_dims) == 1:
        wanted = _spread(out_dims[0], output)
    if wanted is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims}): out_dims is not compatible with the "
            "structure of the outputs: it must be an int, or the same structure or a prefix of it"
        )
    for leaf, dim in zip(_tree.leaves(output, is_collection), wanted, strict=True):
        if dim is not None and not (isinstance(leaf, Tensor) or is_collection(leaf)):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did "
                "you mean to set `out_dims=` to None for output?"
            )
    return wanted


def _leaving(name: str, level: Level, leaf: Any, dim: Any) -> Any:
    if is_collection(leaf):
        return _collections.whole(name, leaf, dim, level)
    if dim is None:
        if level.on(leaf):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return leaf
    return level.full(leaf)


def _placed(leaf: Any, dim: Any) -> Any:
    if dim is None or is_collection(leaf):  # these are in their place
        return leaf
    if not -leaf.dim() <= dim < leaf.dim():
        raise ValueError(
            f"vmap: out_dims has {dim} for a result of {leaf.dim()} dimensions with the mapped one"
        )
    return leaf.movedim(0, dim) if dim else leaf


def _mapped(
    func: Function,
    name: str,
    tree: Any,
    values: Any,
    places: Any,
    out_dims: Any,
    size: int,
    randomness: str,
) -> Any:
    output, found, wanted = _run(func, name, tree, values, places, out_dims, size, randomness)
    made = [_placed(leaf, dim) for leaf, dim in zip(found, wanted, strict=True)]
    return _tree.filled(output, iter(made), is_collection)


def _in_chunks(
    func: Function,
    name: str,
    tree: Any,
    values: Any,
    places: Any,
    out_dims: Any,
    size: int,
    randomness: str,
    chunk: int,
) -> Any:
    runs = []
    state = taeda.random.default_generator.get_state() if randomness == "same" else None
    for start in range(0, size, chunk):
        count = min(chunk, size - start)
        if state is not None:
            taeda.random.default_generator.set_state(state)
        parts = [
            v if d is None else _collections.part(v, d, start, count)
            for v, d in zip(values, places, strict=True)
        ]
        runs.append(_run(func, name, tree, parts, places, out_dims, count, randomness))
    output, _, wanted = runs[0]
    columns = zip(*(found for _, found, _ in runs), strict=True)
    whole = [
        column[0] if dim is None else _joined(column, dim)
        for column, dim in zip(columns, wanted, strict=True)
    ]
    return _tree.filled(output, iter(whole), is_collection)


def _joined(column: Any, dim: int) -> Any:
    """The results of all chunks, one after the other."""
    if is_collection(column[0]):
        return taeda.cat(list(column), dim)
    return _placed(taeda.cat(column), dim)
