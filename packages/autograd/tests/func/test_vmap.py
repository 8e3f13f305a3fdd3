"""vmap beyond its table: forms of arguments, randomness, chunks, nesting with derivatives, refusals."""

from __future__ import annotations

import pytest

import taeda
from taeda.func import debug_unwrap, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap


class _Functional:
    """`taeda.nn.functional` of a sibling, looked up when a test asks."""

    def __getattr__(self, name):
        return getattr(taeda.nn.functional, name)


F = _Functional()


def close(a, b):
    taeda.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


# ---- arguments and results ----


def test_dimensions_in_structures():
    x, y = taeda.randn(3, 4), taeda.randn(4, 3)

    def f(pair, named, number):
        return {"a": pair[0] + pair[1], "b": (named["k"] * number, named["k"].sum())}

    dims = ((0, 1), {"k": None}, None)
    made = vmap(f, in_dims=dims, out_dims={"a": 1, "b": (None, None)})((x, y), {"k": x}, 2)
    close(made["a"], x.T + y)
    close(made["b"][0], x * 2)
    prefix = vmap(f, in_dims=(0, None, None), out_dims=0)((x, y.T), {"k": x}, 2)
    assert prefix["b"][1].shape == (3,)
    close(vmap(lambda x, *, shift: x + shift, in_dims=0)(x, shift=y[:, 0]), x + y[:, 0])


def test_results_that_do_not_depend_on_samples_are_repeated():
    made = vmap(lambda x: (taeda.ones(2), x))(taeda.zeros(3))
    assert made[0].shape == (3, 2)


