"""Regions beside loops over single numbers, gradients beside differences."""

import math

import numpy as np
import pytest

import taeda
from taeda import vision_ops
from taeda.autograd import gradcheck

ROIS = [
    [0, 0.5, 0.7, 4.2, 5.1], [1, 1.0, 1.0, 3.0, 3.5], [0, -2.0, -2.0, 9.0, 9.0], [1, 3.0, 3.0, 3.0, 3.0],
    [0, 5.0, 6.0, 20.0, 30.0], [1, 4.0, 4.0, 1.0, 1.0],
]  # fmt: skip


def pictures(channels=8):
    return np.random.default_rng(0).standard_normal((2, channels, 7, 6))


def between(picture, y, x):
    """A value between four places; a place outside by less than one has the edge's value."""
    height, width = picture.shape
    if y < -1 or y > height or x < -1 or x > width:
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = math.floor(y), math.floor(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    v, u = y - top, x - left
    return (
        (1 - v) * (1 - u) * picture[top, left]
        + (1 - v) * u * picture[top, right]
        + v * (1 - u) * picture[bottom, left]
        + v * u * picture[bottom, right]
    )


def bins(rois, rows, columns):
    return ((k, i, j) for k in range(len(rois)) for i in range(rows) for j in range(columns))


def mean_of_samples(x, scale, rows, columns, samples, aligned, by_bin):
    channels = x.shape[1] // (rows * columns) if by_bin else x.shape[1]
    made = np.zeros((len(ROIS), channels, rows, columns))
    for k, i, j in bins(ROIS, rows, columns):
        n, *corners = ROIS[k]
        x1, y1, x2, y2 = (c * scale - 0.5 * aligned for c in corners)
        wide, high = x2 - x1, y2 - y1
        if not aligned:
            wide, high = max(wide, 1), max(high, 1)
        wide, high = wide / columns, high / rows
        across, down = samples or max(math.ceil(wide), 0), samples or max(math.ceil(high), 0)
        for c in range(channels):
            picture = x[n, (c * rows + i) * columns + j if by_bin else c]
            places = [
                (y1 + i * high + (v + 0.5) * high / down, x1 + j * wide + (u + 0.5) * wide / across)
                for v in range(down)
                for u in range(across)
            ]
            made[k, c, i, j] = sum(between(picture, *p) for p in places) / max(len(places), 1)
    return made


def rounded(value):
    """Halves away from zero, as C rounds."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def whole_places(x, scale, rows, columns, by_bin):
    """The values of each bin that holds whole places, as a list."""
    extra, short = (0, 1) if by_bin else (1, 0)
    for k, i, j in bins(ROIS, rows, columns):
        n = ROIS[k][0]
        x1, y1, x2, y2 = (rounded(c * scale) for c in ROIS[k][1:])
        wide, high = max(x2 - x1 + extra, 1) / columns, max(y2 - y1 + extra, 1) / rows
        ys = range(math.floor(i * high) + y1, math.ceil((i + 1) * high) + y1)
        xs = range(math.floor(j * wide) + x1, math.ceil((j + 1) * wide) + x1)
        inside = [(y, u) for y in ys for u in xs if 0 <= y < 7 - short and 0 <= u < 6 - short]
        for c in range(x.shape[1] // (rows * columns) if by_bin else x.shape[1]):
            picture = x[n, (c * rows + i) * columns + j if by_bin else c]
            yield (k, c, i, j), [(picture[p], p[0] * 6 + p[1]) for p in inside]


def tensors(dtype=taeda.float64):
    return taeda.tensor(pictures(), dtype=dtype), taeda.tensor(ROIS, dtype=dtype)


@pytest.mark.parametrize("dtype", [taeda.float64, taeda.float32, taeda.bfloat16])
@pytest.mark.parametrize("samples", [0, 2])
@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align(dtype, samples, aligned):
    x, rois = taeda.tensor(pictures()).to(dtype), taeda.tensor(ROIS, dtype=dtype)
    found = vision_ops.roi_align(x, rois, 0.5, 2, 3, samples, aligned)
    wanted = mean_of_samples(x.double().numpy(), 0.5, 2, 3, samples, aligned, False)
    assert found.dtype is dtype
    rois_of = rois.double().tolist()
    if rois_of == ROIS:  # else the regions are others
        near = {taeda.float64: 1e-12, taeda.float32: 1e-5, taeda.bfloat16: 0.02}[dtype]
        assert np.abs(found.double().numpy() - wanted).max() < near


@pytest.mark.parametrize("samples", [0, 2])
def test_ps_roi_align(samples):
    found, mapping = vision_ops.ps_roi_align(*tensors(), 0.9, 2, 2, samples)
    wanted = mean_of_samples(pictures(), 0.9, 2, 2, samples, True, True)
    assert np.abs(found.numpy() - wanted).max() < 1e-12
    assert mapping.dtype is taeda.int32
    assert mapping[5].flatten().tolist() == list(range(8))


def test_roi_pool():
    found, places = vision_ops.roi_pool(*tensors(), 0.9, 2, 3)
    for at, values in whole_places(pictures(), 0.9, 2, 3, False):
        largest, place = max(values, default=(0, -1))
        assert found[at].item() == largest
        assert places[at].item() == place


def test_ps_roi_pool():
    found, mapping = vision_ops.ps_roi_pool(*tensors(), 0.9, 2, 2)
    for at, values in whole_places(pictures(), 0.9, 2, 2, True):
        wanted = sum(value for value, _ in values) / len(values) if values else 0
        assert abs(found[at].item() - wanted) < 1e-12
    assert mapping[0].flatten().tolist() == list(range(8))


CALLS = {
    "roi_align": lambda x, r: vision_ops.roi_align(x, r, 0.9, 2, 2, 0, True),
    "roi_align, not aligned": lambda x, r: vision_ops.roi_align(x, r, 0.9, 2, 2, 2, False),
    "roi_pool": lambda x, r: vision_ops.roi_pool(x, r, 0.9, 2, 2)[0],
    "ps_roi_align": lambda x, r: vision_ops.ps_roi_align(x, r, 0.9, 2, 2, 2)[0],
    "ps_roi_pool": lambda x, r: vision_ops.ps_roi_pool(x, r, 0.9, 2, 2)[0],
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_gradients_are_those_of_differences(call):
    x, rois = tensors()
    assert gradcheck(lambda x: call(x, rois), (x.requires_grad_(),))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_what_would_read_outside_is_refused(call):
    x, rois = tensors()
    for row, text in (
        ([2, 0, 0, 1, 1], "from 0 to 1"), ([-1, 0, 0, 1, 1], "from 0 to 1"),
        ([math.nan, 0, 0, 1, 1], "from 0 to 1"), ([0, math.nan, 0, 1, 1], "NaN, infinity"),
        ([0, 0, 0, math.inf, 1], "NaN, infinity"), ([0, 0, 0, 1e300, 1], "farther away"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            call(x, taeda.tensor([row], dtype=taeda.float64))
    with pytest.raises(RuntimeError, match=r"shape \[K, 5\]"):
        call(x, rois[:, :4])
    with pytest.raises(RuntimeError, match=r"shape \[N, C, H, W\]"):
        call(x[0], rois)
    with pytest.raises(RuntimeError, match=r"one dtype, got taeda.float64 and taeda.float32"):
        call(x, rois.float())
    with pytest.raises(RuntimeError, match="pictures without a place"):
        call(x[:, :, :0], rois)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_no_regions_give_nothing(call):
    x, rois = tensors()
    assert call(x, rois[:0]).shape[0] == 0
    call(x.requires_grad_(), rois[:0]).sum().backward()
    assert x.grad.count_nonzero() == 0


def test_channels_are_a_multiple_of_bins():
    x, rois = tensors()
    with pytest.raises(RuntimeError, match="multiple of 3 x 3, got 8"):
        vision_ops.ps_roi_align(x, rois, 1.0, 3, 3, 2)
    with pytest.raises(RuntimeError, match="at least one bin"):
        vision_ops.roi_align(x, rois, 1.0, 0, 3, 2, True)


def test_layout_of_memory_makes_no_difference():
    x, rois = tensors()
    spread = x.to(memory_format=taeda.channels_last)
    for call in CALLS.values():
        assert taeda.equal(call(x, rois), call(spread, rois.T.contiguous().T))
