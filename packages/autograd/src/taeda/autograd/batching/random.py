"""Random functions inside of vmap: refused, drawn for each sample, or drawn once, as the map's
`randomness` says.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import leaves, tensors_in

from ._batched import Level, batched, levels

__all__ = ["NAMES", "call", "draws"]

_SIZED = {"rand": 0, "randn": 0}
_ELEMENTWISE = {
    "rand_like", "randn_like", "randint_like", "bernoulli", "dropout", "poisson", "native_dropout",
    "alpha_dropout", "rrelu",
    "normal_", "uniform_", "log_normal_", "exponential_", "cauchy_", "geometric_", "random_",
    "bernoulli_", "dropout_", "_standard_gamma", "binomial",
}  # fmt: skip
NAMES = frozenset({
    *_SIZED, *_ELEMENTWISE, "randint", "randperm", "normal", "multinomial", "feature_dropout",
    "feature_alpha_dropout", "feature_dropout_", "alpha_dropout_",
    "feature_alpha_dropout_", "rrelu_", "scaled_dot_product_attention",
})  # fmt: skip
_TRAINED = {"dropout": 2, "dropout_": 2, "native_dropout": 2, "alpha_dropout": 2,
    "feature_dropout": 2, "feature_alpha_dropout": 2, "alpha_dropout_": 2, "feature_dropout_": 2,
    "feature_alpha_dropout_": 2, "rrelu": 3, "rrelu_": 3}  # fmt: skip


def draws(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether this call takes numbers from the generator."""
    if key == "scaled_dot_product_attention":
        return bool(kwargs.get("dropout_p", args[4] if len(args) > 4 else 0.0))
    if key in _TRAINED:
        place = _TRAINED[key]
        missing = key not in ("rrelu", "rrelu_")
        name = "train" if "train" in kwargs else "training"
        return bool(kwargs.get(name, args[place] if len(args) > place else missing))
    return True


def call(key: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call at the innermost map; what that leaves open the next outward decides."""
    level = levels()[-1]
    if level.randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the "
            "'same' or 'different' randomness "
            "flags on vmap or perform the randomness operation out of vmap"
        )
    mapped = any(level.on(leaf) for leaf in leaves((args, kwargs)))
    levels().pop()
    try:
        if level.randomness == "different":
            return _different(level, key, func, args, kwargs, mapped)
        return _same(level, func, args, kwargs) if mapped else _outside(func, args, kwargs)
    finally:
        levels().append(level)


def _outside(func: Any, args: Any, kwargs: Any) -> Any:
    from ._call import call as next_call  # late: it asks these rules

    return next_call(func, args, kwargs)


def _different(level: Level, key: str, func: Any, args: Any, kwargs: Any, mapped: bool) -> Any:
    writes = key.endswith("_")
    if writes and not level.on(args[0]):
        raise RuntimeError(
            f"vmap: {key}: the tensor is the same for all samples, so it cannot take numbers of "
            "each; make it from a mapped one"
        )
    tensors = list(tensors_in((args, kwargs)))
    if key in _ELEMENTWISE and len(tensors) == 1 and mapped:
        made = _outside(
            func,
            tuple(level.value(a) for a in args),
            {k: level.value(v) for k, v in kwargs.items()},
        )
        return args[0] if writes else _wrapped(level, made)
    if key in _SIZED and not tensors and (size := _size(args, kwargs)) is not None:
        rest = {k: v for k, v in kwargs.items() if k != "size"}
        return batched(_outside(func, ((level.size, *size),), rest), level.number)
    return _each(level, func, args, kwargs, writes)


def _size(args: Any, kwargs: Any) -> tuple[int, ...] | None:
    given = kwargs.get("size", args[0] if len(args) == 1 and not isinstance(args[0], int) else args)
    return tuple(given) if all(isinstance(n, int) for n in given) else None


def _wrapped(level: Level, made: Any) -> Any:
    if isinstance(made, Tensor):
        return batched(made, level.number)
    return type(made)(_wrapped(level, part) for part in made)


def _each(level: Level, func: Any, args: Any, kwargs: Any, writes: bool) -> Any:
    from ._call import sample, stacked  # late: it asks these rules

    made = [
        _outside(func, sample(level, args, place), sample(level, kwargs, place))
        for place in range(level.size)
    ]
    return args[0] if writes else stacked(level, made)


def _same(level: Level, func: Any, args: Any, kwargs: Any) -> Any:
    """Mapped arguments, one draw: every sample meets the generator in the same state."""
    from ._call import sample, stacked  # late: it asks these rules

    generator = kwargs.get("generator") or taeda.random.default_generator
    state = generator.get_state()
    made = []
    for place in range(level.size):
        generator.set_state(state)
        made.append(_outside(func, sample(level, args, place), sample(level, kwargs, place)))
    if getattr(func, "__name__", "").endswith("_"):
        return args[0]
    return stacked(level, made)
