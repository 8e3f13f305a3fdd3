"""Packed matrices against arithmetic by numpy, group by group."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda.quantization._pack import Unpackable, pack_int4, pack_int8


def matrix(rows, columns, seed=0):
    values = np.random.default_rng(seed).standard_normal((rows, columns)).astype("f4") * 0.05
    values[0] = 0
    return values


def groups_of(a, groups):
    return a.reshape(a.shape[0], groups, -1)


def nibbles(packed, columns):
    """The numbers, one in each place, as the row's text lays them out."""
    bytes_ = packed.numpy().reshape(packed.shape[0], -1, 64)
    whole = np.stack([bytes_ & 15, bytes_ >> 4], 2).reshape(packed.shape[0], -1)
    assert not whole[:, columns:].any()
    return whole[:, :columns].astype("f4")


@pytest.mark.parametrize(("columns", "size"), [(64, None), (96, 32), (256, 128)])
def test_int8_is_the_nearest_integer_by_the_stored_scale(columns, size):
    a = matrix(40, columns)
    weight, scales, offsets = pack_int8(taeda.from_numpy(a), size)
    split = groups_of(a, scales.shape[1])
    wanted = (np.abs(split).max(-1) / np.float32(127)).astype("f2")
    assert offsets is None
    assert np.array_equal(scales.numpy(), wanted)
    used = np.where(wanted == 0, 1, wanted).astype("f4")[..., None]
    assert np.array_equal(groups_of(weight.numpy(), scales.shape[1]), np.rint(split / used))
    assert np.abs(weight.numpy()).max() == 127


@pytest.mark.parametrize(("columns", "size"), [(64, None), (96, 32), (256, 128)])
def test_int4_spends_all_sixteen_values(columns, size):
    a = matrix(40, columns)
    weight, scales, offsets = pack_int4(taeda.from_numpy(a), size, symmetric=True)
    assert offsets is None
    q = groups_of(nibbles(weight, columns), scales.shape[1])
    split = groups_of(a, scales.shape[1])
    scale = scales.float().numpy()[..., None]
    at = np.abs(split).argmax(-1)[..., None]
    assert (np.take_along_axis(q, at, -1)[1:] == 0).all()  # the largest magnitude is 8 steps away
    wanted = np.clip(np.rint(split / np.where(scale == 0, 1, scale)) + 8, 0, 15)
    assert np.array_equal(q, wanted)
    assert set(np.unique(q)) == set(range(16))


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_int4_with_offsets_reaches_from_the_smallest_to_the_largest(shift):
    a = matrix(40, 96) + np.float32(shift)
    weight, scales, offsets = pack_int4(taeda.from_numpy(a), 32, symmetric=False)
    q = groups_of(nibbles(weight, 96), 3)
    made = q * scales.float().numpy()[..., None] + offsets.float().numpy()[..., None]
    step = (np.ptp(groups_of(a, 3), axis=-1) / 15)[..., None]
    rounding = np.abs(groups_of(a, 3)).max() * 2.0**-10
    assert (np.abs(made - groups_of(a, 3)) <= step * 0.51 + rounding).all()
    assert q[1:].min() == 0
    assert q[1:].max() == 15


@pytest.mark.parametrize("factor", [1e-6, 1e9])
@pytest.mark.parametrize("pack", [
    lambda a: pack_int8(a, 32), lambda a: pack_int4(a, 32, True), lambda a: pack_int4(a, 32, False),
])  # fmt: skip
def test_scales_out_of_the_range_of_float16_are_float32(factor, pack):
    a = taeda.from_numpy(matrix(8, 64) * np.float32(factor))
    packed = pack(a)
    assert packed.scales.dtype == taeda.float32
    assert packed.offsets is None or packed.offsets.dtype == taeda.float32
    assert bool((packed.scales[1:] != 0).all())


def test_many_rows_are_packed_as_few_are():
    a = taeda.from_numpy(matrix(9000, 32))
    whole = pack_int8(a, None)
    assert taeda.equal(whole.weight[8990:], pack_int8(a[8990:], None).weight)


@pytest.mark.parametrize(
    ("a", "size", "fact"),
    [
        (taeda.ones(2, 60), None, "60 numbers"),
        (taeda.ones(2, 96), 64, "group's 64"),
        (taeda.ones(0, 64), None, "no numbers"),
        (taeda.ones(2, 64, device="meta"), None, "meta"),
        (taeda.full((2, 64), float("nan")), None, "not finite"),
        (taeda.full((2, 64), float("inf")), None, "not finite"),
    ],
)
def test_what_has_no_packed_form(a, size, fact):
    with pytest.raises(Unpackable, match=fact):
        pack_int8(a, size)
    with pytest.raises(Unpackable, match=fact):
        pack_int4(a, size, True)
