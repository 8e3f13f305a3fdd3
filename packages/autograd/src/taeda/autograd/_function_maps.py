"""A custom function inside of vmap: by the class's own rule, or sample by sample."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import TRANSFORM

__all__ = ["VmapInfo", "all_apart", "apply", "each", "level_of", "refuse_made", "refuse_samples"]


class VmapInfo(NamedTuple):
    """What a function's `vmap` is told: how many samples there are, and what random functions are to do."""

    batch_size: int
    randomness: str


def level_of(args: tuple[Any, ...]) -> Any:
    """The innermost map that one of the arguments has samples of; None if none has."""
    from .batching import Batched, levels  # late: for vmap alone

    numbers = [a._level for a in args if type(a) is Batched]
    return next((one for one in levels() if numbers and one.number == max(numbers)), None)


def apply(cls: Any, level: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`cls.apply` for all samples. RuntimeError if the class does not say how, or says it twice."""
    own = cls._own("vmap")
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            "an overriden vmap staticmethod. "
            "Please set generate_vmap_rule=False or delete the overriden vmap staticmethod to "
            "avoid ambiguity."
        )
    if not own and not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
            "override and implement the vmap "
            "staticmethod or set generate_vmap_rule=True."
        )
    return _by_rule(cls, level, args) if own else _by_sample(cls, level, args, kwargs)


def _by_rule(cls: Any, level: Any, args: tuple[Any, ...]) -> Any:
    return by_user(f"the vmap staticmethod of {cls.__name__}", cls.vmap, level, args, {})


def by_user(what: str, rule: Any, level: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `rule(info, in_dims, *args, **kwargs)` gives: results, and where their samples lie.
    RuntimeError if it gives no pair.
    """
    from .batching import taken_apart  # late: for vmap alone

    in_dims = tuple(_dims(level, a) for a in args)
    info = VmapInfo(level.size, level.randomness)
    values = {name: _values(level, value) for name, value in kwargs.items()}
    with taken_apart([level]):
        made = rule(info, in_dims, *(_values(level, a) for a in args), **values)
    if not isinstance(made, tuple) or len(made) != 2:
        raise RuntimeError(
            f"Expected {what} to return a tuple (output, out_dims), got {type(made).__name__}"
        )
    output, out_dims = made
    if not isinstance(output, (tuple, list)):
        return _wrapped(level, output, out_dims)
    dims = out_dims if isinstance(out_dims, (tuple, list)) else [out_dims] * len(output)
    return type(output)([_wrapped(level, o, d) for o, d in zip(output, dims, strict=True)])


def _dims(level: Any, value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)([_dims(level, entry) for entry in value])
    return 0 if level.on(value) else None


def _values(level: Any, value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)([_values(level, entry) for entry in value])
    return level.value(value)


def _wrapped(level: Any, output: Any, dim: int | None) -> Any:
    from .batching import batched  # late: for vmap alone

    if dim is None or not isinstance(output, Tensor):
        return output
    return batched(output.movedim(dim, 0), level.number)


def _by_sample(cls: Any, level: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return each(level, lambda given: cls.apply(*given[0], **given[1]), (args, kwargs))


def each(level: Any, function: Any, argument: Any) -> Any:
    """`function` of one sample of its argument after another, and the results stacked."""
    from .batching import each_sample  # late: for vmap alone

    return each_sample(level, function, argument)


def all_apart(needed: bool = True) -> AbstractContextManager[None]:
    """A context in which tensors are plain for all maps at work: transforms inside make no samples."""
    if not needed or not _core.get_layers() & TRANSFORM:
        return nullcontext()
    from .batching import levels, taken_apart  # late: for vmap alone

    return taken_apart(list(levels()))


def refuse_made(made: Any) -> None:
    """RuntimeError if a function of plain tensors, whose step is recorded, gave samples."""
    if not _core.get_layers() & TRANSFORM:
        return
    from taeda._core_api.trees import leaves

    from .batching import Batched, refuse_captured  # late: for vmap alone

    if any(type(leaf) is Batched for leaf in leaves(made)):
        refuse_captured()


def refuse_samples(values: Any) -> None:
    """RuntimeError if a sample is to be walked back from: its graph is that of all samples."""
    from taeda._core_api.trees import leaves

    from .batching import Batched  # late: for vmap alone

    if any(type(leaf) is Batched for leaf in leaves(values)):
        raise RuntimeError(
            "backward() and autograd.grad of a sample inside of vmap: its graph is that of all "
            "samples. Use taeda.func.grad or vjp "
            "inside of vmap, or call backward on what vmap returns"
        )
