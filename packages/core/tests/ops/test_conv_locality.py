"""Convolutions of inputs whose numbers differ in size: outputs that do not see one are as without it."""

import math

import pytest

import taeda
from taeda._core_api.operators import nn as operators

# images, channels, outputs, height, width, padding: all by Winograd's products, with ragged tiles
SHAPES = [
    (1, 16, 16, 56, 56, 1),
    (2, 16, 20, 33, 30, 1),
    (1, 17, 16, 58, 57, 0),
    (2, 17, 33, 29, 31, 2),
    (16, 32, 16, 8, 10, 1),
]
ODD = [-9999.0, 1e10, 2e38, math.inf, -math.inf, math.nan]
DTYPES = [taeda.float32, taeda.bfloat16, taeda.float16]


def _backward(gradient, x, w, padding, which):
    geometry = ([1, 1], [padding, padding], [1, 1], False, [0, 0], 1)
    wanted = [i == which for i in range(3)]
    return operators.convolution_backward(gradient, x, w, *geometry, wanted)[which]


def conv2d_input(shape, w, gradient, padding):
    like = taeda.empty(shape, dtype=gradient.dtype)
    return _backward(gradient, like, w, padding, 0)


def conv2d_weight(x, shape, gradient, padding):
    like = taeda.empty(shape, dtype=gradient.dtype)
    return _backward(gradient, x, like, padding, 1)


def _made(shape, dtype=taeda.float32):
    images, channels, outputs, height, width, padding = shape
    generator = taeda.Generator().manual_seed(0)
    x = taeda.randn(images, channels, height, width, generator=generator)
    w = taeda.randn(outputs, channels, 3, 3, generator=generator) / 12
    g = taeda.randn(taeda.conv2d(x, w, padding=padding).shape, generator=generator)
    return (t.to(dtype) for t in (x, w, g))


def _places(height, width):
    return [(8 % height, 8 % width), (0, 0), (height - 1, width - 1), (7, 0), (4, 3)]


def _seen(f, like, at):
    """Which results of `f` see the place `at` of any channel."""
    mark = taeda.zeros(like.shape[0], 1, *like.shape[2:], dtype=taeda.float64)
    mark[(0, 0, *at)] = 1
    return f(mark, taeda.ones(1, 1, 3, 3, dtype=taeda.float64)) > 0


def _agrees(found, exact, seen, odd):
    """Within 2e-5, or half a unit of 16 bits, where unseen; infinite and NaN as the exact ones."""
    seen = seen.expand(found.shape)
    step = taeda.finfo(found.dtype).eps
    bound = 2e-5 if found.dtype == taeda.float32 else step * exact[~seen].abs().max().item()
    assert (found.double() - exact)[~seen].abs().max().item() <= bound
    if math.isnan(odd):
        assert found[seen].isnan().all()
    elif math.isinf(odd):
        assert (found[seen].double() == exact[seen]).all()
    elif odd < 1e37:
        limit = 4 * step * abs(odd) + bound
        assert ((found.double() - exact)[seen].abs() <= limit).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_odd_number_is_seen_by_its_windows_only(shape, dtype):
    x, w, _ = _made(shape, dtype)
    for odd in ODD if dtype != taeda.float16 else [-9999.0, 6e4, math.inf, math.nan]:
        for at in _places(*x.shape[2:]):
            spoiled = x.clone()
            spoiled[(0, 3, *at)] = odd

            def forward(x, w):
                return taeda.conv2d(x, w, padding=shape[-1])

            seen = _seen(forward, x, at)
            _agrees(forward(spoiled, w), forward(spoiled.double(), w.double()), seen, odd)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_odd_gradient_reaches_the_inputs_of_its_window_only(shape, dtype):
    x, w, g = _made(shape, dtype)
    for odd in ODD if dtype != taeda.float16 else [-9999.0, 6e4, math.inf, math.nan]:
        for at in _places(*g.shape[2:]):
            spoiled = g.clone()
            spoiled[(0, 3, *at)] = odd

            def data(g, w):
                return conv2d_input((len(g), w.shape[1], *x.shape[2:]), w, g, padding=shape[-1])

            _agrees(data(spoiled, w), data(spoiled.double(), w.double()), _seen(data, g, at), odd)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("spoiled", ["input", "gradient"])
