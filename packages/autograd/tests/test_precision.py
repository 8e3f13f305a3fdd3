"""Numbers that float32 cannot hold: derivatives in float64 are those of float64, whatever else is
set or given.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from samples import ROWS, Sample, fits, samples, tensors

import taeda
from taeda.autograd import grad

pytestmark = pytest.mark.filterwarnings("ignore")
WIDE = ("float64", "complex128")


def _moved(value: Any) -> Any:
    """Python floats get digits that float32 cannot hold."""
    if type(value) is float and math.isfinite(value):
        return value * (1 + 1e-10)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(map(_moved, value))
    return value


def _with_digits(sample: Sample) -> Sample:
    kwargs = {name: _moved(value) for name, value in sample.kwargs.items()}
    return replace(sample, args=_moved(sample.args), kwargs=kwargs)


@contextlib.contextmanager
def default_dtype(dtype: taeda.dtype) -> Iterator[None]:
    before = taeda.get_default_dtype()
    taeda.set_default_dtype(dtype)
    try:
        yield
    finally:
        taeda.set_default_dtype(before)


def _inexact(found: Any) -> list[taeda.Tensor]:
    return [t for t in tensors(found) if t.is_floating_point() or t.is_complex()]


def _wide(found: list[taeda.Tensor]) -> list[taeda.Tensor]:
    return [t for t in found if str(t.dtype).rpartition(".")[2] in WIDE]


def _total(found: list[taeda.Tensor]) -> taeda.Tensor | None:
    """A number that depends on each element in its own way."""
    parts = []
    for number, t in enumerate(t for t in found if t.requires_grad):
        weights = taeda.arange(1.0, 1.0 + t.numel(), dtype=taeda.float64).reshape(t.shape)
        real = t.abs() if t.is_complex() else t
        parts.append((real * weights.sin()).sum() * (number + 1))
    return sum(parts[1:], parts[0]) if parts else None


def _derivatives(sample: Sample, fixed: taeda.Tensor | None = None) -> list[taeda.Tensor]:
    """The results of a call, its gradients for all tensors but `fixed`, and theirs."""
    leaves: list[taeda.Tensor] = []

    def leaf(t: taeda.Tensor) -> taeda.Tensor:
        if t is fixed or not (t.is_floating_point() or t.is_complex()):
            return t
        leaves.append(t.detach().clone().requires_grad_())
        return leaves[-1] * 1  # it may be written in place

    mapped = sample.map(leaf)
    taeda.manual_seed(0)
    found = _inexact(mapped.call()) + _inexact(mapped.written())
    made = [t.detach() for t in _wide(found)]
    for _ in range(2):
        total = _total(_wide(found))
        if total is None or not leaves:
            break
        try:
            found = [
                g
                for g in grad(total, leaves, create_graph=True, allow_unused=True)
                if g is not None
            ]
        except (NotImplementedError, RuntimeError):  # not differentiable (again): the row says so
            break
        made += [t.detach() for t in _wide(found)]
    return made


def _same(a: taeda.Tensor, b: taeda.Tensor) -> bool:
    return (
        a.dtype is b.dtype
        and a.shape == b.shape
        and taeda.allclose(a, b, rtol=1e-13, atol=0, equal_nan=True)
    )


UNFILLED = {"empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty.memory_format"}


def _calls(name: str, dtype: str) -> list[Sample]:
    """The calls of a row that work in `dtype`, with such digits in their numbers where it takes them."""
    if name in UNFILLED or not fits(ROWS[name], dtype):
        return []
    try:
        drawn = list(samples(name, dtype))
    except NotImplementedError:  # a result that is one of the arguments
        return []
    made = []
    for sample in drawn:
        for tried in (_with_digits(sample), sample):
            try:
                tried.map(taeda.clone).call()
            except Exception:  # noqa: BLE001 - not another number there, or not this dtype
                continue
            made.append(tried)
            break
    return made


@pytest.mark.parametrize("dtype", WIDE)
def test_the_default_dtype_does_not_reach_into_wider_numbers(dtype):
    wrong, compared = [], 0
    for name in ROWS:
        for call in _calls(name, dtype):
            narrow = _derivatives(call)
            with default_dtype(taeda.float64):
                wide = _derivatives(call)
            compared += len(narrow)
            if len(wide) < len(narrow) or not all(map(_same, narrow, wide)):
                wrong.append(str(call))
    assert not wrong
    assert compared > 1000


# ---- a number in place of a tensor ----

NUMBERS = (1 / 3, 1 + 1e-12, 1e-50, 1e300, -2.000000000001, 7)


def _with_number(sample: Sample, place: int, number: float) -> Iterator[list[taeda.Tensor]]:
    """Derivatives of the call with a number, and with a tensor of it, as its argument at `place`."""
    same = taeda.tensor([float(number)], dtype=taeda.float64)
    for value in (number, same):
        args = (*sample.args[:place], value, *sample.args[place + 1 :])
        yield _derivatives(replace(sample, args=args), same)


def test_a_number_has_the_derivatives_of_a_tensor_that_holds_it():
    wrong, rows = [], set()
    for name, row in ROWS.items():
        if row.family != "pointwise" or not fits(row, "float64"):
            continue
        for sample in samples(name, "float64"):
            for place, argument in enumerate(sample.args):
                if not isinstance(argument, taeda.Tensor) or len(sample.tensors()) < 2:
                    continue
                for number in NUMBERS:
                    try:
                        found = list(_with_number(sample, place, number))
                    except (TypeError, NotImplementedError, RuntimeError):
                        continue  # a number is not taken there
                    rows.add(name)
                    if not all(map(_same, *found)):
                        wrong.append((str(sample), place, number))
    assert not wrong
    assert len(rows) > 15


@pytest.mark.parametrize(("name", "base"), [("log2", 2), ("log10", 10)])
def test_second_derivatives_of_logarithms_reach_the_largest_numbers(name, base):
    at = 7.4e-20
    x = taeda.tensor(at, requires_grad=True)
    (slope,) = grad(getattr(taeda, name)(x), x, create_graph=True)
    (bend,) = grad(slope, x)
    assert bend.item() == pytest.approx(-1 / at / at / math.log(base), rel=1e-5)