REFUSED = [
    (lambda: vmap(taeda.sin, in_dims="x")(taeda.ones(2)), ValueError, "expected `in_dims` to be int or"),
    (lambda: vmap(taeda.sin, in_dims=(0, 0))(taeda.ones(2)), ValueError, "not compatible with the structure"),
    (lambda: vmap(taeda.sin, in_dims=2)(taeda.ones(2, 2)), ValueError, r"Got in_dim=2 .* dimensionality 2"),
    (lambda: vmap(taeda.sin)(3.0), ValueError, "but the input is of type <class 'float'>"),
    (lambda: vmap(taeda.sin, in_dims=(None,))(taeda.ones(2)), ValueError, "at least one"),
    (lambda: vmap(lambda: 1)(), ValueError, "got no inputs"),
    (lambda: vmap(lambda x=0: x)(x=taeda.ones(2)), ValueError, "got no inputs"),
    (lambda: vmap(taeda.add)(taeda.ones(2), taeda.ones(3)), ValueError, "same size in the mapped dimension"),
    (lambda: vmap(lambda x: 3)(taeda.ones(2)), ValueError,
        "must only return Tensors, got type <class 'int'>"),
    (lambda: vmap(lambda x: x, out_dims=None)(taeda.ones(2)), ValueError,
        "can not return a BatchedTensor when out_dim is None"),
    (lambda: vmap(lambda x: x, out_dims=(0, 0))(taeda.ones(2)), ValueError, "out_dims is not compatible"),
    (lambda: vmap(lambda x: x, out_dims=3)(taeda.ones(2)), ValueError, "out_dims has 3"),
    (lambda: vmap(taeda.sin, chunk_size=0)(taeda.ones(2)), ValueError,
        "chunk_size should be None or greater"),
    (lambda: vmap(taeda.sin, randomness="x"), RuntimeError, "Only allowed values for randomness"),
    (lambda: vmap(lambda x: x.item())(taeda.ones(2)), RuntimeError, r"\.item\(\) on a Tensor"),
    (lambda: vmap(lambda x: x if x > 0 else -x)(taeda.ones(2)), RuntimeError, "data-dependent control flow"),
    (lambda: vmap(lambda x: x.tolist())(taeda.ones(2)), RuntimeError, "tolist"),
    (lambda: vmap(lambda x: x.numpy())(taeda.ones(2)), RuntimeError, "numpy"),
    (lambda: vmap(lambda x: x[x > 0])(taeda.ones(2, 2)), RuntimeError, "shape depends on the data"),
    (lambda: vmap(lambda x: x.nonzero())(taeda.ones(2, 2)), RuntimeError, "shape depends on the data"),
    (lambda: vmap(lambda x: taeda.add(x, 1, out=x))(taeda.ones(2)), RuntimeError, "out="),
    (lambda: vmap(lambda x, y: y.add_(x), (0, None))(taeda.ones(2), taeda.ones(())), RuntimeError,
        "is not possible because"),
    (lambda: vmap(lambda x: x + taeda.randn(2))(taeda.ones(2)), RuntimeError, "randomness error mode"),
    (lambda: vmap(lambda x: F.dropout(x))(taeda.ones(2, 2)), RuntimeError, "randomness error mode"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals(number):
    make, kind, text = REFUSED[number]
    with pytest.raises(kind, match=text):
        make()
    assert float(taeda.ones(1) + 1) == 2  # and nothing stays behind


# ---- randomness, chunks ----


def test_randomness():
    x = taeda.zeros(4)
    made = vmap(lambda x: x + taeda.randn(3), randomness="different")(x)
    assert len({tuple(row) for row in made.tolist()}) == 4
    made = vmap(lambda x: x + taeda.randn(3), randomness="same")(x)
    assert len({tuple(row) for row in made.tolist()}) == 1
    ones = taeda.ones(4, 50)
    made = vmap(lambda x: F.dropout(x, 0.5), randomness="same")(ones)
    assert len({tuple(row) for row in made.tolist()}) == 1
    made = vmap(lambda x: F.dropout(x, 0.5), randomness="different")(ones)
    assert len({tuple(row) for row in made.tolist()}) == 4
    close(vmap(lambda x: F.dropout(x, 0.5, training=False))(ones), ones)
    inner = vmap(lambda x: x + taeda.rand(2), randomness="same")
    made = vmap(inner, randomness="different")(taeda.zeros(3, 5))
    assert made[:, 0].unique().numel() == 6
    assert made[:, 0].equal(made[:, 1])


@pytest.mark.parametrize("chunk", [1, 2, 5, 7])
def test_chunks(chunk):
    x = taeda.randn(5, 3)
    close(vmap(lambda x: x.softmax(0), chunk_size=chunk, out_dims=1)(x), x.softmax(1).T)
    f = lambda x: (x @ x.T).sin()  # noqa: E731
    close(jacrev(f, chunk_size=chunk)(x), jacrev(f)(x))


def test_no_samples():
    assert vmap(lambda x: (x * 2).sum(-1))(taeda.ones(0, 2, 3)).shape == (0, 2)
    assert vmap(taeda.trace)(taeda.ones(0, 3, 3)).shape == (0,)


# ---- what a function does with samples ----


# ---- with derivatives ----


def model(w, x):
    return (F.linear(x, w["a"], w["b"]).tanh() @ w["c"]).square().sum()


def weights():
    return {"a": taeda.randn(5, 4), "b": taeda.randn(5), "c": taeda.randn(5)}


def test_a_gradient_for_each_sample():
    w, x = weights(), taeda.randn(3, 4)
    made = vmap(grad(model), in_dims=(None, 0))(w, x)
    for k in range(3):
        wanted = grad(model)(w, x[k])
        for name, g in wanted.items():
            close(made[name][k], g)


def test_convolutional_gradients_for_each_sample():
    w = {"k": taeda.randn(4, 2, 3, 3), "l": taeda.randn(3, 4 * 9)}
    x, y = taeda.randn(5, 2, 8, 8), taeda.tensor([0, 1, 2, 0, 1])

    def loss(w, x, y):
        h = F.max_pool2d(F.conv2d(x[None], w["k"]).relu(), 2)
        return F.cross_entropy(h.flatten(1) @ w["l"].T, y[None])

    made = vmap(grad(loss), in_dims=(None, 0, 0))(w, x, y)
    for k in range(5):
        wanted = grad(loss)(w, x[k], y[k])
        for name, g in wanted.items():
            close(made[name][k], g)


def test_derivatives_and_maps_nest_in_any_order():
    w, x = taeda.randn(5, 4, dtype=taeda.float64), taeda.randn(3, 4, dtype=taeda.float64)
    f = lambda x: (w @ x.sin()).tanh().sum()  # noqa: E731
    close(grad(lambda x: vmap(f)(x).sum())(x), vmap(grad(f))(x))
    second = vmap(hessian(f))(x)
    close(second[1], hessian(f)(x[1]))
    close(vmap(jacrev(jacfwd(f)))(x), second)
    close(vmap(jacfwd(jacfwd(f)))(x), second)
    close(vmap(jacrev(jacrev(f)))(x), second)
    close(
        vmap(grad(lambda x: grad(f)(x).square().sum()))(x)[2],
        grad(lambda x: grad(f)(x).square().sum())(x[2]),
    )
    t = taeda.randn(3, 4, dtype=taeda.float64)
    close(vmap(lambda x, t: jvp(f, (x,), (t,))[1])(x, t), (vmap(grad(f))(x) * t).sum(1))
    twice = vmap(vmap(grad(f)), in_dims=1, out_dims=1)(x.expand(2, 3, 4))
    close(twice[1], vmap(grad(f))(x))


def test_a_gradient_of_what_the_map_closes_over():
    w, x = taeda.randn(4, requires_grad=True), taeda.randn(3, 4)
    vmap(lambda x: (x * w).sum())(x).sum().backward()
    close(w.grad, x.sum(0))


def test_pullbacks_may_be_mapped():
    x, w = taeda.randn(4), taeda.randn(5, 4)
    _, pull = vjp(lambda x: w @ x.sin(), x)
    close(vmap(pull)(taeda.eye(5))[0], w * x.cos())

    def branching(x):
        return x.sin() if x.sum().item() < 100 else x

    _, pull = vjp(branching, x)
    close(vmap(pull)(taeda.eye(4))[0], taeda.diag(x.cos()))
    close(jacrev(branching)(x), taeda.diag(x.cos()))
    close(jacfwd(branching)(x), taeda.diag(x.cos()))


def test_ensembles_by_stacked_states():
    from taeda import nn
    from taeda.func import functional_call, stack_module_state

    models = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)) for _ in range(3)]
    params, buffers = stack_module_state(models)
    x = taeda.randn(6, 3)
    run = lambda p, b, x: functional_call(models[0], (p, b), (x,))  # noqa: E731
    close(vmap(run, in_dims=(0, 0, None))(params, buffers, x), taeda.stack([m(x) for m in models]))


