"""Trees of tensors as arguments and results of transforms."""

from __future__ import annotations

import pytest
from transform_inputs import X, close, cube

from taeda.func import grad, jvp, linearize, vjp


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