def test_weights_that_meet_an_odd_number_in_the_padding_only(spoiled, shape):
    padding = shape[-1]
    for odd in ODD:
        for at in ((0, 0), (-1, -1), (0, 5), (6, 0)):
            x, w, g = _made(shape)
            (x if spoiled == "input" else g)[(0, 3, *at)] = odd
            exact = conv2d_weight(x.double(), w.shape, g.double(), padding=padding)
            found = conv2d_weight(x, w.shape, g, padding=padding)
            marks = [taeda.zeros_like(t).double() for t in (x, g)]
            marks[spoiled == "gradient"][(0, 3, *at)] = 1
            marks[spoiled == "input"].fill_(1)
            unseen = conv2d_weight(marks[0], w.shape, marks[1], padding=padding) == 0
            unseen &= exact.isfinite()  # a zero of the padding times infinity is NaN
            sums = 0.64 * g.shape[0] * g.shape[2] * g.shape[3]  # of |x| |g|, about
            assert (found.double() - exact)[unseen].abs().max().item() <= 2e-6 * sums
            if math.isinf(odd):
                assert (found[exact.isinf()].double() == exact[exact.isinf()]).all()


@pytest.mark.parametrize("tap", [(0, 0), (1, 1), (2, 1)], ids=str)
@pytest.mark.parametrize("odd", [1e10, math.inf, math.nan])
def test_one_odd_weight_spoils_its_own_outputs_only(odd, tap):
    x, w, _ = _made(SHAPES[0])
    w[(5, 3, *tap)] = odd
    found, exact = taeda.conv2d(x, w, padding=1), taeda.conv2d(x.double(), w.double(), padding=1)
    others = [i for i in range(16) if i != 5]
    assert (found.double() - exact)[:, others].abs().max().item() <= 2e-5
    if odd == 1e10 and tap == (0, 0):  # the first row sees the padding there
        assert (found.double() - exact)[:, 5, 0].abs().max().item() <= 2e-5
    elif not math.isnan(odd):
        inner = (slice(None), 5, slice(1, -1), slice(1, -1))
        assert ((found.double()[inner] == exact[inner]) | (exact[inner].isfinite())).all()


def test_an_impulse_has_the_outputs_of_one_window():
    x = taeda.zeros(1, 16, 56, 56)
    x[0, 3, 8, 8] = 1
    w = taeda.ones(16, 16, 3, 3)
    assert (taeda.conv2d(x, w, padding=1) != 0).sum() == 16 * 9


def test_a_masked_loss_and_missing_values_leave_the_weights_alone():
    x, w, g = _made((4, 16, 16, 56, 56, 1))
    region = (slice(None), slice(None), slice(10, 30), slice(5, 41))
    g[:, :, 9:31, 4:42] = 0
    zeros, missing = x.clone(), x.clone()
    zeros[region] = 0
    missing[region] = -3e38
    expected = conv2d_weight(zeros.double(), w.shape, g.double(), padding=1)
    found = conv2d_weight(missing, w.shape, g, padding=1)
    assert (found.double() - expected).abs().max().item() < 1e-3


def test_numbers_of_any_one_size_stay_in_range():
    x, w, _ = _made(SHAPES[0])
    plain = taeda.conv2d(x.double(), w.double(), padding=1)
    for scale in (1e-30, 1e-20, 1e20, 1e30, 1e36):
        found = taeda.conv2d(x * scale, w, padding=1).double() / scale
        assert (found - plain).abs().max().item() < 2e-5


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("odd", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("size", [(4, 4), (5, 3), (3, 9), (1, 17)], ids=str)
def test_weights_of_depthwise_convolutions_that_do_not_see_an_odd_input(size, odd, stride):
    generator = taeda.Generator().manual_seed(0)
    shape = (2, *[(n - 1) // stride + 1 for n in size])
    x = taeda.randn(1, 1, *size, generator=generator, dtype=taeda.float64)
    g = taeda.randn(1, *shape, generator=generator, dtype=taeda.float64)
    like = taeda.empty(2, 1, 3, 3, dtype=taeda.float64)

    def weight(x, g):
        geometry = ([stride] * 2, [1, 1], [1, 1], False, [0, 0], 1)
        wanted = [False, True, False]
        return operators.convolution_backward(g, x, like.to(x.dtype), *geometry, wanted)[1]

    for place in range(x.numel()):
        spoiled = x.clone()
        spoiled.view(-1)[place] = odd
        exact = weight(spoiled, g)
        for dtype in DTYPES:
            found = weight(spoiled.to(dtype), g.to(dtype)).double()
            assert (found.isfinite() == exact.isfinite()).all(), (place, dtype)


def test_threads_do_not_change_what_is_summed_plainly():
    x, w, g = _made(SHAPES[1])
    x[0, 3, 8, 8], g[1, 2, 0, 0] = 1e10, 1e10
    before, found = taeda.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            taeda.set_num_threads(threads)
            found.append((taeda.conv2d(x, w, padding=1), conv2d_weight(x, w.shape, g, padding=1)))
    finally:
        taeda.set_num_threads(before)
    assert all((a == b).all() for one in found[1:] for a, b in zip(found[0], one, strict=True))
