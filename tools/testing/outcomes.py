"""What a call comes to, results or a refusal, and whether two outcomes are the same."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import taeda

__all__ = [
    "DOCUMENTED",
    "EPSILON",
    "Outcome",
    "array",
    "difference",
    "flat",
    "outcome_of",
    "unlike",
]

# NotImplementedError is a RuntimeError
DOCUMENTED = (TypeError, ValueError, RuntimeError, IndexError, MemoryError, OverflowError)
#: the distance of 1 to the next number
EPSILON = {
    "float64": 2.0**-52, "complex128": 2.0**-52, "float32": 2.0**-23, "complex64": 2.0**-23,
    "float16": 2.0**-10, "complex32": 2.0**-10, "bfloat16": 2.0**-7,
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """The results of a call as one flat list, or the exception that it raised."""

    results: list[Any]
    error: Exception | None = None

    def __str__(self) -> str:
        return (
            f"{type(self.error).__name__}: {self.error}"
            if self.error
            else f"{len(self.results)} results"
        )


def outcome_of(call: Callable[[], Any]) -> Outcome:
    """Make the call. Any exception that is not documented leaves here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Outcome(flat(call()))
    except DOCUMENTED as error:
        return Outcome([], error)


def flat(value: Any) -> list[Any]:
    """Tensors and numbers of nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in flat(part)]
    return [value]


def array(t: taeda.Tensor) -> Any:
    """Its values, as float64, complex128, or the integers that they are."""
    t = t.detach().resolve_conj().resolve_neg()
    if t.is_complex():
        return np.array(t.to(taeda.complex128).numpy())
    if t.is_floating_point():
        return np.array(t.to(taeda.float64).numpy())
    return np.array(t.numpy())


def bits(t: taeda.Tensor) -> bytes:
    """What its elements are in memory, in order; all NaN alike."""
    t = t.detach().resolve_conj().resolve_neg()
    if t.dtype is taeda.complex32:
        t = taeda.view_as_real(t.contiguous())
    plain = t.contiguous()
    if not (t.is_floating_point() or t.is_complex()):
        return np.array(plain.numpy()).tobytes()
    name = str(t.dtype).partition(".")[2]
    as_bits = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}.get(name)
    values = np.array(plain.view(getattr(taeda, as_bits)).numpy() if as_bits else plain.numpy())
    values = values.view(getattr(ml_dtypes, name)) if as_bits else values
    return np.where(np.isnan(values), values.dtype.type(math.nan), values).tobytes()


def difference(
    found: taeda.Tensor, wanted: taeda.Tensor, epsilons: float | None, least: float = 0.0
) -> str:
    """What tells `found` from `wanted`, nothing if they are equal within `epsilons` of the largest
    number (None: in every bit).

    `least` is a size below which the largest number is not held to be: sums may cancel, and the
    rounding of their terms stays.
    """
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{found.dtype} of shape {tuple(found.shape)}, not {wanted.dtype} of {tuple(wanted.shape)}"
    if bits(found) == bits(wanted):
        return ""
    ours, theirs = array(found), array(wanted)
    with np.errstate(all="ignore"):
        apart = (
            np.abs(ours - theirs) if theirs.dtype.kind in "fc" else (ours != theirs).astype(float)
        )
        ordinary = np.isfinite(ours) & np.isfinite(theirs)
        worst = float(apart[ordinary].max(initial=0))
        scale = float(np.abs(theirs[ordinary].astype(complex)).max(initial=0))
    name = str(wanted.dtype).partition(".")[2]
    same_rest = np.array_equal(
        ours[~ordinary], theirs[~ordinary], equal_nan=theirs.dtype.kind in "fc"
    )
    if not same_rest:
        return "infinities or NaN elsewhere"
    allowed = (
        0.0 if epsilons is None else epsilons * EPSILON.get(name, 0.0) * max(scale, least, 1e-30)
    )
    if worst <= allowed and (epsilons is not None or found.is_complex()):
        return ""  # bits of a complex zero differ in its signs, which a conjugate turns
    return f"apart by {worst:.3g}, allowed {allowed:.3g}, largest number {scale:.3g}"


def unlike(found: Outcome, wanted: Outcome, epsilons: float | None, least: float = 0.0) -> str:
    """What tells two outcomes apart; nothing if they are the same within what `difference` allows."""
    if found.error or wanted.error:
        same = found.error and wanted.error and type(found.error) is type(wanted.error)
        return "" if same else f"{found}, not {wanted}"
    if len(found.results) != len(wanted.results):
        return f"{found}, not {wanted}"
    for number, (mine, other) in enumerate(zip(found.results, wanted.results, strict=True)):
        if isinstance(other, taeda.Tensor):
            said = (
                difference(mine, other, epsilons, least)
                if isinstance(mine, taeda.Tensor)
                else f"a {type(mine).__name__}"
            )
        else:
            said = (
                ""
                if mine == other or (mine != mine and other != other)
                else f"{mine!r}, not {other!r}"
            )
        if said:
            return f"result {number}: {said}"
    return ""
