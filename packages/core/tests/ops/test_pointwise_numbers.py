"""Numbers beside float16 and bfloat16: used as float32, whatever the 16 bits can hold, and the result
is rounded once; over every row of the op table that may be given one.
"""

from __future__ import annotations

import numpy as np
import pytest
from samples import ROWS, fits, samples

import taeda
from taeda.testing import assert_close

DTYPES = ("float16", "bfloat16")
#: what 16 bits cannot hold, and what they can
NUMBERS = (70000.0, 524288.0, 1e-9, 0.1, 1 / 3, 0.999, 0.5)
#: (row, place of the operand): all others must be tensors of one dtype
ONE_DTYPE = {("lerp.Tensor", 1), ("heaviside", 1)}
#: sums: float32 loses what the larger operand leaves no room for
SUMS = ("add", "sub", "rsub", "lerp", "addcmul", "addcdiv", "logaddexp", "logaddexp2", "div")
#: functions that float32 computes to within more than a few units, by how many
STEEP = {
    "tanh_backward": 2**9,
    "pow": 2**6,
    "igamma": 2**6,
    "igammac": 2**8,
    "zeta": 2**4,
    "_standard_gamma_grad": 2**8,
}


def operands(row):
    """Places of the tensors in the schema."""
    return [k for k, a in enumerate(row.schema.arguments) if a.is_tensor and not a.is_list]


CASES = [
    pytest.param(row, k, id=f"{name}-{row.schema.arguments[k].name}")
    for name, row in ROWS.items()
    if row.kind == "pointwise" and fits(row, "float16") and not row.rounds_numbers
    for k in operands(row)[1:]
    if (name, k) not in ONE_DTYPE
]


def test_the_table_has_such_rows():
    assert len(CASES) > 35


def as_float32(number):
    return float(np.float32(number))


def given(row, k, number):
    """A Python number where the row takes one, else a tensor without dimensions."""
    name = row.schema.arguments[k].name
    return number if name in row.numbers else taeda.tensor(number, dtype=taeda.float64)


def with_number(sample, k, number):
    args = list(sample.args)
    args[k] = number
    return type(sample)(
        sample.row, sample.number, sample.text, sample.dtype, tuple(args), sample.kwargs
    )


def cases(row, k, dtype, number, **sizes):
    """Pairs: the call with the number, and the same in float64."""
    sizes = sizes or {"m": 23, "n": 91}
    for sample in samples(row, dtype, **sizes):
        if k >= len(sample.args) or not isinstance(sample.args[k], taeda.Tensor):
            continue
        if len(sample.tensors()) < 2:
            continue
        wide = sample.map(lambda t: t.double() if t.is_floating_point() else t)
        yield (
            with_number(sample, k, given(row, k, number)),
            with_number(wide, k, taeda.tensor(as_float32(number), dtype=taeda.float64)),
        )


def rounded(x, dtype):
    return x.to(taeda.float32).to(dtype)


def slack_of(row, sample, exact):
    """What float32 may lose before the result is rounded."""
    name = row.schema.name
    slack = exact.abs() * 2.0**-21 * STEEP.get(name, 4)
    if name in SUMS:
        sizes = [t.double().abs() for t in sample.tensors() if t.is_floating_point()]
        largest = max(float(t[t.isfinite()].max()) if t.numel() else 0.0 for t in sizes)
        slack = slack + largest * 2.0**-22
    return slack


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("row", "k"), CASES)
def test_a_number_is_not_rounded_first(row, k, dtype):
    seen = 0
    for number in NUMBERS:
        for sample, reference in cases(row, k, dtype, number):
            made, exact = sample.call(), reference.call().double()
            assert made.dtype is getattr(taeda, dtype)
            slack = slack_of(row, reference, exact)
            low, high = (rounded(exact + s, made.dtype) for s in (-slack, slack))
            within = ((made >= low) & (made <= high)) | (made.isnan() & exact.isnan())
            within = within | (made == rounded(exact, made.dtype))
            assert bool(within.all()), (number, made[~within][:5], exact[~within][:5])
            seen += 1
    assert seen


def in_columns(t):
    """The same numbers, every second element of memory."""
    room = taeda.empty((*t.shape, 2), dtype=t.dtype)
    room[..., 0] = t
    return room[..., 0]


