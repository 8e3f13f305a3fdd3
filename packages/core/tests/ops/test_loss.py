"""Losses and their gradients against float64 formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arrays import values

import taeda

nn = taeda._C._nn
TOLERANCE = {"bfloat16": 2e-2, "float32": 3e-6, "float64": 1e-13}
REDUCTIONS = {0: lambda a: a, 1: np.mean, 2: np.sum}


def draw(shape, dtype="float64", seed=0, low=-3.0, high=3.0):
    array = np.random.default_rng(seed).uniform(low, high, shape)
    x = taeda.from_numpy(np.asarray(array)).to(getattr(taeda, dtype))
    return x, values(x)


def close(got, want, dtype="float64", slack=1.0):
    tolerance = TOLERANCE[dtype] * slack
    np.testing.assert_allclose(values(got), want, rtol=tolerance, atol=tolerance)


def smooth_l1(x, t, beta=0.7):
    d = np.abs(x - t)
    return np.where(d < beta, d * d / (2 * beta), d - beta / 2)


def huber(x, t, delta=0.6):
    d = np.abs(x - t)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2))


def bce(x, t):
    return -(t * np.maximum(np.log(x), -100) + (1 - t) * np.maximum(np.log1p(-x), -100))


# name: (values, slopes, range of the input, range of the target, parameter)
PAIRS = {
    "mse_loss": (lambda x, t: (x - t) ** 2, lambda x, t: 2 * (x - t), (-3, 3), (-3, 3), ()),
    "_l1_loss": (lambda x, t: np.abs(x - t), lambda x, t: np.sign(x - t), (-3, 3), (-3, 3), ()),
    "smooth_l1_loss": (
        smooth_l1,
        lambda x, t: np.clip((x - t) / 0.7, -1, 1),
        (-2, 2),
        (-2, 2),
        (0.7,),
    ),
    "huber_loss": (huber, lambda x, t: np.clip(x - t, -0.6, 0.6), (-2, 2), (-2, 2), (0.6,)),
    "soft_margin_loss": (
        lambda x, t: np.log1p(np.exp(-t * x)),
        lambda x, t: -t / (1 + np.exp(t * x)),
        (-3, 3),
        (-1, 1),
        (),
    ),
    "_binary_cross_entropy": (bce, lambda x, t: (x - t) / (x * (1 - x)), (0.05, 0.95), (0, 1), ()),
    "_binary_cross_entropy_with_logits": (
        lambda x, t: (1 - t) * x + np.log1p(np.exp(-x)),
        lambda x, t: 1 / (1 + np.exp(-x)) - t,
        (-5, 5),
        (0, 1),
        (),
    ),
}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", PAIRS)
def test_pair_losses(name, dtype):
    loss, slope, inputs, targets, parameter = PAIRS[name]
    for shape in ((), (5,), (33, 17), (300, 200)):
        x, a = draw(shape, dtype, 0, *inputs)
        t, b = draw(shape, dtype, 1, *targets)
        for reduction, reduce in REDUCTIONS.items():
            got = getattr(nn, name)(x, t, reduction, *parameter)
            assert got.dtype == x.dtype
            want = reduce(loss(a, b))
            close(got, want, dtype, 4 * max(1.0, float(np.abs(want).max())))
            g, c = draw(got.shape, dtype, 2)
            made = getattr(nn, name + "_backward")(g, x, t, reduction, *parameter)
            want = c * slope(a, b) / (a.size if reduction == 1 else 1)
            close(made, want, dtype, 40)


def test_layouts_and_broadcasting():
    x, a = draw((6, 8))
    t, b = draw((8,), seed=1)
    close(nn.mse_loss(x, t, 1), ((a - b) ** 2).mean())
    both = nn.mse_loss(x.t(), x.t() + 1, 0)
    close(both, np.ones((8, 6)))
    assert both.stride() == x.t().stride()
    g, c = draw((8, 6), seed=2)
    close(nn.mse_loss_backward(g, x.t(), (x + 1).t(), 0), -2 * c)
    assert nn.mse_loss(x.float(), t, 1).dtype == taeda.float64


def test_sums_have_the_same_bits_for_any_threads():
    x, _ = draw((500_000,), "float32")
    t, _ = draw((500_000,), "float32", 1)
    before, seen = taeda.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            taeda.set_num_threads(threads)
            seen.add(nn.mse_loss(x, t, 1).item())
    finally:
        taeda.set_num_threads(before)
    assert len(seen) == 1


def test_probabilities_at_the_edges():
    x = taeda.tensor([0.0, 1.0, 0.0, 1.0])
    t = taeda.tensor([0.0, 1.0, 1.0, 0.0])
    assert nn.binary_cross_entropy(x, t, None, 0).tolist() == [0, 0, 100, 100]
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        nn.binary_cross_entropy(taeda.tensor([1.1]), taeda.tensor([1.0]))
    large = taeda.binary_cross_entropy_with_logits(
        taeda.tensor([1e4, -1e4]), taeda.tensor([1.0, 0.0])
    )
    assert large.item() == 0
    weighted = taeda.binary_cross_entropy_with_logits(
        taeda.tensor([0.0, 0.0]),
        taeda.tensor([1.0, 0.0]),
        taeda.tensor([1.0, 2.0]),
        taeda.tensor([3.0]),
        0,
    )
    np.testing.assert_allclose(values(weighted), np.log(2) * np.array([3, 2]), rtol=1e-6)


# ---- classes ----


def log_softmax(a, axis):
    top = a - a.max(axis, keepdims=True)
    return top - np.log(np.exp(top).sum(axis, keepdims=True))


def class_loss(logs, target, weight, reduction, ignore=-100):
    """The loss, and its gradient by the logarithms for a gradient of ones."""
    axis = 0 if logs.ndim == 1 else 1
    moved = np.moveaxis(logs, axis, -1)
    losses, slopes, total = np.zeros(target.shape), np.zeros_like(moved), 0.0
    for at in np.ndindex(target.shape):
        if target[at] == ignore:
            continue
        w = weight[target[at]]
        losses[at] = -w * moved[(*at, target[at])]
        slopes[(*at, target[at])] = -w
        total += w
    slopes = np.moveaxis(slopes, -1, axis)
    if reduction == 1:
        return losses.sum() / total, slopes / total
    return REDUCTIONS[reduction](losses), slopes


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", [(7,), (6, 10), (64, 300), (3, 4, 5), (2, 5, 20, 20)], ids=str)
def test_class_losses(shape, dtype):
    rng = np.random.default_rng(0)
    axis = 0 if len(shape) == 1 else 1
    classes = shape[axis]
    places = () if len(shape) == 1 else (shape[0], *shape[2:])
    target = np.asarray(rng.integers(0, classes, places))
    if target.size > 3:
        target.flat[::5] = -100
    t = taeda.from_numpy(target)
    x, a = draw(shape, dtype)
    w, c = draw((classes,), dtype, 1, 0.1, 1)
    logs = log_softmax(a, axis)
    for weight, weights in ((None, np.ones(classes)), (w, c)):
        for reduction in REDUCTIONS:
            loss, slopes = class_loss(logs, target, weights, reduction)
            got = nn.cross_entropy_loss(x, t, weight, reduction)
            close(got, loss, dtype, 10 * max(1.0, float(np.abs(loss).max())))
            _, statistics, total = nn._cross_entropy(x, t, weight, reduction, -100)
            made = nn._cross_entropy_backward(
                taeda.ones_like(got), x, t, weight, reduction, -100, statistics, total
            )
            want = slopes - np.exp(logs) * slopes.sum(axis, keepdims=True)
            close(made, want, dtype, 10)
            y = taeda.from_numpy(logs).to(x.dtype)
            loss, slopes = class_loss(values(y), target, weights, reduction)
            got, total = nn.nll_loss_forward(y, t, weight, reduction, -100)
            close(got, loss, dtype, 10 * max(1.0, float(np.abs(loss).max())))
            made = nn.nll_loss_backward(taeda.ones_like(got), y, t, weight, reduction, -100, total)
            close(made, slopes, dtype, 10)


def test_probabilities_and_smoothing_as_targets():
    x, a = draw((4, 5))
    logs = log_softmax(a, 1)
    p, q = draw((4, 5), seed=1, low=0, high=1)
    close(nn.cross_entropy_loss(x, p, None, 1), -(logs * q).sum(1).mean())
    target = np.array([0, 4, 2, 2])
    smooth = 0.9 * np.eye(5)[target] + 0.1 / 5
    got = nn.cross_entropy_loss(x, taeda.from_numpy(target), None, 0, -100, 0.1)
    close(got, -(logs * smooth).sum(1))
    hard = nn.cross_entropy_loss(x, taeda.from_numpy(np.eye(5)[target]), None, 0, -100, 0.1)
    close(hard, values(got))


def test_a_mean_over_no_targets_is_nan():
    x, _ = draw((2, 3))
    t = taeda.full((2,), -100)
    assert math.isnan(nn.cross_entropy_loss(x, t).item())
    assert nn.cross_entropy_loss(x, t, None, 2).item() == 0
    _, statistics, total = nn._cross_entropy(taeda.full((2, 3), math.nan), t, None, 2, -100)
    made = nn._cross_entropy_backward(
        taeda.tensor(1.0), taeda.full((2, 3), math.nan), t, None, 2, -100, statistics, total
    )
    assert made.tolist() == [[0] * 3] * 2


def test_confident_predictions_keep_their_digits():
    x = taeda.tensor([[1e4, 1e4 - 12.0]])
    got = nn.cross_entropy_loss(x, taeda.tensor([0])).item()
    assert got == pytest.approx(math.log1p(math.exp(-12)), rel=2e-2)


X = taeda.ones(4, 5)


@pytest.mark.parametrize("name", ["cross_entropy_loss", "nll_loss_nd"])
@pytest.mark.parametrize(
    ("x", "t", "error", "text"),
    [
        (X, taeda.tensor([0, 1, 2]), ValueError, "4.*3"),
        (X, taeda.tensor([0, 1, 2, 5]), IndexError, "5.*5 classes"),
        (X, taeda.tensor([0, 1, 2, -1]), IndexError, "-1"),
        (X, taeda.tensor([0, 1, 2, 3], dtype=taeda.int32), RuntimeError, "Long"),
        (X, taeda.zeros(4, 2, dtype=taeda.int64), RuntimeError, r"\[4, 2\]"),
        (taeda.ones(2, 3, 4), taeda.zeros(2, 5, dtype=taeda.int64), RuntimeError, r"\[2, 5\]"),
        (X.long(), taeda.tensor([0, 1, 2, 3]), NotImplementedError, "Long"),
    ],
)
def test_class_refusals(name, x, t, error, text):
    with pytest.raises(error, match=text):
        getattr(nn, name)(x, t)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: nn.cross_entropy_loss(X, taeda.zeros(4).long(), taeda.ones(3)),
            RuntimeError,
            "5 classes.*3",
        ),
        (lambda: nn.cross_entropy_loss(X, X.long()), RuntimeError, "probabilities"),
        (lambda: nn.cross_entropy_loss(X, X, label_smoothing=2.0), RuntimeError, "2.0"),
        (lambda: nn.huber_loss(X, X, 1, 0.0), RuntimeError, "0"),
        (lambda: nn.smooth_l1_loss(X, X, 1, -1.0), RuntimeError, "-1"),
        (lambda: nn.mse_loss(X, X, 7), ValueError, "7"),
        (lambda: nn.mse_loss(X, taeda.ones(3)), RuntimeError, "5.*3"),
        (lambda: nn.mse_loss(X.long(), X.long()), NotImplementedError, "Long"),
        (lambda: nn.binary_cross_entropy(X, taeda.ones(5)), ValueError, "4, 5"),
        (lambda: taeda.margin_ranking_loss(X, X, taeda.ones(4)), RuntimeError, r"\(4,\)"),
        (lambda: nn.multi_margin_loss(X, taeda.tensor([0, 1, 2, 9])), RuntimeError, "0 to 4"),
        (lambda: taeda.cosine_embedding_loss(X, X, X), RuntimeError, "2D"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


# ---- the others ----


def test_losses_of_pairs_and_triples():
    x, a = draw((4, 6))
    y, b = draw((4, 6), seed=1)
    z, c = draw((4, 6), seed=2)
    sign = np.where(np.arange(24).reshape(4, 6) % 3, 1.0, -1.0)
    s = taeda.from_numpy(sign)
    want = np.where(sign == 1, a, np.maximum(0, 1.5 - a))
    close(taeda.hinge_embedding_loss(x, s, 1.5, 0), want)
    close(taeda.margin_ranking_loss(x, y, s, 0.5, 0), np.maximum(0, -sign * (a - b) + 0.5))
    cosine = (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))
    first = sign[:, 0]
    want = np.where(first == 1, 1 - cosine, np.maximum(0, cosine - 0.1))
    close(taeda.cosine_embedding_loss(x, y, s[:, 0], 0.1, 0), want, slack=100)

    def distance(p, q):
        return np.sqrt(((p - q + 1e-6) ** 2).sum(1))

    want = np.maximum(0, 1 + distance(a, b) - np.minimum(distance(a, c), distance(b, c)))
    close(taeda.triplet_margin_loss(x, y, z, 1.0, 2, 1e-6, True, 0), want)
    p, q = draw((4, 6), seed=3, low=0, high=4)
    close(taeda.poisson_nll_loss(x, p, True, False, 1e-8, 2), (np.exp(a) - q * a).sum())
    close(taeda.kl_div(x, p, 1), np.where(q > 0, q * np.log(q), 0).mean() - (q * a).mean())
    close(taeda.kl_div(x, y, 0, log_target=True), np.exp(b) * (b - a))


def test_margins_between_classes():
    x, a = draw((3, 4))
    target = np.array([0, 3, 1])
    want = np.zeros(3)
    for i, k in enumerate(target):
        want[i] = sum(max(0, 1 - a[i, k] + a[i, j]) ** 2 for j in range(4) if j != k) / 4
    close(nn.multi_margin_loss(x, taeda.from_numpy(target), 2, 1, None, 0), want)
    labels = np.array([[3, 0, -1, 1], [-1, 0, 1, 2], [0, 1, 2, 3]])
    for i, row in enumerate(labels):
        own = row[: list(row).index(-1)] if -1 in row else row
        want[i] = (
            sum(max(0, 1 - a[i, y] + a[i, j]) for y in own for j in range(4) if j not in own) / 4
        )
    close(nn.multilabel_margin_loss(x, taeda.from_numpy(labels), 0), want)


def margins(a, own, margin):
    """The loss of a row and its slope, label by label."""
    n, total, slope = len(a), 0.0, np.zeros(len(a))
    for y in own:
        for j in range(n):
            if j not in own and margin - a[y] + a[j] > 0:
                total += margin - a[y] + a[j]
                slope[j] += 1 / n
                slope[y] -= 1 / n
    return total / n, slope


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
@pytest.mark.parametrize("classes", [1, 3, 8, 17, 130])
def test_margins_in_one_pass(classes, dtype):
    rng = np.random.default_rng(classes)
    a = rng.standard_normal((9, classes)).astype("float32")
    x = taeda.from_numpy(a).to(dtype)
    target = rng.integers(0, classes, 9)
    labels = rng.integers(-1, classes, (9, classes))  # some of them twice
    one = [margins(row, [k], 0.5) for row, k in zip(a.astype(float), target, strict=True)]
    own = [[*row[: list(row).index(-1)]] if -1 in row else [*row] for row in labels]
    several = [margins(row, some, 1) for row, some in zip(a.astype(float), own, strict=True)]
    t, m = taeda.from_numpy(target), taeda.from_numpy(labels)
    for want, got, slopes in (
        (one, nn.multi_margin_loss(x, t, 1, 0.5, None, 0), nn._margin_loss(x, t, 0.5)[1]),
        (several, nn.multilabel_margin_loss(x, m, 0), nn._margin_loss(x, m)[1]),
        (one, nn.multi_margin_loss(x.t().contiguous().t(), t, 1, 0.5, None, 0), None),
    ):
        assert got.dtype is dtype
        np.testing.assert_allclose(values(got), [w[0] for w in want], rtol=2e-5, atol=1e-6)
        if slopes is not None:
            np.testing.assert_allclose(values(slopes), [w[1] for w in want], rtol=1e-4, atol=1e-6)
    assert nn.multi_margin_loss(x[0], t[:1], 1, 0.5, None, 1).shape == ()


def test_margins_keep_nan_and_leave_a_label_of_infinity_out():
    inf, nan = float("inf"), float("nan")
    x = taeda.tensor([[0.0, nan, 1.0], [nan, 0.0, 1.0], [inf, 0.0, 1.0], [0.0, inf, 1.0]])
    got = nn.multi_margin_loss(x, taeda.zeros(4, dtype=taeda.int64), 1, 1, None, 0).tolist()
    assert got[0] != got[0] and got[1] != got[1]
    assert got[2:] == [0, inf]
    assert (
        nn.multi_margin_loss(x[:0], taeda.zeros(0, dtype=taeda.int64), 1, 1, None, 0).numel() == 0
    )


def test_margins_have_the_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(3)
    x = taeda.from_numpy(rng.standard_normal((300, 77)).astype("float32"))
    labels = taeda.from_numpy(rng.integers(-1, 77, (300, 77)))
    threads = taeda.get_num_threads()
    found = []
    for n in (1, 2, 5):
        taeda.set_num_threads(n)
        found.append([t.tolist() for t in nn._margin_loss(x, labels)])
    taeda.set_num_threads(threads)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("scores", "target", "message"), [
    (taeda.ones(2, 3), taeda.tensor([0, 3]), "classes are 0 to 2, got 3"),
    (taeda.ones(2, 3), taeda.tensor([-1, 0]), "classes are 0 to 2, got -1"),
    (taeda.ones(2, 3), taeda.tensor([[0], [-2]]), "labels are -1 to 2, got -2"),
    (taeda.ones(2, 3), taeda.tensor([0]), r"got \[2, 3\] and \[1\]"),
    (taeda.ones(3), taeda.tensor([0, 0, 0]), r"got \[3\] and \[3\]"),
    (taeda.ones(2, 3), taeda.tensor([0.0, 1.0]), "int64, but got float32"),
])  # fmt: skip
def test_margins_refuse(scores, target, message):
    with pytest.raises(RuntimeError, match=message):
        nn._margin_loss(scores, target)


@pytest.mark.parametrize("total", [taeda.ones(0), taeda.ones(2)])
def test_the_weight_of_a_mean_is_one_number(total):
    scores, target = taeda.ones(2, 3), taeda.tensor([0, 1])
    backward = taeda.ops.aten.nll_loss_backward
    with pytest.raises(RuntimeError, match="expected a total_weight of 1 element"):
        backward(taeda.ones(()), scores, target, None, 1, -100, total)


@pytest.mark.parametrize("n", [1000, 4096, 41_000, 300_000])
@pytest.mark.parametrize(
    "name",
    ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy",
     "binary_cross_entropy_with_logits"],
)  # fmt: skip
def test_a_mean_of_equal_losses_is_that_loss(name, n):
    loss = getattr(taeda.nn.functional, name)
    found = loss(taeda.full((n,), 0.3), taeda.zeros(n)).item()
    one = loss(taeda.full((1,), 0.3), taeda.zeros(1)).item()
    assert abs(found / one - 1) <= 5 * 2**-23


@pytest.mark.parametrize("pos_weight", [None, 2.5])
@pytest.mark.parametrize("target", [0.0, 1e-6, 0.3, 0.9999, 1.0])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_sure_logit_keeps_the_digits_of_its_loss(dtype, target, pos_weight):
    """By definition, in float64: -w t log σ(x) - (1 - t) log σ(-x), each logarithm without cancellation."""
    x = taeda.linspace(-60, 60, 241).to(getattr(taeda, dtype)).requires_grad_()
    t = taeda.full_like(x, target).requires_grad_()
    weight = None if pos_weight is None else taeda.tensor(pos_weight).to(x.dtype)
    made = taeda.binary_cross_entropy_with_logits(x, t, None, weight, 0)
    gradients = taeda.autograd.grad(made.sum(), (x, t))
    z, p = (np.array(v.detach().double().tolist()) for v in (x, t))
    w = 1 if pos_weight is None else pos_weight
    above, below = np.logaddexp(0, -z), np.logaddexp(0, z)  # -log σ(x), -log σ(-x)
    near = np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z)))
    wanted = (
        w * p * above + (1 - p) * below,
        np.where(z > 0, 1 - p - (w * p + 1 - p) * near, (w * p + 1 - p) * near - w * p),
        w * above - below,
    )
    info = taeda.finfo(x.dtype)
    for found, exact in zip((made, *gradients), wanted, strict=True):
        np.testing.assert_allclose(
            values(found.double()), exact, rtol=32 * info.eps, atol=info.tiny
        )
