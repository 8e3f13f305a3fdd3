"""Covariance and histograms against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda


def draw(*shape, seed=0):
    return taeda.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def close(got, want, tolerance=1e-11):
    assert tuple(got.shape) == np.shape(want)
    np.testing.assert_allclose(got.resolve_conj().numpy(), want, rtol=tolerance, atol=tolerance)


# ---- covariance ----


@pytest.mark.parametrize("correction", [0, 1, 2])
def test_cov(correction):
    x = draw(3, 7)
    often, weight = taeda.tensor([1, 2, 0, 3, 1, 1, 2]), draw(7, seed=1).abs()
    for f, a in ((None, None), (often, None), (None, weight), (often, weight)):
        got = taeda.cov(x, correction=correction, fweights=f, aweights=a)
        close(
            got,
            np.cov(
                x.numpy(),
                ddof=correction,
                fweights=None if f is None else f.numpy(),
                aweights=None if a is None else a.numpy(),
            ),
        )


def test_cov_of_vectors_integers_complex_numbers_and_layouts():
    close(draw(9).cov(), np.cov(draw(9).numpy()))
    close(taeda.tensor([[1, 2, 4], [3, 1, 1]]).cov(), np.cov([[1, 2, 4], [3, 1, 1]]), 1e-6)
    z = taeda.complex(draw(2, 5), draw(2, 5, seed=1))
    close(z.cov(), np.cov(z.numpy()))
    close(draw(7, 3).t().cov(), np.cov(draw(7, 3).numpy().T))
    close(draw(3, 14)[:, ::2].cov(), np.cov(draw(3, 14).numpy()[:, ::2]))


def test_too_few_observations():
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert taeda.cov(taeda.ones(2, 1)).isnan().all()


def test_corrcoef():
    close(draw(4, 9).corrcoef(), np.corrcoef(draw(4, 9).numpy()))
    z = taeda.complex(draw(3, 5), draw(3, 5, seed=1))
    close(z.corrcoef(), np.corrcoef(z.numpy()))
    assert draw(5).corrcoef().item() == 1


# ---- histograms ----


@pytest.mark.parametrize("density", [False, True])
def test_histogram(density):
    x, weight = draw(5, 40), draw(5, 40, seed=1).abs()
    edges = taeda.tensor([-1.0, -0.25, 0.5, 2.0], dtype=taeda.float64)
    for args, options, theirs in (
        ((10,), {}, {"bins": 10}),
        ((7,), {"range": (-1.0, 1.0)}, {"bins": 7, "range": (-1, 1)}),
        ((edges,), {}, {"bins": edges.numpy()}),
    ):
        for w in (None, weight):
            hist, found = taeda.histogram(x, *args, weight=w, density=density, **options)
            want, places = np.histogram(
                x.numpy(), weights=None if w is None else w.numpy(), density=density, **theirs
            )
            close(hist, want)
            close(found, places)


def test_histogram_edges_belong_to_the_bin_on_their_right_but_for_the_last():
    x = taeda.tensor([0.0, 1.0, 1.0, 2.0, float("nan"), 3.0])
    made = taeda.histogram(x, taeda.tensor([0.0, 1.0, 2.0]))
    assert made.hist.tolist() == [1, 3]
    assert made.bin_edges.tolist() == [0, 1, 2]


def test_histogram_of_nothing_and_of_one_value():
    assert taeda.histogram(taeda.empty(0), 2).hist.tolist() == [0, 0]
    hist, edges = taeda.histogram(taeda.ones(3), 2)
    assert hist.tolist() == [0, 3]
    assert edges.tolist() == [0.5, 1, 1.5]


def test_histogram_into_given_tensors():
    hist, edges = taeda.empty(0), taeda.empty(0)
    taeda.histogram(taeda.tensor([1.0, 2.0]), 2, out=(hist, edges))
    assert hist.tolist() == [1, 1]


@pytest.mark.parametrize("density", [False, True])
def test_histogramdd(density):
    x, weight = draw(60, 3), draw(60, seed=1).abs()
    edges = [taeda.linspace(-1, 1, n, dtype=taeda.float64) for n in (3, 4, 2)]
    for args, options, theirs in (
        ((4,), {}, {"bins": 4}),
        (([2, 3, 4],), {}, {"bins": [2, 3, 4]}),
        (
            (3,),
            {"range": [-1.0, 1.0, -2.0, 2.0, 0.0, 1.0]},
            {"bins": 3, "range": [(-1, 1), (-2, 2), (0, 1)]},
        ),
        ((edges,), {}, {"bins": [e.numpy() for e in edges]}),
    ):
        hist, found = taeda.histogramdd(x, *args, weight=weight, density=density, **options)
        want, places = np.histogramdd(x.numpy(), weights=weight.numpy(), density=density, **theirs)
        close(hist, want)
        for e, p in zip(found, places, strict=True):
            close(e, p)


def test_histograms_leave_out_what_lies_beside_and_nan():
    x = taeda.tensor([math.nan, -1.0, 0.0, 0.5, 1.0, 2.0, math.inf])
    edges = taeda.tensor([0.0, 0.5, 0.5, 1.0])  # an empty bin, and a last edge that counts
    assert taeda.histogram(x, edges).hist.tolist() == [1, 0, 2]
    both = taeda.stack([x, x], 1)
    hist = taeda.histogramdd(both, [edges, edges]).hist
    assert hist.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 2]]


def test_counts_go_on_where_floats_have_no_next_number():
    weight = taeda.tensor([2.0**24, 1.0, 1.0])
    assert taeda.histogram(ones(3), 1, weight=weight).hist.tolist() == [2.0**24 + 2]


def test_histogramdd_of_many_points_is_the_same_on_any_number_of_threads():
    x = draw(20_000, 2).float()
    weight = draw(20_000, seed=1).abs().float()
    before, found = taeda.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            taeda.set_num_threads(threads)
            found.append(taeda.histogramdd(x, 7, weight=weight).hist)
    finally:
        taeda.set_num_threads(before)
    assert taeda.equal(found[0], found[1])
    assert taeda.equal(found[0], found[2])


ones = taeda.ones

EDGES = [taeda.tensor([0.0, 1.0])]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: taeda._histogramdd(ones(3, 2), EDGES), RuntimeError, "edges for 1"),
        (lambda: taeda._histogramdd(ones(3), EDGES), RuntimeError, r"points \[3\]"),
        (lambda: taeda._histogramdd(ones(3, 1), [ones(1)]), RuntimeError, "at least 2"),
        (lambda: taeda._histogramdd(ones(3, 1).double(), EDGES), RuntimeError, "float64"),
        (lambda: taeda._histogramdd(ones(3, 1), EDGES, ones(2)), RuntimeError, "3 weights"),
        (
            lambda: taeda._histogramdd(ones(3, 1).long(), [taeda.tensor([0, 1])]),
            NotImplementedError,
            "Long",
        ),
    ],
)
def test_refusals_of_the_row(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: taeda.cov(ones(2, 2, 2)), "two or fewer dimensions"),
        (lambda: taeda.cov(ones(2, 2) > 0), "bool dtype"),
        (lambda: taeda.cov(ones(2, 3), fweights=ones(3)), "integral dtype"),
        (lambda: taeda.cov(ones(2, 3), aweights=taeda.tensor([1, 1, 1])), "floating point dtype"),
        (lambda: taeda.cov(ones(2, 3), aweights=ones(2)), "2 != 3"),
        (lambda: taeda.cov(ones(2, 3), aweights=ones(3, 1)), "one or fewer dimensions"),
        (lambda: taeda.cov(ones(2, 3), aweights=-ones(3)), "cannot be negative"),
        (lambda: taeda.cov(ones(2, 3), aweights=ones(3) * 0), "weights sum to zero"),
        (lambda: taeda.corrcoef(ones(2, 2, 2)), "two or fewer dimensions"),
        (lambda: taeda.histogram(ones(3), 0), "bins must be > 0"),
        (lambda: taeda.histogram(ones(3), 2, range=(1.0, 0.0)), "min should not exceed max"),
        (lambda: taeda.histogram(ones(3), 2, range=(0.0, float("inf"))), "not finite"),
        (lambda: taeda.histogram(ones(3), ones(2, 2)), "one dimension"),
        (lambda: taeda.histogram(ones(3), taeda.tensor([1.0, 0.0])), "ascending"),
        (lambda: taeda.histogram(ones(3), taeda.tensor([1.0])), "at least 2 edges"),
        (lambda: taeda.histogram(ones(3), ones(2).double()), "same dtype"),
        (lambda: taeda.histogram(ones(3), 2, weight=ones(2)), "same shape"),
        (lambda: taeda.histogram(taeda.tensor([1, 2]), 2), "not implemented for taeda.int64|dtype"),
        (lambda: taeda.histogramdd(ones(3), 2), "at least 2 dimensions"),
        (lambda: taeda.histogramdd(ones(3, 2), [2]), "as many bins"),
        (lambda: taeda.histogramdd(ones(3, 2), 2, range=[0.0, 1.0]), "4 elements"),
        (lambda: taeda.histogramdd(ones(3, 2), 2, weight=ones(2)), "excluding its innermost"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()
