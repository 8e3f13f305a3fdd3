"""One call inside of vmap: which map it belongs to, and how its samples are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api import warn
from taeda._core_api.calls import OVERRIDE, TRANSFORM
from taeda._core_api.operators import rule_of
from taeda._core_api.trees import leaves
from taeda.autograd._function_maps import by_user

from . import random
from ._batched import (
    Batched,
    Level,
    NeedsValue,
    batched,
    levels,
    refuse_value,
    taken_apart,
    unwrapped,
)
from ._composed import composed, in_type
from ._registry import Decline, key_of, rules

__all__ = ["NeedsValue", "call", "each_alone", "each_sample", "new_levels", "own_fact"]


_warned: set[str] = set()
_ANSWERS = {"equal", "allclose", "is_nonzero"}  # of Python, not tensors
_SHAPED = {  # results whose shape depends on values
    "nonzero", "masked_select", "argwhere", "_unique2", "unique_dim", "_unique_consecutive",
    "nonzero_numpy", "unique", "unique_consecutive",
}  # fmt: skip
_OWN = {  # facts that the sample's own meta tensor knows
    "get.shape", "get.ndim", "get.dtype", "get.itemsize", "get.nbytes", "size", "dim", "ndimension",
    "numel", "nelement", "is_floating_point", "is_complex", "is_signed",
    "element_size", "method.len", "get.is_sparse", "get.is_quantized", "get.is_mkldnn",
    "get.is_nested", "is_same_size", "get.names", "has_names",
    "method.format", "get.__class__", "dim_order", "stride", "storage_offset",
}  # fmt: skip
_BELOW = {  # facts of the tensor below
    "get.device", "get.requires_grad", "get.grad_fn", "get.is_leaf", "get.layout", "get.is_cpu",
    "get.is_cuda", "get.is_meta", "is_conj", "is_neg", "is_inference",
    "get.is_sparse_csr", "get.is_xpu", "get.is_mps", "get_device", "get._version", "is_pinned",
    "get.retains_grad", "get.output_nr",
}  # fmt: skip


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `func`: on all samples at once, if the arguments have samples."""
    key = key_of(func)
    number = -1
    for leaf in leaves((args, kwargs)):
        if type(leaf) is Batched and leaf._level > number:
            number = leaf._level
    here = levels()
    if key in random.NAMES and here and random.draws(key, args, kwargs):
        return random.call(key, func, args, kwargs)
    with _core.Switches(hide=TRANSFORM):
        if number < 0:
            return func(*args, **kwargs)
        level = next((one for one in here if one.number == number), None)
        if level is None:
            raise RuntimeError(
                "a tensor of a vmap was used after that vmap returned: return it from the mapped "
                "function instead"
            )
        return _of_samples(level, key, func, args, kwargs)


def _of_samples(level: Level, key: str, func: Any, args: Any, kwargs: Any) -> Any:
    if key in _OWN:
        return own_fact(func, args, kwargs)
    if key in _BELOW:
        return func(*(level.value(a) for a in args), **kwargs)
    _refuse(key, args, kwargs)
    _check_written(level, key, args, kwargs)
    own = rule_of(key, "vmap") if "::" in key else None
    if own is not None:
        return by_user(f"the vmap rule of {key}", own, level, args, kwargs)
    found = rules.get(key)
    if found is not None:
        try:
            return in_type(key, wrapped(level, found(level, func, *args, **kwargs), args))
        except (Decline, TypeError):
            pass  # the rule does not cover this form, or the call is wrong: a call for each sample tells
    try:
        return in_type(key, composed(key, args, kwargs))
    except (Decline, TypeError):
        pass
    if found is None:
        _warn(key)
    return one_by_one(level, key, func, args, kwargs)


def own_fact(func: Any, args: Any, kwargs: Any) -> Any:
    with _core.Switches(hide=OVERRIDE):  # the meta tensor itself answers
        return func(*args, **kwargs)


def wrapped(level: Level, made: Any, args: tuple[Any, ...] = ()) -> Any:
    """Results of a rule as tensors of this level; an argument that was written to is itself."""
    if isinstance(made, Tensor):
        first: Any = args[0] if args else None
        if made is first or (level.on(first) and made is first._value):
            return first
        return batched(made, level.number)
    if isinstance(made, (tuple, list)):
        parts = [wrapped(level, part) for part in made]
        if isinstance(made, tuple) and hasattr(made, "n_fields"):
            return type(made)(parts)
        return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)
    return made


def _refuse(key: str, args: Any, kwargs: Any) -> None:
    if key in _ANSWERS:
        refuse_value(key)
    if key in ("set.data", "set.grad"):
        raise RuntimeError(
            f"vmap: a sample has no .{key[4:]} of its own to be set: compute a new tensor instead, or "
            "take the assignment out of vmap"
        )
    by_mask = key in ("method.getitem", "method.setitem") and any(
        isinstance(leaf, Tensor)
        and leaf.dtype in (taeda.bool, taeda.uint8)
        and type(leaf) is Batched
        for leaf in leaves(args[1])
    )
    of_places = key == "where" and len(args) + len(kwargs) == 1  # nonzero by another name
    if key in _SHAPED or of_places or (by_mask and key == "method.getitem"):
        raise NeedsValue(
            f"vmap: It looks like you're attempting to use an operation ({key}) whose shape "
            "depends on the data inside of vmap: "
            "the samples' results would have different shapes. Use taeda.where or masked_fill"
        )
    if kwargs.get("out") is not None:
        raise RuntimeError(
            f"vmap: {key}(out=...) is not supported: use the form without out, and return the result"
        )