# ---- custom functions ----


def test_debug_unwrap():
    seen = []

    def inner(x, y):
        seen.append((debug_unwrap(x), debug_unwrap(x, recurse=False), debug_unwrap(y)))
        return x + y

    x, y = taeda.arange(6).view(2, 3), taeda.tensor(1)
    made = vmap(vmap(inner, in_dims=(0, None)), in_dims=(0, None))(x, y)
    assert made.equal(x + 1)
    both, one, plain = seen[0]
    assert type(both) is taeda.Tensor and both.equal(x) and plain is y
    assert type(one) is not taeda.Tensor and one._value.equal(x)
    with pytest.raises(TypeError, match="wanted a Tensor, got int"):
        debug_unwrap(3)


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_what_is_given_by_keyword_is_shared_by_all_samples(chunk_size):
    x, scale = taeda.arange(3.0), taeda.tensor([1.0, 10.0, 100.0])
    scaled = vmap(
        lambda x, scale=2.0, more=None: x * scale + (more or {"k": 0})["k"], chunk_size=chunk_size
    )
    assert scaled(x).tolist() == [0, 2, 4]
    assert scaled(x, scale=scale).tolist() == [[0, 0, 0], [1, 10, 100], [2, 20, 200]]
    assert scaled(x, scale=1.0, more={"k": taeda.ones(2)}).tolist() == [[1, 1], [2, 2], [3, 3]]
