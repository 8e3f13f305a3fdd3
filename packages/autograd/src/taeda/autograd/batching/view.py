"""Functions that look at the same elements in another shape."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ._batched import Batched, Level, rank
from ._registry import Decline, dims_of, rule, rules
from .reduction import own_dims

__all__: list[str] = []


def _ints(given: Any) -> list[int]:
    """A shape, given whole or one by one."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    if not all(type(n) is int for n in given):
        raise Decline
    return list(given)


def _some(level: Level, x: Any) -> Any:
    if not level.on(x):
        raise Decline
    return x._value


@rule("view", "reshape")
def _view(level: Level, func: Any, x: Any, *shape: Any, **kwargs: Any) -> Any:
    if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list)):
        return func(_some(level, x), *shape)  # another dtype
    wanted = _ints([kwargs["shape"]] if "shape" in kwargs else shape)
    if level.size == 0 and -1 in wanted:
        raise Decline
    return func(_some(level, x), (level.size, *wanted))


@rule("view_as", "reshape_as")
def _view_as(level: Level, func: Any, x: Any, other: Any) -> Any:
    shape = (level.size, *other.shape)
    value = _some(level, x)
    return value.view(shape) if func.__name__ == "view_as" else value.reshape(shape)


@rule("flatten")
def _flatten(level: Level, func: Any, x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    value, own = _some(level, x), rank(x)
    if own == 0:
        dims_of(start_dim, own), dims_of(end_dim, own)
        return value.unsqueeze(-1)
    return value.flatten(own_dims(start_dim, own), own_dims(end_dim, own))


@rule("ravel")
def _ravel(level: Level, func: Any, x: Any) -> Any:
    return _some(level, x).reshape(level.size, x.numel())


@rule("unflatten")
def _unflatten(level: Level, func: Any, x: Any, dim: Any, sizes: Any) -> Any:
    return func(_some(level, x), own_dims(dim, rank(x)), sizes)


@rule("expand", "broadcast_to")
def _expand(level: Level, func: Any, x: Any, *sizes: Any, **kwargs: Any) -> Any:
    wanted = _ints([kwargs["size"]] if "size" in kwargs else sizes)
    value = level.padded(x, len(wanted)) if level.on(x) else _some(level, x)
    return value.expand(level.size, *wanted)


@rule("expand_as")
def _expand_as(level: Level, func: Any, x: Any, other: Any) -> Any:
    return _expand(level, func, x, tuple(other.shape))


@rule("permute")
def _permute(level: Level, func: Any, x: Any, *dims: Any, **kwargs: Any) -> Any:
    own = rank(x)
    wanted = _ints([kwargs["dims"]] if "dims" in kwargs else dims)
    if len(wanted) != own:
        raise Decline
    return _some(level, x).permute(0, *(dims_of(d, own) + 1 for d in wanted))


@rule("transpose", "swapaxes", "swapdims")
def _transpose(level: Level, func: Any, x: Any, dim0: Any, dim1: Any) -> Any:
    own = rank(x)
    if own == 0:
        dims_of(dim0, 1), dims_of(dim1, 1)
        return _some(level, x)
    return _some(level, x).transpose(own_dims(dim0, own), own_dims(dim1, own))


@rule("movedim", "moveaxis")
def _movedim(level: Level, func: Any, x: Any, source: Any, destination: Any) -> Any:
    own = rank(x)
    if own == 0:
        raise Decline
    return func(_some(level, x), own_dims(source, own), own_dims(destination, own))


@rule("t", "get.T", "numpy_T")
def _t(level: Level, func: Any, x: Any) -> Any:
    own = rank(x)
    if own > 2:
        raise Decline
    return _some(level, x) if own < 2 else _some(level, x).transpose(1, 2)


@rule("get.mT", "mT", "adjoint", "get.mH", "mH", "get.H", "matrix_H")
def _matrix_transpose(level: Level, func: Any, x: Any) -> Any:
    if rank(x) < 2 or (rank(x) > 2 and rules_name(func) in ("get.H", "matrix_H")):
        raise Decline
    made = _some(level, x).transpose(-2, -1)
    return made.conj() if made.is_complex() and not func_is_plain(func) else made


def func_is_plain(func: Any) -> bool:
    from ._registry import key_of

    return key_of(func) in ("get.mT", "mT")


@rule("squeeze")
def _squeeze(level: Level, func: Any, x: Any, dim: Any = None) -> Any:
    own, shape = rank(x), x.shape
    if dim is None:
        dims = [d + 1 for d in range(own) if shape[d] == 1]
    else:
        chosen = dim if isinstance(dim, (tuple, list)) else [dim]
        dims = [dims_of(d, own) + 1 for d in chosen]
        dims = dims if own else []
    return _some(level, x).squeeze(dims) if dims else _some(level, x).view(level.size, *shape)


@rule("unsqueeze")
def _unsqueeze(level: Level, func: Any, x: Any, dim: Any) -> Any:
    return _some(level, x).unsqueeze(dims_of(dim, rank(x) + 1) + 1)


@rule("select", "narrow", "unfold")
def _at(level: Level, func: Any, x: Any, dim: Any, *args: Any) -> Any:
    own = rank(x)
    if own == 0 or any(isinstance(a, Tensor) for a in args):
        raise Decline
    return func(_some(level, x), own_dims(dim, own), *args)


@rule("diagonal", "linalg.diagonal")
def _diagonal(
    level: Level, func: Any, x: Any, offset: int = 0, dim1: Any = None, dim2: Any = None
) -> Any:
    own = rank(x)
    last = rules_name(func).startswith("linalg.")
    first, second = (-2, -1) if last else (0, 1)
    dims = [d if d is not None else default for d, default in ((dim1, first), (dim2, second))]
    if own < 2:
        raise Decline
    return _some(level, x).diagonal(offset, own_dims(dims[0], own), own_dims(dims[1], own))


def rules_name(func: Any) -> str:
    from ._registry import key_of

    return key_of(func)


@rule(
    "split",
    "chunk",
    "tensor_split",
    "unsafe_split",
    "unsafe_chunk",
    "split_with_sizes",
    "unsafe_split_with_sizes",
)
def _split(level: Level, func: Any, x: Any, parts: Any, dim: Any = 0) -> Any:
    if rank(x) == 0 or isinstance(parts, Tensor):
        raise Decline
    return func(_some(level, x), parts, own_dims(dim, rank(x)))


@rule("unbind")
def _unbind(level: Level, func: Any, x: Any, dim: Any = 0) -> Any:
    if rank(x) == 0:
        raise Decline
    return func(_some(level, x), own_dims(dim, rank(x)))


@rule("method.iter")
def _iter(level: Level, func: Any, x: Any) -> Any:
    if rank(x) == 0:
        raise TypeError("iteration over a 0-d tensor")
    return [x[i] for i in range(x.shape[0])]


@rule("flip")
def _flip(level: Level, func: Any, x: Any, *dims: Any, **kwargs: Any) -> Any:
    if rank(x) == 0:
        raise Decline
    return func(_some(level, x), own_dims(_ints([kwargs["dims"]] if kwargs else dims), rank(x)))


@rule("fliplr", "flipud", "rot90")
def _flipped(level: Level, func: Any, x: Any, *args: Any) -> Any:
    name = func.__name__
    if name == "rot90" or rank(x) < (2 if name == "fliplr" else 1):
        raise Decline
    return _some(level, x).flip(2 if name == "fliplr" else 1)


@rule("roll")
def _roll(level: Level, func: Any, x: Any, shifts: Any, dims: Any = None) -> Any:
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        return func(_some(level, x).reshape(level.size, x.numel()), shifts, 1).view(
            level.size, *x.shape
        )
    return func(_some(level, x), shifts, own_dims(dims, rank(x)))


@rule("repeat", "tile")
def _repeat(level: Level, func: Any, x: Any, *sizes: Any, **kwargs: Any) -> Any:
    if kwargs:
        raise Decline
    wanted = _ints(sizes)
    if func.__name__ == "tile":
        wanted = [1] * (rank(x) - len(wanted)) + wanted
    if len(wanted) < rank(x):
        raise Decline
    return level.padded(x, len(wanted)).repeat(1, *wanted)


@rule("new_zeros", "new_ones", "new_empty", "new_full")
def _new(level: Level, func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if "size" in kwargs:
        raise Decline
    many = func.__name__ != "new_full"
    size = _ints(args) if many else list(args[0])
    return func(_some(level, x), (level.size, *size), *(() if many else args[1:]), **kwargs)


def _same(level: Level, func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return func(_some(level, x), *args, **kwargs)


for _name in ("view_as_real", "view_as_complex"):
    rules[_name] = _same


@rule("tril", "triu")
def _triangle(level: Level, func: Any, x: Any, diagonal: int = 0) -> Any:
    if rank(x) < 2:
        raise Decline
    return func(_some(level, x), diagonal)


@rule("diag_embed")
def _diag_embed(
    level: Level, func: Any, x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> Any:
    own = rank(x) + 1
    return func(_some(level, x), offset, dims_of(dim1, own) + 1, dims_of(dim2, own) + 1)


@rule("transpose_", "swapaxes_", "swapdims_", "t_", "squeeze_", "unsqueeze_", "as_strided_")
def _turned(level: Level, func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """The tensor itself gets another shape: so does what it stands for."""
    from ._call import own_fact

    pure = func.__name__.rstrip("_")
    value = rules[pure](level, getattr(Tensor, pure), x, *args, **kwargs)
    own_fact(func, (x, *args), kwargs)
    x._value = value
    return x


@rule("as_strided", "as_strided_copy")
def _as_strided(
    level: Level, func: Any, x: Any, size: Any, stride: Any, storage_offset: Any = None
) -> Any:
    """The offset counts from each sample's first element. Strides are those of a sample in one piece, as its
    own `stride()` says.
    """
    value = _some(level, x)
    if type(value) is not Batched and level.size and not value.select(0, 0).is_contiguous():
        raise RuntimeError(
            "vmap: as_strided of a sample that does not lie in one piece, as its stride() says it does: what "
            "is mapped has its samples along another dimension than the first. Call contiguous() before it"
        )
    first = value.storage_offset() + (storage_offset or 0)
    made = value.as_strided((level.size, *size), (value.stride(0), *stride), first)
    return made.clone() if func.__name__ == "as_strided_copy" else made


@rule("cat", "concat", "concatenate")
def _cat(level: Level, func: Any, tensors: Any, dim: Any = 0) -> Any:
    ranks = {rank(t) for t in tensors}
    if len(ranks) > 1 or 0 in ranks:
        raise Decline
    return func([level.full(t) for t in tensors], own_dims(dim, ranks.pop()))


@rule("stack")
def _stack(level: Level, func: Any, tensors: Any, dim: Any = 0) -> Any:
    return func([level.full(t) for t in tensors], dims_of(dim, rank(tensors[0]) + 1) + 1)


def _copied(name: str) -> Any:
    """The rule of `name`_copy: the view, and then its elements."""

    def copy(level: Level, func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        made = rules[name](level, getattr(Tensor, name), x, *args, **kwargs)
        if isinstance(made, Tensor):
            return made.clone()
        return [part.clone() for part in made]

    return copy


for _name in (
    *(
        "diagonal",
        "expand",
        "permute",
        "select",
        "squeeze",
        "t",
        "transpose",
        "unfold",
        "unsqueeze",
    ),
    *("view", "split", "split_with_sizes", "unbind", "narrow"),
):
    rules[f"{_name}_copy"] = _copied(_name)