def backwards(t):
    return t.mT.contiguous().mT if t.dim() > 1 else in_columns(t)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("row", "k"), CASES)
def test_bits_do_not_depend_on_the_layout_the_target_or_the_length(row, k, dtype):
    def change(layout):
        return lambda t: layout(t) if t.dim() else t

    for number in (0.1, 70000.0, 0.5, 3.0):
        for sample, _ in cases(row, k, dtype, number):
            made = sample.call()
            for layout in (in_columns, backwards):
                same(sample.map(change(layout)).call(), made)
            if "out" in row.variants:
                target = taeda.full_like(made, 7)
                sample.call(out=target)
                same(target, made)
                strided = in_columns(taeda.full_like(made, 7))
                sample.call(out=strided)
                same(strided, made)
            if "inplace" in row.variants and made.shape == sample.args[0].shape:
                x = sample.args[0].clone()
                getattr(x, f"{row.schema.name}_")(*sample.args[1:], **sample.kwargs)
                same(x, made)
            if len({t.shape for t in sample.tensors() if t.dim()}) > 1:
                continue  # they broadcast
            flat = sample.map(lambda t: t.reshape(-1) if t.dim() else t)
            same(flat.map(lambda t: t[:7] if t.dim() else t).call(), made.reshape(-1)[:7])


def same(a, b):
    assert a.dtype is b.dtype
    assert bool(((a == b) | (a.isnan() & b.isnan())).all())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow"])
@pytest.mark.parametrize("number", NUMBERS)
def test_lists_of_tensors_as_single_ones(name, number, dtype):
    x = taeda.linspace(0.1, 2, 500).to(getattr(taeda, dtype))
    wanted = getattr(x, name)(number)
    call = getattr(taeda, f"_foreach_{name}")
    same(call([x, x], number)[1], wanted)
    same(call([x], [number])[0], wanted)
    for numbers in (number, [number, number]):
        changed = [x.clone(), x.clone()]
        getattr(taeda, f"_foreach_{name}_")(changed, numbers)
        same(changed[1], wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lists_of_tensors_take_the_weight_of_lerp(dtype):
    x = taeda.linspace(-3, 2, 500).to(getattr(taeda, dtype))
    changed = [x.clone()]
    taeda._foreach_lerp_(changed, [-x], 0.001)
    same(changed[0], x.lerp(-x, 0.001))


def half(*values):
    return taeda.tensor(values, dtype=taeda.float16)


def test_numbers_that_float16_cannot_hold():
    assert (half(3388.0) / 524288.0).tolist() == [0.006462097167968750]
    assert (half(0.01) * 65536).tolist() == [655.5]
    assert (half(1e-3) * taeda.tensor(70000.0)).tolist() == [70.0]
    assert (half(60000.0) / 100000).item() == pytest.approx(0.6, rel=2**-11)
    assert (half(3.0) // 0.1).tolist() == [29.0]
    assert (half(-30000.0) + 70000).tolist() == [40000.0]


def test_a_decay_of_bfloat16_has_no_bias():
    x = taeda.tensor([1.3, 2.6, 3.1], dtype=taeda.bfloat16)
    assert_close(x.mul(1 - 0.002), (x.double() * 0.998).to(taeda.bfloat16), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [taeda.float16, taeda.bfloat16])
def test_a_truncated_quotient_is_not_rounded_before_it_is_cut(dtype):
    x = taeda.arange(1, 2000).to(dtype)
    for divisor in (7, 3, taeda.full_like(x, 7)):
        made = taeda.div(x, divisor, rounding_mode="trunc")
        by = divisor.double() if isinstance(divisor, taeda.Tensor) else divisor
        same(made, (x.double() / by).trunc().to(dtype))


def test_complex_halves_beside_a_number():
    x = taeda.tensor([1 + 0.5j], dtype=taeda.complex64).to(taeda.complex32)
    assert (x * 1e-6 * 1e6).tolist() != x.tolist()  # what lies between is rounded
    assert (x / 70000.0 * 70000.0).real.item() == pytest.approx(1, rel=0.01)


def test_comparisons_round_a_number_to_the_dtype_of_the_tensor():
    x = taeda.tensor([0.1], dtype=taeda.bfloat16)
    assert bool(x == 0.1)
    assert x.maximum(taeda.tensor(0.3)).item() == taeda.tensor(0.3, dtype=taeda.bfloat16).item()
