"""Products: samples are one more batch dimension, or more rows of one product."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._batched import WIDE, Level, rank
from ._registry import Decline, rule

__all__: list[str] = []


def _product(level: Level, a: Any, b: Any) -> Any:
    """matmul of samples."""
    on_a, on_b, rank_a, rank_b = level.on(a), level.on(b), rank(a), rank(b)
    if rank_a == 0 or rank_b == 0:
        raise Decline
    if on_a and not on_b and (rank_b <= 2 or rank_a == 1):
        if rank_b <= 2:
            return taeda.matmul(a._value, b)
        return taeda.matmul(
            a._value.unsqueeze(-2).reshape(level.size, *[1] * (rank_b - 2), 1, -1), b
        ).squeeze(-2)
    if on_b and not on_a and rank_b == 1:
        return taeda.matmul(b._value, a) if rank_a == 1 else _rows(level, a, b)
    whole_a = level.value(a) if rank_a > 1 else level.value(a).unsqueeze(-2)
    whole_b = level.value(b) if rank_b > 1 else level.value(b).unsqueeze(-1)
    wanted = max(rank_a, rank_b, 2)
    left = _aligned(whole_a, on_a, wanted)
    right = _aligned(whole_b, on_b, wanted)
    made = taeda.matmul(left, right)
    if rank_a == 1:
        made = made.squeeze(-2)
    return made.squeeze(-1) if rank_b == 1 else made


def _rows(level: Level, a: Any, b: Any) -> Any:
    if rank(a) != 2:
        raise Decline
    return taeda.matmul(b._value, a.transpose(-2, -1))


def _aligned(value: Any, mapped: bool, wanted: int) -> Any:
    missing = wanted + 1 - rank(value)
    if not mapped or missing <= 0:
        return value
    return value.reshape(value.shape[0], *[1] * missing, *value.shape[1:])


@rule("matmul", "linalg.matmul", "rmatmul")
def _matmul(level: Level, func: Any, a: Any, b: Any) -> Any:
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        raise Decline
    return _product(level, b, a) if func.__name__ == "__rmatmul__" else _product(level, a, b)


@rule("mm", "bmm", "mv", "dot")
def _plain(level: Level, func: Any, a: Any, b: Any) -> Any:
    ranks = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1)}[func.__name__]
    if (rank(a), rank(b)) != ranks or a.dtype != b.dtype:
        raise Decline
    return _product(level, a, b)


@rule("linear")
def _linear(level: Level, func: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    if rank(weight) != 2 or rank(x) == 0 or (bias is not None and rank(bias) != 1):
        raise Decline
    if bias is not None and x.dtype in WIDE and (level.on(weight) or level.on(bias)):
        rows = level.full(x).reshape(level.size, -1, x.shape[-1])
        made = _at_once(level, bias, rows, level.full(weight).mT)
        return made.reshape(level.size, *x.shape[:-1], weight.shape[0])
    if not level.on(weight):
        if bias is None or not level.on(bias):
            return func(level.value(x), weight, bias)
        made = func(level.value(x), weight)
    else:
        made = _product(level, x, weight.mT)
    if bias is None:
        return made
    shift = level.value(bias)
    if level.on(bias):
        shift = shift.reshape(level.size, *[1] * (rank(x) - 1), -1)
    return made + shift


def _at_once(level: Level, x: Any, a: Any, b: Any, **factors: Any) -> Any:
    """x + a @ b with one rounding, of one matrix a sample."""
    shape = (a.shape[0], a.shape[1], b.shape[2])
    whole = level.padded(x, 2) if level.on(x) else x
    if any(n not in (1, m) for n, m in zip(whole.shape[::-1], shape[::-1], strict=False)):
        raise Decline
    return taeda.baddbmm(whole.expand(shape), a, b, **factors)


def _wrapped(level: Level, value: Any) -> Any:
    from ._batched import batched

    return batched(value, level.number)


def _added(level: Level, x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    made = _wrapped(level, product)
    if alpha != 1:
        made = made * alpha
    if beta == 0:
        return made._value
    whole = made + (x * beta if beta != 1 else x)
    if whole.shape != made.shape:
        raise Decline  # the product does not broadcast to what is added
    return whole._value


def _short_add(level: Level, name: str, x: Any, a: Any, b: Any, **factors: Any) -> Any:
    """As one batch of matrices: the sum is rounded once."""
    first, second = level.full(a), level.full(b)
    if rank(x) > {"addmm": 2, "addmv": 1, "baddbmm": 3}[name]:
        raise Decline
    if name == "addmm":
        return _at_once(level, x, first, second, **factors)
    if name == "addmv":
        column = x.unsqueeze(-1) if rank(x) else x
        return _at_once(level, column, first, second.unsqueeze(-1), **factors).squeeze(-1)
    shape = (*first.shape[:-1], second.shape[-1])
    whole = (level.padded(x, 3) if level.on(x) else x).expand(shape)
    flat = (t.reshape(-1, *t.shape[2:]) for t in (whole, first, second))
    return taeda.baddbmm(*flat, **factors).reshape(shape)


@rule("addmm", "addmv", "baddbmm")
def _add(level: Level, func: Any, x: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    ranks = {"addmm": (2, 2), "baddbmm": (3, 3), "addmv": (2, 1)}[func.__name__]
    if (rank(a), rank(b)) != ranks:
        raise Decline
    if x.dtype in WIDE:
        return _short_add(level, func.__name__, x, a, b, beta=beta, alpha=alpha)
    if not (level.on(a) or level.on(b)):
        plain = func(
            taeda.zeros((), dtype=a.dtype).expand_as(taeda.matmul(a, b)), a, b, beta=0, alpha=alpha
        )
        whole = plain + x * beta
        if whole.shape != plain.shape:
            raise Decline
        return level.value(whole)
    return _added(level, x, _product(level, a, b), beta, alpha)


@rule("outer", "ger")
def _outer(level: Level, func: Any, a: Any, b: Any) -> Any:
    if rank(a) != 1 or rank(b) != 1:
        raise Decline
    return (a.unsqueeze(-1) * b.unsqueeze(-2))._value


@rule("einsum")
def _einsum(level: Level, func: Any, equation: Any, *operands: Any, **kwargs: Any) -> Any:
    """One more letter for the samples."""
    values = (
        operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    )
    if not isinstance(equation, str) or kwargs or "." in equation:
        raise Decline
    words, arrow, result = equation.replace(" ", "").partition("->")
    letter = next((c for c in "ZYXWVUTSRQPON" if c not in equation), None)
    if letter is None or not all(isinstance(v, Tensor) for v in values):
        raise Decline
    parts = words.split(",")
    if not arrow:
        joined = "".join(parts)
        result = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    marked = [letter + p if level.on(v) else p for p, v in zip(parts, values, strict=True)]
    return func(",".join(marked) + "->" + letter + result, [level.value(v) for v in values])


@rule("scaled_dot_product_attention")
def _attention(
    level: Level,
    func: Any,
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    if len({rank(q), rank(k), rank(v)}) > 1 or attn_mask is not None or rank(q) < 2:
        raise Decline
    whole = [level.full(x) for x in (q, k, v)]
    if rank(q) > 3:  # (N, heads, L, E): samples join the batch
        flat = [w.flatten(0, 1) for w in whole]
        made = func(*flat, None, *args, **kwargs)
        return made.unflatten(0, (level.size, -1) if level.size else whole[0].shape[:2])
    return func(*whole, None, *args, **kwargs)
