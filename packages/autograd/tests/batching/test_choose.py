from __future__ import annotations

import pytest

import taeda
from taeda.func import grad, vmap


def chosen(x):
    def other(y):
        return y.cos(), {"n": y + 1}

    return taeda.cond(x.sum() > 0, lambda y: (y.sin(), {"n": y * 2}), other, (x,))


def test_each_sample_gets_the_result_of_its_own_branch():
    x = taeda.tensor([[1.0, 2.0], [-3.0, 1.0], [0.5, -0.5]])
    found, more = vmap(chosen)(x)
    for n, row in enumerate(x):
        expected = chosen(row)
        assert found[n].equal(expected[0]) and more["n"][n].equal(expected[1]["n"])


def test_gradients_are_those_of_the_branch_of_the_sample():
    x = taeda.tensor([[1.0, 2.0], [-3.0, 1.0]])
    found = vmap(grad(lambda r: chosen(r)[0].sum()))(x)
    assert found.allclose(taeda.stack([x[0].cos(), -x[1].sin()]))


def test_two_maps():
    x = taeda.linspace(-2, 2, 12).reshape(2, 3, 2)
    found = vmap(vmap(lambda r: chosen(r)[0]))(x)
    assert found.equal(taeda.stack([taeda.stack([chosen(r)[0] for r in rows]) for rows in x]))


@pytest.mark.parametrize(
    ("true_fn", "false_fn", "fact"),
    [
        (lambda x: x, lambda x: (x,), "one structure"),
        (
            lambda x: x,
            lambda x: x[:1],
            r"shape \[2\] from true_fn and .* shape \[1\] from false_fn",
        ),
        (lambda x: x, lambda x: x.double(), "float32.*float64"),
        (lambda x: 3, lambda x: 4, "3 from true_fn and 4 from false_fn"),
    ],
)
def test_results_that_are_not_alike_are_refused(true_fn, false_fn, fact):
    with pytest.raises(RuntimeError, match=fact):
        vmap(lambda x: taeda.cond(x.sum() > 0, true_fn, false_fn, (x,)))(taeda.ones(3, 2))
