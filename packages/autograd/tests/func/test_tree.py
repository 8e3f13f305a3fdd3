"""Trees of tensors as arguments and results of transforms."""

from __future__ import annotations

from collections import defaultdict, deque

import pytest
from transform_inputs import X, close, cube

import taeda
from taeda.func import grad, jacrev, jvp, linearize, vjp, vmap
from taeda.utils import _pytree


def test_trees_of_tensors():
    made = grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": X, "b": [X + 1, X]})
    assert list(made) == ["a", "b"]
    close(made["a"], X + 1)
    close(made["b"][0], X)
    close(made["b"][1], [0, 0, 0])


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: grad(lambda x: (x.sum(), 1), has_aux=True)(X), RuntimeError,
            "only tensors, got unsupported type <class 'int'>"),
        (lambda: grad(lambda x: x.sum(), argnums=2)(X), RuntimeError,
            "Got argnum=2, but only 1 positional inputs"),
        (lambda: grad(lambda x: x.sum(), argnums="a")(X), RuntimeError, "argnums must be int or Tuple"),
        (lambda: grad(lambda x: x.sum(), argnums=(0, 0))(X), RuntimeError, "argnums must be different"),
        (lambda: vjp(lambda x: 3, X), RuntimeError,
            "return only tensors, got unsupported type <class 'int'>"),
        (lambda: vjp(cube, X)[1]((X, X)), RuntimeError, "pytree structure of cotangents"),
        (lambda: jvp(cube, (X,), (X, X)), RuntimeError, "same python structure"),
        (lambda: jvp(lambda x: 3, (X,), (X,)), RuntimeError, "return only tensors"),
        (lambda: linearize(cube, X)[1](X, X), RuntimeError, "same python structure"),
    ],
)  # fmt: skip
def test_refusals(run, error, text):
    with pytest.raises(error, match=text):
        run()


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


@pytest.fixture
def pair():
    _pytree.register_pytree_node(
        Pair, lambda p: ([p.a, p.b], None), lambda values, _: Pair(*values)
    )
    yield Pair(taeda.arange(6.0).reshape(2, 3), taeda.arange(2.0))
    _pytree._deregister_pytree_node(Pair)


def test_a_class_that_is_registered(pair):
    assert vmap(lambda p: p.a.sum() + p.b)(pair).tolist() == [3, 13]
    assert vmap(lambda p: Pair(p.b, p.a))(pair).b.shape == (2, 3)
    assert vmap(lambda p: p.a, (Pair(0, None),))(pair).shape == (2, 3)
    assert taeda.equal(grad(lambda p: (p.a * p.a).sum() + p.b.sum())(pair).a, 2 * pair.a)
    value, tangent = jvp(lambda p: Pair(p.a * 2, p.b), (pair,), (pair,))
    assert taeda.equal(value.b, pair.b)
    assert taeda.equal(tangent.a, 2 * pair.a)
    (back,) = vjp(lambda p: p.a * 2, pair)[1](taeda.ones(2, 3))
    assert taeda.equal(back.a, taeda.full((2, 3), 2.0))
    assert taeda.equal(jacrev(lambda p: p.b * 2)(pair).b, 2 * taeda.eye(2))
    with pytest.raises(RuntimeError, match="pytree structure of cotangents"):
        vjp(lambda p: p, pair)[1]((pair.a, pair.b))


def test_containers_of_the_library_keep_their_kind():
    made = vmap(lambda d: d)(defaultdict(list, a=X))
    assert made.default_factory is list
    close(made["a"], X)
    row = vmap(lambda d: d)(deque([X, X], maxlen=3))
    assert isinstance(row, deque) and row.maxlen == 3
