"""vmap beyond its table: forms of arguments, randomness, chunks, nesting with derivatives, refusals."""

from __future__ import annotations

import warnings

import pytest

import taeda
import taeda.nn.functional as F
from taeda.autograd.batching import _call
from taeda.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap


@pytest.fixture(autouse=True)
def _seed():
    taeda.manual_seed(0)


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
    close(vmap(lambda x, *, shift: x + shift, in_dims=0)(x, shift=y.T), x + y.T)


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
    (lambda: vmap(taeda.add)(taeda.ones(2), taeda.ones(3)), ValueError, "same size in the mapped dimension"),
    (lambda: vmap(lambda x: 3)(taeda.ones(2)), ValueError, "must only return Tensors, got type <class 'int'>"),
    (lambda: vmap(lambda x: x, out_dims=None)(taeda.ones(2)), ValueError, "can not return a BatchedTensor when out_dim is None"),
    (lambda: vmap(lambda x: x, out_dims=(0, 0))(taeda.ones(2)), ValueError, "out_dims is not compatible"),
    (lambda: vmap(lambda x: x, out_dims=3)(taeda.ones(2)), ValueError, "out_dims has 3"),
    (lambda: vmap(taeda.sin, chunk_size=0)(taeda.ones(2)), ValueError, "chunk_size should be None or greater"),
    (lambda: vmap(taeda.sin, randomness="x"), RuntimeError, "Only allowed values for randomness"),
    (lambda: vmap(lambda x: x.item())(taeda.ones(2)), RuntimeError, r"\.item\(\) on a Tensor"),
    (lambda: vmap(lambda x: x if x > 0 else -x)(taeda.ones(2)), RuntimeError, "data-dependent control flow"),
    (lambda: vmap(lambda x: x.tolist())(taeda.ones(2)), RuntimeError, "tolist"),
    (lambda: vmap(lambda x: x.numpy())(taeda.ones(2)), RuntimeError, "numpy"),
    (lambda: vmap(lambda x: x[x > 0])(taeda.ones(2, 2)), RuntimeError, "shape depends on the data"),
    (lambda: vmap(lambda x: x.nonzero())(taeda.ones(2, 2)), RuntimeError, "shape depends on the data"),
    (lambda: vmap(lambda x: taeda.add(x, 1, out=x))(taeda.ones(2)), RuntimeError, "out="),
    (lambda: vmap(lambda x, y: y.add_(x), (0, None))(taeda.ones(2), taeda.ones(())), RuntimeError, "is not possible because"),
    (lambda: vmap(lambda x: x + taeda.randn(2))(taeda.ones(2)), RuntimeError, "randomness error mode"),
    (lambda: vmap(lambda x: F.dropout(x))(taeda.ones(2, 2)), RuntimeError, "randomness error mode"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals(number):
    make, kind, text = REFUSED[number]
    with pytest.raises(kind, match=text):
        make()
    assert float(taeda.ones(1) + 1) == 2  # and nothing stays behind


def test_a_sample_that_escapes_is_refused():
    kept = []
    vmap(lambda x: kept.append(x) or x)(taeda.ones(2))
    with pytest.raises(RuntimeError, match="after that vmap returned"):
        kept[0] + 1


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


def test_writes_reach_the_samples_and_not_the_shared():
    x = taeda.zeros(3, 4)

    def f(row, value):
        row[1:3] = value
        row.add_(1)
        row += value
        return row

    made = vmap(f)(x, taeda.arange(3.0))
    assert made.tolist() == [[1, 1, 1, 1], [2, 3, 3, 2], [3, 5, 5, 3]]
    assert x.equal(made)


def test_facts_are_those_of_a_sample():
    seen = []

    def f(x):
        seen.append(
            (x.shape, x.dim(), len(x), x.dtype, x.numel(), x.size(-1), x.device.type, x.ndim)
        )
        assert "BatchedTensor" in repr(x)
        return x

    vmap(f, in_dims=1)(taeda.ones(2, 5, 3))
    assert seen == [((2, 3), 2, 2, taeda.float32, 6, 3, "cpu", 2)]


def test_a_sample_without_dimensions_gives_way_in_types_as_single_ones_do():
    x, s = taeda.ones(3, 4), taeda.ones(3, dtype=taeda.float64)
    assert vmap(lambda x, s: x * s)(x, s).dtype == taeda.float32
    assert vmap(lambda x, s: x.long() * s)(x, s).dtype == taeda.float64


def test_rules_are_used_for_common_functions():
    """A call that runs sample by sample warns; these have rules, in the forms that models use."""
    x, w = taeda.randn(3, 2, 4), taeda.randn(3, 5, 4)
    image = taeda.randn(3, 2, 3, 8, 8)
    programs = [
        lambda: vmap(lambda x, w: F.linear(x, w).relu().softmax(-1))(x, w),
        lambda: vmap(lambda x: F.layer_norm(x, (4,)).sum(0).view(2, 2).transpose(0, 1))(x),
        lambda: vmap(lambda i: F.max_pool2d(F.conv2d(i, taeda.ones(4, 3, 3, 3)), 2).flatten(1))(image),
        lambda: vmap(lambda i, k: F.conv2d(i, k))(image, taeda.randn(3, 4, 3, 3, 3)),
        lambda: vmap(lambda x, t: F.cross_entropy(x, t))(x, taeda.zeros(3, 2, dtype=taeda.int64)),
        lambda: vmap(lambda x, y: F.mse_loss(x, y) + F.huber_loss(x, y))(x, x + 1),
        lambda: vmap(lambda x: x.mean() + x.std(0) + x.max(1)[0].sum() + x.cumsum(0).norm())(x),
        lambda: vmap(lambda x: taeda.cat([x, x]).reshape(-1)[1:3] + x[0, None, 1] + x[..., -1])(x),
        lambda: vmap(lambda x, i: x[i] + x.gather(0, i[:, None].expand(2, 4)))(x, taeda.zeros(3, 2, dtype=taeda.int64)),
        lambda: vmap(lambda x: F.scaled_dot_product_attention(x, x, x))(x),
        lambda: vmap(lambda x: taeda.linalg.inv(x @ x.T + taeda.eye(2)).det())(x),
        lambda: vmap(lambda i: F.batch_norm(i, None, None, training=True))(image),
        lambda: vmap(lambda i: F.embedding(i, taeda.ones(3, 2)))(taeda.zeros(3, 2, dtype=taeda.int64)),
    ]  # fmt: skip
    looped = []
    run = _call.one_by_one
    _call.one_by_one = lambda level, key, *rest: looped.append(key) or run(level, key, *rest)
    try:
        for program in programs:
            program()
    finally:
        _call.one_by_one = run
    assert not looped


def test_one_warning_for_a_function_without_a_rule():
    _call._warned.discard("histc")
    with pytest.warns(UserWarning, match="batching rule for histc") as caught:
        vmap(lambda x: taeda.histc(x, 3, 0, 1))(taeda.rand(2, 5))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vmap(lambda x: taeda.histc(x, 3, 0, 1))(taeda.rand(2, 5))


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


class Cube(taeda.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x**2


class Scaled(taeda.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def vmap(info, in_dims, x, y):
        assert info.batch_size == 3
        assert info.randomness == "error"
        x, y = (v.unsqueeze(0) if d is None else v for v, d in zip((x, y), in_dims, strict=True))
        return Scaled.apply(x, y.expand_as(x) if y.dim() == x.dim() else y), 0


def test_custom_functions_say_how_they_are_mapped():
    x, y = taeda.randn(3, 4), taeda.randn(4)
    close(vmap(Cube.apply)(x), x**3)
    close(vmap(grad(lambda x: Cube.apply(x).sum()))(x), 3 * x**2)
    close(vmap(lambda x: Scaled.apply(x, y))(x), x * y)
    close(vmap(grad(lambda x: Scaled.apply(x, y).sum()))(x), y.expand(3, 4))

    class Silent(Cube):
        generate_vmap_rule = False

    class Twice(Scaled):
        generate_vmap_rule = True

    with pytest.raises(RuntimeError, match="does not have vmap support"):
        vmap(Silent.apply)(x)
    with pytest.raises(RuntimeError, match="avoid ambiguity"):
        vmap(Twice.apply)(x, x)


def test_walks_back_from_a_sample_are_refused():
    x = taeda.randn(3, requires_grad=True)
    for program in (
        lambda x: taeda.autograd.grad(x.sin(), x)[0],
        lambda x: x.sin().backward() or x,
    ):
        with pytest.raises(RuntimeError, match="its graph is that of all samples"):
            vmap(program)(x)


def test_walks_back_with_mapped_gradients():
    x = taeda.randn(3, requires_grad=True)
    y = x.sin()
    made = vmap(lambda g: taeda.autograd.grad(y, x, g)[0])(taeda.eye(3))
    close(made, taeda.diag(x.cos()).detach())
