"""Normalisations and their gradients against float64 formulas and differences of values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from arrays import values

import taeda

TOLERANCE = {"bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-11}


def draw(shape, dtype="float64", seed=0):
    array = np.random.default_rng(seed).standard_normal(shape)
    x = taeda.from_numpy(np.ascontiguousarray(array)).to(getattr(taeda, dtype))
    return x, values(x)


def close(got, want, dtype="float64", slack=1.0):
    tolerance = TOLERANCE[dtype] * slack
    np.testing.assert_allclose(values(got), want, rtol=tolerance, atol=tolerance)


def normalise(a, axes, eps=1e-5):
    mean = a.mean(axes, keepdims=True)
    return (a - mean) / np.sqrt(a.var(axes, keepdims=True) + eps)


def slope(function, arrays, grad):
    """Gradient of sum(function(*arrays) * grad) by every array, from differences."""
    made = []
    for k, a in enumerate(arrays):
        g = np.zeros_like(a)
        for at in np.ndindex(a.shape):
            step = 1e-5
            moved = [b.copy() for b in arrays]
            moved[k][at] += step
            up = (function(*moved) * grad).sum()
            moved[k][at] -= 2 * step
            g[at] = (up - (function(*moved) * grad).sum()) / (2 * step)
        made.append(g)
    return made


def along(vector, ndim):
    return vector.reshape(1, -1, *[1] * (ndim - 2))


# ---- layer_norm and rms_norm ----


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    ("shape", "k"), [((3, 10), 1), ((4, 5, 130), 1), ((2, 3, 4), 2), ((1, 2000), 1)]
)
def test_layer_norm(shape, k, dtype):
    x, a = draw(shape, dtype)
    w, b = draw(shape[-k:], dtype, 1), draw(shape[-k:], dtype, 2)
    axes = tuple(range(-k, 0))
    h = normalise(a, axes)
    for weight, bias, want in (
        (None, None, h),
        (w, None, h * w[1]),
        (None, b, h + b[1]),
        (w, b, h * w[1] + b[1]),
    ):
        tensors = [t and t[0] for t in (weight, bias)]
        close(taeda.layer_norm(x, shape[-k:], *tensors), want, dtype)
    _, mean, rstd = taeda.native_layer_norm(x, shape[-k:], None, None, 1e-5)
    close(mean, a.mean(axes, keepdims=True), dtype)
    close(rstd, 1 / np.sqrt(a.var(axes, keepdims=True) + 1e-5), dtype)
    root = np.sqrt((a * a).mean(axes, keepdims=True) + 1e-5)
    close(taeda.rms_norm(x, shape[-k:], w[0], 1e-5), a / root * w[1], dtype)


def test_layer_norm_gradients():
    (x, a), (w, c), (b, d), (g, e) = (
        draw(s, seed=k) for k, s in enumerate([(3, 6), (6,), (6,), (3, 6)])
    )
    _, mean, rstd = taeda.native_layer_norm(x, [6], w, b, 1e-5)
    made = taeda.native_layer_norm_backward(g, x, [6], mean, rstd, w, b, [True] * 3)
    wanted = slope(lambda a, c, d: normalise(a, (1,)) * c + d, [a, c, d], e)
    for got, want in zip(made, wanted, strict=True):
        close(got, want, slack=1e4)
    _, rstd = taeda._fused_rms_norm(x, [6], w, 1e-5)
    made = taeda._fused_rms_norm_backward(g, x, [6], rstd, w, [True, True])

    def rms(a, c):
        return a / np.sqrt((a * a).mean(1, keepdims=True) + 1e-5) * c

    for got, want in zip(made, slope(rms, [a, c], e), strict=True):
        close(got, want, slack=1e4)


def test_only_the_gradients_that_were_asked_for():
    x, _ = draw((3, 6))
    _, mean, rstd = taeda.native_layer_norm(x, [6], None, None, 1e-5)
    made = taeda.native_layer_norm_backward(x, x, [6], mean, rstd, None, None, [True, False, False])
    assert made[0].shape == (3, 6)
    assert made[1] is None
    assert made[2] is None


def test_weight_gradients_over_many_rows_have_the_same_bits_for_any_threads():
    x, _ = draw((5000, 64), "float32")
    g, _ = draw((5000, 64), "float32", 1)
    w = taeda.ones(64)
    _, mean, rstd = taeda.native_layer_norm(x, [64], w, w, 1e-5)
    before, seen = taeda.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            taeda.set_num_threads(threads)
            made = taeda.native_layer_norm_backward(g, x, [64], mean, rstd, w, w, [True] * 3)
            seen.add(b"".join(t.numpy().tobytes() for t in made))
    finally:
        taeda.set_num_threads(before)
    assert len(seen) == 1


# ---- batch_norm ----

IMAGES = [(4, 3), (300, 70), (6, 5, 7), (4, 6, 5, 5), (2, 20, 40, 40), (3, 4, 2, 3, 2)]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", IMAGES, ids=str)
def test_batch_norm(shape, dtype):
    x, a = draw(shape, dtype)
    channels, axes = shape[1], (0, *range(2, len(shape)))
    (w, c), (b, d), (rm, m), (rv, v) = (draw((channels,), dtype, k) for k in range(1, 5))
    rv, v = rv.abs() + 0.5, np.abs(v) + 0.5
    want = normalise(a, axes) * along(c, a.ndim) + along(d, a.ndim)
    count = a.size / channels
    got = taeda.batch_norm(x, w, b, rm, rv, True, 0.1, 1e-5, False)
    close(got, want, dtype, 5)
    close(rm, 0.9 * m + 0.1 * a.mean(axes), dtype, 2)
    close(rv, 0.9 * v + 0.1 * a.var(axes) * count / (count - 1), dtype, 2)
    m, v = (along(values(t), a.ndim) for t in (rm, rv))
    got = taeda.batch_norm(x, w, b, rm, rv, False, 0.1, 1e-5, False)
    close(got, (a - m) / np.sqrt(v + 1e-5) * along(c, a.ndim) + along(d, a.ndim), dtype, 5)


def every_order(shape):
    """The same numbers in every order of memory, and stepped over."""
    x, _ = draw(shape, seed=5)
    for order in itertools.permutations(range(x.dim())):
        back = [order.index(d) for d in range(x.dim())]
        yield x.permute(order).contiguous().permute(back)
    yield x.repeat_interleave(2, x.dim() - 1)[..., ::2]
    yield x[..., :1].expand(shape)


NORMS = {
    "batch_norm, training": lambda x, c: taeda._batch_norm(x, *c, True, 0.1, 1e-5),
    "batch_norm, evaluation": lambda x, c: taeda._batch_norm(x, *c, False, 0.1, 1e-5),
    "native_batch_norm_backward": lambda x, c: taeda.native_batch_norm_backward(
        x, x * 2, c[0], c[2], c[3], c[2], c[3], True, 1e-5, [True] * 3
    ),
    "native_batch_norm_backward, evaluation": lambda x, c: taeda.native_batch_norm_backward(
        x.contiguous(), x, c[0], c[2], c[3], c[2], c[3], False, 1e-5, [True] * 3
    ),
    "instance_norm": lambda x, c: taeda.instance_norm(x, *c, True, 0.1, 1e-5, False),
    "group_norm": lambda x, c: taeda.group_norm(x, x.shape[1], *c[:2]),
    "layer_norm": lambda x, c: taeda.native_layer_norm(x, x.shape[1:], None, None, 1e-5),
    "rms_norm": lambda x, c: taeda.rms_norm(x, x.shape[1:]),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    "shape", [(4, 3), (4, 3, 1), (4, 3, 1, 1), (4, 1, 3), (1, 3, 4), (2, 3, 2, 3), (2, 3, 2, 2, 2)]
)
def test_results_do_not_depend_on_the_order_of_memory(shape, dtype, name):
    if name == "instance_norm" and all(size == 1 for size in shape[2:]):
        pytest.skip("one element an instance has no variance: refused")
    channels = [draw((shape[1],), dtype, seed)[0].abs() for seed in range(4)]
    for x in every_order(shape):
        x = x.to(getattr(taeda, dtype), memory_format=taeda.preserve_format)
        got = NORMS[name](x, [c.clone() for c in channels])
        want = NORMS[name](x.contiguous(), [c.clone() for c in channels])
        for one, other in zip(
            *((r if isinstance(r, tuple) else (r,)) for r in (got, want)), strict=True
        ):
            close(one, values(other), dtype)


def test_batch_norm_keeps_channels_last():
    x, a = draw((2, 3, 4, 5), "float32")
    got = taeda.batch_norm(
        x.contiguous(memory_format=taeda.channels_last),
        None,
        None,
        None,
        None,
        True,
        0.1,
        1e-5,
        False,
    )
    assert got.is_contiguous(memory_format=taeda.channels_last)
    close(got, normalise(a, (0, 2, 3)), "float32")


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (2, 20, 3, 2)], ids=str)
def test_batch_norm_gradients(shape, training):
    channels, axes = shape[1], (0, *range(2, len(shape)))
    (x, a), (g, e) = draw(shape), draw(shape, seed=1)
    (w, c), (b, d) = draw((channels,), seed=2), draw((channels,), seed=3)
    rm, rv = taeda.full((channels,), 0.2), taeda.full((channels,), 2.0)
    rm, rv = rm.double(), rv.double()
    _, mean, invstd = taeda._batch_norm(x, w, b, rm.clone(), rv.clone(), training, 0.1, 1e-5)
    made = taeda.native_batch_norm_backward(
        g, x, w, None, None, mean, invstd, training, 1e-5, [True] * 3
    )

    def forward(a, c, d):
        h = normalise(a, axes) if training else (a - 0.2) / np.sqrt(2 + 1e-5)
        return h * along(c, a.ndim) + along(d, a.ndim)

    for got, want in zip(made, slope(forward, [a, c, d], e), strict=True):
        close(got, want, slack=1e4)


# ---- groups and instances ----


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    ("shape", "groups"), [((4, 6), 3), ((2, 6, 5, 5), 2), ((3, 8, 70), 8), ((2, 4, 3), 1)]
)
def test_group_norm(shape, groups, dtype):
    x, a = draw(shape, dtype)
    (w, c), (b, d) = draw((shape[1],), dtype, 1), draw((shape[1],), dtype, 2)
    rows = a.reshape(shape[0], groups, -1)
    want = normalise(rows, (2,)).reshape(shape) * along(c, a.ndim) + along(d, a.ndim)
    close(taeda.group_norm(x, groups, w, b), want, dtype, 5)


def test_group_norm_gradients():
    shape, groups = (2, 6, 4), 3
    (x, a), (g, e), (w, c), (b, d) = (
        draw(s, seed=k) for k, s in enumerate([shape, shape, (6,), (6,)])
    )
    _, mean, rstd = taeda.native_group_norm(x, w, b, 2, 6, 4, groups, 1e-5)
    made = taeda.native_group_norm_backward(g, x, mean, rstd, w, 2, 6, 4, groups, [True] * 3)

    def forward(a, c, d):
        h = normalise(a.reshape(2, groups, -1), (2,)).reshape(shape)
        return h * along(c, 3) + along(d, 3)

    for got, want in zip(made, slope(forward, [a, c, d], e), strict=True):
        close(got, want, slack=1e4)


def test_instance_norm_normalises_every_plane():
    x, a = draw((3, 4, 6, 5))
    rm, rv = taeda.zeros(4).double(), taeda.ones(4).double()
    got = taeda.instance_norm(x, None, None, rm, rv, True, 0.1, 1e-5, False)
    close(got, normalise(a, (2, 3)))
    close(rm, 0.1 * a.mean((2, 3)).mean(0))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: taeda.layer_norm(taeda.ones(2, 3), [4]), r"\[4\].*\[2, 3\]"),
        (lambda: taeda.layer_norm(taeda.ones(2, 3), []), "at least one"),
        (lambda: taeda.layer_norm(taeda.ones(2, 3), [3], taeda.ones(2)), r"\[2\].*\[3\]"),
        (lambda: taeda.layer_norm(taeda.ones(2, 3), [3], taeda.ones(3).double()), "float64"),
        (lambda: taeda.group_norm(taeda.ones(2, 3), 2), "3 channels"),
        (lambda: taeda.group_norm(taeda.ones(2, 4), 2, taeda.ones(3)), "4.*3"),
        (lambda: taeda.group_norm(taeda.ones(3), 1), "2 dimensions"),
        (
            lambda: taeda.batch_norm(
                taeda.ones(2, 3), taeda.ones(2), None, None, None, True, 0.1, 1e-5, False
            ),
            "3.*2",
        ),
        (
            lambda: taeda.batch_norm(
                taeda.ones(2, 3), None, None, None, None, False, 0.1, 1e-5, False
            ),
            "running_mean",
        ),
        (
            lambda: taeda.batch_norm(taeda.ones(3), None, None, None, None, True, 0.1, 1e-5, False),
            r"2 dimensions.*\[3\]",
        ),
    ],
)
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_integers_have_no_normalisation():
    with pytest.raises(NotImplementedError, match="Long"):
        taeda.layer_norm(taeda.ones(2, 3, dtype=taeda.int64), [3])


def test_empty_inputs():
    assert taeda.layer_norm(taeda.empty(0, 5), [5]).shape == (0, 5)
    assert taeda.group_norm(taeda.empty(0, 4, 3), 2).shape == (0, 4, 3)
    assert taeda.batch_norm(
        taeda.empty(0, 4), None, None, None, None, True, 0.1, 1e-5, False
    ).shape == (0, 4)
    assert taeda.layer_norm(taeda.ones(3, 5, device="meta"), [5]).is_meta


def test_rms_norm_has_the_type_of_its_input_whatever_that_of_its_weight():
    x, w = taeda.randn(3, 8), taeda.randn(8)
    low = taeda.rms_norm(x.bfloat16(), [8], w)
    assert low.dtype is taeda.bfloat16
    wide = taeda.rms_norm(x.bfloat16().float(), [8], w)
    assert taeda.equal(low, wide.bfloat16())  # rounded once
    assert taeda.rms_norm(x, [8], w.bfloat16()).dtype is taeda.float32


@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float16])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_statistics_of_short_dtypes_are_float32(dtype, device):
    x = taeda.ones(2, 4, dtype=dtype, device=device)
    results = (
        taeda.native_layer_norm(x, [4], None, None, 1e-5),
        taeda.native_group_norm(x, None, None, 2, 4, 1, 2, 1e-5),
        taeda._fused_rms_norm(x, [4], None, 1e-5),
    )
    for value, *kept in results:
        assert value.dtype is dtype
        assert {t.dtype for t in kept} == {taeda.float32}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("shape", [(3, 5), (70, 129), (2, 4096), (2, 4097), (0, 4), (5, 1)])
def test_rows_of_16_bits_are_those_of_float32_rounded_once(dtype, shape):
    x = draw(shape, "float32")[0].to(getattr(taeda, dtype))
    weight = draw(shape[-1:], "float32", seed=1)[0].to(x.dtype)
    bias = draw(shape[-1:], "float32", seed=2)[0].to(x.dtype)
    norm = taeda.nn.functional.layer_norm
    got = norm(x, shape[-1:], weight, bias)
    want = norm(x.float(), shape[-1:], weight.float(), bias.float()).to(x.dtype)
    assert got.dtype == x.dtype
    assert np.array_equal(got.float().numpy(), want.float().numpy())


def test_group_norm_keeps_channels_last():
    x = taeda.randn(2, 6, 5, 4).to(memory_format=taeda.channels_last)
    for each in (x, x.to("meta")):
        found = taeda.group_norm(each, 3)
        assert found.is_contiguous(memory_format=taeda.channels_last)
    assert taeda.allclose(taeda.group_norm(x, 3), taeda.group_norm(x.contiguous(), 3))
    assert taeda.group_norm(x.contiguous(), 3).is_contiguous()


@pytest.mark.parametrize("weight", [None, taeda.float32, taeda.bfloat16], ids=str)
@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float32, taeda.float64], ids=str)
@pytest.mark.parametrize("op", ["layer", "group", "batch"])
def test_gradients_have_the_dtypes_that_meta_tensors_say(op, dtype, weight):
    aten = taeda.ops.aten

    def kinds(device):
        x = taeda.ones(4, 8, 5, dtype=dtype, device=device)
        w = None if weight is None else taeda.ones(8, dtype=weight, device=device)
        every = [True] * 3
        if op == "layer":
            w = None if w is None else w[:5]
            out, *kept = aten.native_layer_norm.default(x, [5], w, w, 1e-5)
            back = aten.native_layer_norm_backward.default(out, x, [5], *kept, w, w, every)
        elif op == "group":
            out, *kept = aten.native_group_norm.default(x, w, w, 4, 8, 5, 2, 1e-5)
            back = aten.native_group_norm_backward.default(out, x, *kept, w, 4, 8, 5, 2, every)
        else:
            out, *kept = aten.native_batch_norm.default(x, w, w, None, None, True, 0.1, 1e-5)
            back = aten.native_batch_norm_backward.default(
                out, x, w, None, None, *kept, True, 1e-5, every
            )
        return [(t.dtype, t.shape) for t in (out, *kept, *back)]

    try:
        found = kinds("cpu")
    except RuntimeError as refused:  # dtypes that do not go together are refused on both
        with pytest.raises(RuntimeError, match=str(refused)[:20]):
            kinds("meta")
        return
    assert kinds("meta") == found


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("moved", [0.0, 1e4])
@pytest.mark.parametrize("name", ["layer_norm", "group_norm", "instance_norm"])
def test_an_eps_below_0_is_taken_off_the_variance(name, moved, dtype):
    """As 1 / sqrt(variance + eps) says; where nothing is left there is no root."""
    x, a = draw((2, 6, 5), dtype)
    x = x * 3 + (moved if dtype != "bfloat16" else 0)
    a, functional = values(x), taeda.nn.functional
    shape, call = {
        "layer_norm": ((2, 6, 5), lambda: functional.layer_norm(x, (5,), eps=-0.5)),
        "group_norm": ((2, 2, 15), lambda: functional.group_norm(x, 2, eps=-0.5)),
        "instance_norm": ((2, 6, 5), lambda: functional.instance_norm(x, eps=-0.5)),
    }[name]
    with np.errstate(invalid="ignore"):
        wanted = normalise(a.reshape(shape), -1, -0.5).reshape(a.shape)
    assert np.isfinite(wanted).all()
    close(call(), wanted, dtype, slack=100 if moved else 4)
    assert taeda.isnan(functional.group_norm(x / 100, 2, eps=-0.5)).all()