def _writes(key: str) -> bool:
    return key == "method.setitem" or (key.endswith("_") and not key.endswith("__"))


_INPLACE = {f"i{name}" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and",
    "or", "xor", "lshift", "rshift", "matmul", "div")}  # fmt: skip


def _check_written(level: Level, key: str, args: Any, kwargs: Any) -> None:
    """A tensor that all samples share cannot take what is different for each."""
    written = (_writes(key) or key in _INPLACE) and key != "requires_grad_"
    if written and args and isinstance(args[0], Tensor) and not level.on(args[0]):
        why = NeedsValue(
            f"vmap: {key.removeprefix('method.')}(self, *extra_args) is not possible because there "
            "exists a Tensor `other` in extra_args that has more "
            "elements than `self`: self is the same for all samples. Use the form that returns a "
            "new tensor, or make self inside of vmap "
            "from a mapped tensor (x.new_zeros)"
        )
        why.shared = args[0]
        raise why


def _warn(key: str) -> None:
    if key not in _warned:
        _warned.add(key)
        warn(
            "There is a performance drop because we have not yet implemented the batching rule "
            f"for {key}: it runs once for each sample",
        )


# ---- one by one ----


def one_by_one(level: Level, key: str, func: Any, args: Any, kwargs: Any) -> Any:
    """The call for each sample, and the results stacked."""
    if level.size == 0:
        return _of_none(level, func, args, kwargs)
    with taken_apart([level]):
        made = [
            func(*sample(level, args, place), **sample(level, kwargs, place))
            for place in range(level.size)
        ]
    if _writes(key) or key in _INPLACE:
        return args[0]
    return stacked(level, made)


def sample(level: Level, values: Any, place: int) -> Any:
    """The arguments of one sample."""
    if level.on(values):
        return values._value.select(0, place)
    if isinstance(values, (list, tuple)):
        entries = [sample(level, value, place) for value in values]
        return type(values)(*entries) if hasattr(values, "_fields") else type(values)(entries)
    if isinstance(values, dict):
        return {name: sample(level, value, place) for name, value in values.items()}
    if isinstance(values, slice):
        return slice(*(sample(level, v, place) for v in (values.start, values.stop, values.step)))
    return values


def stacked(level: Level, made: list[Any]) -> Any:
    """The results of all samples as one of this level.
    RuntimeError where they differ in what is no tensor.
    """
    first = made[0]
    if isinstance(first, Tensor):
        return batched(taeda.stack(made), level.number)
    if isinstance(first, (tuple, list)):
        if len({len(m) for m in made}) > 1:
            raise RuntimeError("vmap: the samples' results differ in length")
        parts = [stacked(level, list(column)) for column in zip(*made, strict=True)]
        if isinstance(first, tuple) and hasattr(first, "n_fields"):
            return type(first)(parts)
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if any(m != first for m in made):
        raise RuntimeError(
            f"vmap: the samples' results differ in what is no tensor: {first!r} and others; return tensors"
        )
    return first


def _of_none(level: Level, func: Any, args: Any, kwargs: Any) -> Any:
    """No samples: the shapes come from a sample of zeros."""

    def zeros(values: Any) -> Any:
        if level.on(values):
            value = values._value
            return value.new_zeros(value.shape[1:])
        if isinstance(values, (list, tuple)):
            return type(values)(map(zeros, values))
        return values

    made = func(*zeros(args), **{name: zeros(value) for name, value in kwargs.items()})
    return _emptied(level, made)


def _emptied(level: Level, made: Any) -> Any:
    if isinstance(made, Tensor):
        return batched(made.new_zeros((0, *made.shape)), level.number)
    if isinstance(made, (tuple, list)):
        return type(made)([_emptied(level, part) for part in made])
    return made


def new_levels(values: Any, known: list[Level]) -> list[Level]:
    """The maps that `values` have samples of, but for the known ones."""
    found = {
        number
        for leaf in leaves(values)
        if isinstance(leaf, Tensor)
        for number in unwrapped(leaf)[1]
    }
    return [level for level in levels() if level.number in found and level not in known]


def each_alone(why: NeedsValue, run: Callable[[int], Any], count: int) -> list[Any]:
    """`run` of 0 to `count` - 1, where all at once ended in `why`. That is raised if each would write
    to a tensor which was there before: it would be written `count` times.
    """
    before, made = why.writes(), []
    for place in range(count):
        made.append(run(place))
        if why.writes() != before:
            raise why
    return made


def each_sample(level: Level, function: Any, argument: Any) -> Any:
    """`function` of one sample of its argument after another, and the results stacked."""
    with taken_apart([level]):
        made = [function(sample(level, argument, place)) for place in range(level.size)]
    return stacked(level, made)
