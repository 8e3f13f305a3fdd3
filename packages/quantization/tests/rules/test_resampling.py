"""Resampling: integers between others, rounded with the zero point."""

from __future__ import annotations

import numpy as np
import pytest

import taeda

F32 = np.float32


def places(size, out, align, scale):
    """(first, second, weight of the second) of each output, in float32."""
    if align:
        at = np.arange(out, dtype=F32) * F32((size - 1) / max(out - 1, 1) if out > 1 else 0)
    else:
        ratio = F32(1 / scale if scale else size / out)
        at = np.maximum((np.arange(out, dtype=F32) + F32(0.5)) * ratio - F32(0.5), F32(0))
    first = np.minimum(at.astype(int), size - 1)
    return first, np.minimum(first + 1, size - 1), at - first.astype(F32)


HOW = [
    {"size": (5, 7)}, {"size": (13, 9), "align_corners": True}, {"size": (1, 1), "align_corners": True},
    {"scale_factor": 2.0}, {"scale_factor": 1.7}, {"size": (8, 10)},
]  # fmt: skip


@pytest.mark.parametrize("zero", [0, 7, 100])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32])
@pytest.mark.parametrize("how", HOW, ids=str)
def test_bilinear(how, dtype, zero):
    low, high = (0, 256) if dtype == np.uint8 else (-128, 128)
    q = np.random.default_rng(0).integers(low, high, (2, 3, 8, 10)).astype(dtype)
    x = taeda._make_per_tensor_quantized_tensor(taeda.from_numpy(q.copy()), 0.1, zero)
    made = taeda.nn.functional.interpolate(x, mode="bilinear", **how)
    assert (made.q_scale(), made.q_zero_point()) == (0.1, zero)
    out, align, scale = made.shape[2:], how.get("align_corners"), how.get("scale_factor")
    (top, below, down), (left, right, far) = (
        places(n, m, align, scale) for n, m in zip(q.shape[2:], out, strict=True)
    )
    f = q.astype(F32)
    upper, lower = (
        (F32(1) - far) * f[:, :, rows][..., left] + far * f[:, :, rows][..., right]
        for rows in (top, below)
    )
    between = (F32(1) - down)[:, None] * upper + down[:, None] * lower
    want = np.rint((between - F32(zero)) + F32(zero))
    assert np.array_equal(made.int_repr().numpy(), want)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_nearest(rank, mode):
    q = taeda.arange(2 * 3 * 4**rank, dtype=taeda.int32).reshape(2, 3, *[4] * rank)
    x = taeda._make_per_tensor_quantized_tensor(q, 0.1, 5)
    made = taeda.nn.functional.interpolate(x, size=[7, 3, 5][:rank], mode=mode)
    want = taeda.nn.functional.interpolate(q.float(), size=[7, 3, 5][:rank], mode=mode)
    assert taeda.equal(made.int_repr().float(), want)


@pytest.mark.parametrize("size", [(0, 3), (5,)])
def test_what_plain_resampling_refuses(size):
    x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 0.1, 5, taeda.quint8)
    with pytest.raises((RuntimeError, ValueError)) as plain:
        taeda.nn.functional.interpolate(x.dequantize(), size=size, mode="bilinear")
    with pytest.raises(type(plain.value)) as quantized:
        taeda.nn.functional.interpolate(x, size=size, mode="bilinear")
    assert str(quantized.value) == str(plain.value)
