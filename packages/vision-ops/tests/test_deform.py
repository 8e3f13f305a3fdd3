"""Deformable convolution beside loops, and beside the plain one where nothing moves."""

import itertools
import math

import numpy as np
import pytest

import taeda
from taeda import vision_ops
from taeda.autograd import gradcheck


def between(picture, y, x):
    """A value between four places, of which those outside are zero."""
    total, (height, width) = 0.0, picture.shape
    for row, column in itertools.product(
        (math.floor(y), math.floor(y) + 1), (math.floor(x), math.floor(x) + 1)
    ):
        if 0 <= row < height and 0 <= column < width:
            total += (1 - abs(y - row)) * (1 - abs(x - column)) * picture[row, column]
    return total


def convolved(x, w, offset, mask, bias, stride, padding, dilation, groups, offset_groups):
    of_group, rows, columns = w.shape[1:]
    made = np.zeros((len(x), len(w), *offset.shape[2:]))
    for n, o, i, j in itertools.product(*map(range, made.shape)):
        total = bias[o]
        for c, r, s in itertools.product(range(of_group), range(rows), range(columns)):
            channel = o // (len(w) // groups) * of_group + c
            tap = channel // (x.shape[1] // offset_groups) * rows * columns + r * columns + s
            y = i * stride[0] - padding[0] + r * dilation[0] + offset[n, 2 * tap, i, j]
            u = j * stride[1] - padding[1] + s * dilation[1] + offset[n, 2 * tap + 1, i, j]
            total += w[o, c, r, s] * mask[n, tap, i, j] * between(x[n, channel], y, u)
        made[n, o, i, j] = total
    return made


def drawn(steps, groups=2, offset_groups=2, seed=0):
    stride, padding, dilation = steps
    draw = np.random.default_rng(seed)
    x, w = draw.standard_normal((2, 4, 6, 5)), draw.standard_normal((4, 4 // groups, 3, 2))
    size = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip((6, 5), padding, dilation, (3, 2), stride, strict=True)
    ]
    taps = offset_groups * 6
    offset = draw.uniform(-2, 2, (2, 2 * taps, *size))
    return x, w, offset, draw.uniform(0, 1, (2, taps, *size)), draw.standard_normal(4)


STEPS = [((1, 1), (0, 0), (1, 1)), ((2, 1), (1, 2), (1, 2)), ((1, 2), (2, 0), (2, 1))]


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize(("groups", "offset_groups"), [(1, 1), (2, 1), (2, 4), (4, 2)])
def test_beside_loops(steps, groups, offset_groups):
    arrays = drawn(steps, groups, offset_groups)
    wanted = convolved(*arrays, *steps, groups, offset_groups)
    given = [*map(taeda.tensor, arrays)]
    numbers = [*steps[0], *steps[1], *steps[2], groups, offset_groups]
    found = vision_ops.deform_conv2d(*given, *numbers, True)
    assert np.abs(found.numpy() - wanted).max() < 1e-12
    single = vision_ops.deform_conv2d(*(t.float() for t in given), *numbers, True)
    assert single.dtype is taeda.float32
    assert np.abs(single.numpy() - wanted).max() < 1e-4


@pytest.mark.parametrize("steps", STEPS)
def test_without_moves_it_is_a_convolution(steps):
    functional = pytest.importorskip("taeda.nn.functional")
    x, w, offset, _, bias = map(taeda.tensor, drawn(steps))
    plain = functional.conv2d(x, w, bias, *steps, 2)
    none = taeda.zeros(2, 1, dtype=taeda.float64)
    numbers = [*steps[0], *steps[1], *steps[2], 2, 2]
    moved = vision_ops.deform_conv2d(x, w, offset * 0, none, bias, *numbers, False)
    assert taeda.allclose(moved, plain)


@pytest.mark.parametrize("masked", [True, False])
def test_gradients_are_those_of_differences(masked):
    given = [taeda.tensor(a).requires_grad_() for a in drawn(STEPS[1])]
    if not masked:
        given[3] = taeda.zeros(2, 1, dtype=taeda.float64)
    assert gradcheck(lambda *t: vision_ops.deform_conv2d(*t, 2, 1, 1, 2, 1, 2, 2, 2, masked), given)


def test_what_does_not_fit_is_refused():
    x, w, offset, mask, bias = map(taeda.tensor, drawn(STEPS[0]))

    def refused(
        text, x=x, w=w, offset=offset, mask=mask, bias=bias, numbers=(1, 1, 0, 0, 1, 1, 2, 2)
    ):
        with pytest.raises(RuntimeError, match=text):
            vision_ops.deform_conv2d(x, w, offset, mask, bias, *numbers, True)

    refused("4 dimensions", x=x[0])
    refused(r"offset has the shape \[2, 24, 4, 4\], got \[2, 23", offset=offset[:, 1:])
    refused(r"mask has the shape", mask=mask[:, 1:])
    refused(r"bias has the shape \[4\]", bias=bias[1:])
    refused("groups of 3 channels", x=x[:, 1:])
    refused("one dtype", w=w.float())
    refused("steps are 1 or more", numbers=(0, 1, 0, 0, 1, 1, 2, 2))
    refused("groups of offsets", numbers=(1, 1, 0, 0, 1, 1, 2, 3))
    refused("has the size", numbers=(1, 1, 0, 0, 9, 1, 2, 2))
    refused("holds NaN", offset=offset * math.nan)
