"""Compiled functions whose results are differentiated outside of them."""

from __future__ import annotations

import copy
import itertools

import pytest

import taeda
from taeda import nn
from taeda.utils.checkpoint import checkpoint


def warm(f, *args):
    """The function, compiled, with a trusted graph for these arguments."""
    compiled = taeda.compile(f, backend="aot_eager")
    for _ in range(3):
        compiled(*args)
    state = getattr(compiled, "__taeda_compiled__", None) or compiled._compiled
    assert any(t.trusted for traces in state.traces.values() for t in traces), state.reasons
    return compiled


def net():
    taeda.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(36, 5),
    )


@pytest.mark.parametrize("loss", ["cross_entropy", "sum", "mean"])
def test_a_module_in_training_gives_the_bits_of_eager(loss):
    def train(compiled):
        model = net()
        run = taeda.compile(model, backend="aot_eager") if compiled else model
        optimizer = taeda.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        taeda.manual_seed(1)
        found = []
        for _ in range(7):
            out = run(taeda.randn(6, 1, 8, 8))
            value = (
                nn.functional.cross_entropy(out, taeda.arange(6) % 5)
                if loss == "cross_entropy"
                else getattr(out, loss)()
            )
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            found.append(value.item())
        return found, [v.clone() for v in model.state_dict().values()], run

    expected, state, _ = train(False)
    found, after, run = train(True)
    assert found == expected
    assert all(a.equal(b) for a, b in zip(state, after, strict=True))
    assert [t.trusted for ts in run._compiled.traces.values() for t in ts] == [True]


def test_gradients_of_arguments():
    w = taeda.randn(4, 3, requires_grad=True)
    f = warm(lambda x: (x @ w).tanh(), taeda.randn(2, 4, requires_grad=True))
    x = taeda.randn(2, 4, requires_grad=True)
    y = x * 2  # one that was computed
    for value in (x, y):
        found = taeda.autograd.grad(f(value).square().sum(), (x, w), retain_graph=True)
        expected = taeda.autograd.grad((value @ w).tanh().square().sum(), (x, w))
        assert all(a.equal(b) for a, b in zip(found, expected, strict=True))


def test_several_results_of_which_one_is_used():
    w = taeda.randn(4, requires_grad=True)

    def f(x):
        return (x * w).sin(), {"second": (x * w).exp(), "number": 3}

    g = warm(f, taeda.randn(4))
    x = taeda.randn(4)
    first, rest = g(x)
    assert first.requires_grad
    assert rest["second"].requires_grad
    (found,) = taeda.autograd.grad(rest["second"].sum(), w)
    assert found.equal(((x * w).exp() * x).detach())
    first, rest = g(x)
    (first.sum() + rest["second"].mean()).backward()
    assert w.grad is not None


def losses(count, w):
    """A function of as many results, each of which reads a weight of its own and one that all read."""

    def f(x):
        return tuple((x * w[i] * w[count]).sin() for i in range(count))

    return f


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("create_graph", [False, True])
def test_what_the_used_results_do_not_read_has_no_gradient(count, create_graph):
    taeda.manual_seed(0)
    w = [taeda.randn(4, requires_grad=True) for _ in range(count + 1)]
    f, x = losses(count, w), taeda.randn(4)
    g = warm(f, x)
    for chosen in itertools.product((False, True), repeat=count):
        if not any(chosen):
            continue
        pair = []
        for call in (f, g):
            for leaf in w:
                leaf.grad = None
            used = [y.sum() for y, one in zip(call(x), chosen, strict=True) if one]
            sum(used[1:], used[0]).backward(create_graph=create_graph)
            pair.append([leaf.grad for leaf in w])
        eager, compiled = pair
        assert [g is None for g in compiled] == [g is None for g in eager]
        for a, b in zip(eager, compiled, strict=True):
            assert a is None or taeda.allclose(a, b)
            assert a is None or count > 3 or a.equal(b)


def test_a_result_that_is_not_used_adds_no_nan():
    w = taeda.ones(3, requires_grad=True)

    def f(x):
        return (w * x).sum(), (w * 0).sqrt().sum()  # whose gradient is 0 * inf

    g = warm(f, taeda.ones(3))
    g(taeda.ones(3))[0].backward()
    assert w.grad.tolist() == [1, 1, 1]


def test_more_results_than_have_programs_stay_eager():
    w = taeda.ones(3, requires_grad=True)
    g = taeda.compile(lambda x: [x * w * i for i in range(20)], backend="aot_eager")
    for _ in range(4):
        found = g(taeda.ones(3))
    found[3].sum().backward()
    assert w.grad.tolist() == [3, 3, 3]


def test_second_derivatives():
    w = taeda.randn(4, requires_grad=True)
    f = warm(lambda x: (x * w).sin().square(), taeda.randn(4))
    x = taeda.randn(4)

    def second(g):
        (first,) = taeda.autograd.grad(g(x).sum(), w, create_graph=True)
        (again,) = taeda.autograd.grad(first.square().sum(), w)
        return again

    assert second(f).equal(second(lambda x: (x * w).sin().square()))


def test_second_derivatives_of_what_cannot_run_twice_are_refused():
    w = taeda.randn(4, requires_grad=True)
    f = warm(lambda x: nn.functional.dropout(x * w, 0.5), taeda.randn(4))
    with pytest.raises(RuntimeError, match="differentiated once more"):
        taeda.autograd.grad(f(taeda.randn(4)).square().sum(), w, create_graph=True)


def test_a_graph_is_walked_once_unless_retained():
    w = taeda.randn(4, requires_grad=True)
    f = warm(lambda x: (x * w).exp(), taeda.randn(4))
    y = f(taeda.ones(4)).sum()
    y.backward(retain_graph=True)
    before = w.grad.clone()
    y.backward()
    assert w.grad.equal(before * 2)
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_a_saved_value_that_is_written_is_found():
    w = taeda.randn(4, requires_grad=True)
    f = warm(lambda x: x * w, taeda.randn(4))
    x = taeda.randn(4)
    y = f(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    g = warm(lambda x: (x * w).exp(), taeda.randn(4))
    z = g(taeda.randn(4))
    z.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_results_may_be_written_and_differentiated():
    w = taeda.randn(4, requires_grad=True)
    f = warm(lambda x: x * w + 1, taeda.randn(4))
    x = taeda.randn(4)
    y = f(x)
    y.mul_(3)
    y.sum().backward()
    assert w.grad.equal(x * 3)


def test_a_result_that_is_a_view():
    w = taeda.randn(4, 3, requires_grad=True)
    f = warm(lambda x: (x @ w).t(), taeda.randn(2, 4))
    x = taeda.randn(2, 4)
    (found,) = taeda.autograd.grad(f(x).square().sum(), w)
    (expected,) = taeda.autograd.grad((x @ w).t().square().sum(), w)
    assert found.equal(expected)


def test_checkpoints_and_hooks_of_results():
    w = taeda.randn(4, requires_grad=True)
    f = warm(lambda x: x * w, taeda.randn(4))
    seen = []
    y = f(taeda.ones(4))
    y.register_hook(lambda g: seen.append(g.clone()))
    y.retain_grad()
    (y * 2).sum().backward()
    assert seen[0].tolist() == [2, 2, 2, 2]
    assert y.grad.tolist() == [2, 2, 2, 2]
    assert type(y.grad_fn).__name__ == "CompiledBackward"


def test_memory_of_a_run_goes_with_its_result():
    import gc
    import weakref

    w = taeda.randn(4, requires_grad=True)
    f = warm(lambda x: (x * w).exp(), taeda.randn(4))
    x = taeda.randn(4)
    alive = weakref.ref(x)
    y = f(x)
    del x
    assert alive() is not None
    y.sum().backward()
    del y
    gc.collect()
    assert alive() is None


def test_frozen_parameters_and_copies():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    model[0].requires_grad_(False)
    plain = copy.deepcopy(model)
    f = warm(model, taeda.randn(5, 3))
    x = taeda.randn(5, 3)
    f(x).square().sum().backward()
    plain(x).square().sum().backward()
    assert model[0].weight.grad is None
    assert all(
        a.grad.equal(b.grad)
        for a, b in zip(model[2].parameters(), plain[2].parameters(), strict=True)
    )


@pytest.mark.parametrize("backend", ["aot_eager", "counter"])
def test_inputs_that_were_computed_with_gradients(backend):
    if backend == "counter":
        backend = taeda._dynamo.testing.CompileCounter()
    first, inner = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
    compiled = taeda.compile(inner, backend=backend)
    for _ in range(5):
        x = taeda.randn(3, 4)
        found = []
        for net in (inner, compiled):
            first.zero_grad()
            inner.zero_grad()
            made = net(first(x))
            made.square().sum().backward()
            found.append([made, *(p.grad for p in (*first.parameters(), *inner.parameters()))])
        assert all(a.equal(b) for a, b in zip(*found, strict=True))
    (traces,) = compiled._compiled.traces.values()
    assert [t.trusted for t in traces] == [True] and not compiled._compiled.reasons


@pytest.mark.parametrize("shape", [(2, 4), (3, 4), (2, 2), (4, 6)])
def test_a_gradient_that_is_a_view_of_what_was_recorded(shape):
    def program(x):
        return (x.view(-1, 2).t().reshape(-1, 2) * 3).clamp(-1, 2) + 0

    compiled = taeda.compile(program, backend="aot_eager")
    for n in range(4):
        x = taeda.linspace(-2, 2 + n, shape[0] * shape[1]).view(shape)
        given, expected = x.clone().requires_grad_(), x.clone().requires_grad_()
        compiled(given).sum().backward()
        program(expected).sum().backward()
        assert given.grad.equal(expected.grad)


LAYOUTS = {
    "dense": lambda y: taeda.ones(y.shape),
    "turned": lambda y: taeda.ones(tuple(y.shape)[::-1]).permute(*reversed(range(y.dim()))),
    "numbers": lambda y: taeda.arange(16.0).view(y.shape),
    "numbers, turned": lambda y: (
        taeda.arange(16.0).view(tuple(y.shape)[::-1]).permute(*reversed(range(y.dim())))
    ),
    "one number": lambda y: taeda.ones(()).expand(y.shape),
    "rows": lambda y: taeda.ones(y.shape[0], *[1] * (y.dim() - 1)).expand(y.shape),
    "every other": lambda y: taeda.ones(*y.shape, 2)[..., 0],
    "backward": lambda y: taeda.ones(2 * y.shape[0], *y.shape[1:])[1::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "f",
    [
        lambda z, w: z * w,
        lambda z, w: (z * w).exp(),
        lambda z, w: z.t() * w.sum(),
        lambda z, w: (z * w).t().sigmoid() + 0,
        lambda z, w: (z * w).view(-1, 2).t().sigmoid() + 0,
        lambda z, w: (z * w).view(2, 2, 4).permute(1, 0, 2).sigmoid() + 0,
        lambda z, w: z.reshape(-1) * w.sum(),
        lambda z, w: (z * w).view(2, -1) * 2,
        lambda z, w: nn.functional.dropout(z * w, 0.5),
        lambda z, w: nn.functional.layer_norm(z @ taeda.diag(w), (4,)),
    ],
)
def test_gradients_have_the_strides_that_follow_from_theirs(f, layout):
    """The walk is recorded from three layouts; these are those and others."""

    def walked(run):
        taeda.manual_seed(2)
        found = []
        for _ in range(4):
            z, w = taeda.randn(4, 4, requires_grad=True), taeda.randn(4, requires_grad=True)
            y = run(z, w)
            gradients = taeda.autograd.grad(y, (z, w), LAYOUTS[layout](y))
            found += [(g, g.stride()) for g in gradients]
        return found

    compiled = taeda.compile(f, backend="aot_eager")
    for (a, s), (b, t) in zip(walked(f), walked(compiled), strict=True):
        assert a.equal(b) and s == t
    (trace,) = next(iter(compiled.__taeda_compiled__.traces.values()))
    assert trace.trusted


def test_a_layout_that_was_not_recorded_is_copied_where_the_program_cannot_run_again():
    def f(z, w):
        return nn.functional.dropout(z.t() * w.sum(), 0.5)

    z, w = taeda.randn(3, 4, requires_grad=True), taeda.randn(4, requires_grad=True)
    compiled = warm(f, z, w)
    found = []
    for run in (f, compiled):
        taeda.manual_seed(1)
        tangent = taeda.ones(4, 1).expand(4, 3)
        found.append(taeda.autograd.grad(run(z, w), (z, w), tangent))
    assert all(a.equal(b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("order", [(True, False), (False, True), (None, False), (False, None)])
@pytest.mark.parametrize("in_place", [False, True])
def test_checkpoints_run_again_what_they_ran(order, in_place):
    """What hooks get to see of the first run they see of the second, so neither is a graph."""

    def train(compiled):
        taeda.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 8), nn.Tanh())
        run = model
        if compiled and in_place:
            model.compile(backend="aot_eager")
        elif compiled:
            run = taeda.compile(model, backend="aot_eager")
        found = []
        for n, reentrant in enumerate(kind for kind in order * 2 for _ in range(3)):
            x = taeda.full((3, 8), float(n), requires_grad=True)
            y = run(x) if reentrant is None else checkpoint(run, x, use_reentrant=reentrant)
            y.square().sum().backward()
            found += [x.grad, *(p.grad.clone() for p in model.parameters())]
        return found

    assert all(a.equal(b) for a, b in zip(train(False), train(True), strict=True))


def test_hooks_get_what_the_program_saves():
    def f(x):
        return (x.exp() * 2).sin()

    compiled, x = warm(f, taeda.ones(3, requires_grad=True)), taeda.ones(3, requires_grad=True)
    seen = {f: [], compiled: []}
    for run, shapes in seen.items():
        pack = lambda t, shapes=shapes: shapes.append(t.shape) or t.numpy().copy()  # noqa: E731 - of this loop
        with taeda.autograd.graph.saved_tensors_hooks(pack, taeda.from_numpy):
            y = run(x)
        y.sum().backward()
    assert seen[f] == seen[compiled] != []


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(taeda.randn(4, 4))

    def forward(self, x):
        return nn.functional.linear(nn.functional.linear(x, self.weight).relu(), self.weight)


def test_a_compiled_module_inside_adds_up_as_the_program_does():
    """While the outer graph is proved, the inner one runs: what comes for its weight, which it
    reads twice, stays apart then."""
    inner = taeda.compile(Tied(), backend="aot_eager")
    outer = taeda.compile(lambda x: inner(x).cos() + x, backend="aot_eager")
    for _ in range(5):
        x = taeda.randn(3, 4)
        inner(x).sum().backward()
        outer(x).sum().backward()
    state = outer.__taeda_compiled__
    assert not state.reasons
    assert [t.trusted for traces in state.traces.values() for t in traces] == [True]


@pytest.mark.parametrize("uses", [1, 2, 3, 40])
@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float16, taeda.float32], ids=str)
@pytest.mark.parametrize("before", [0, 1, 2, 3])
@pytest.mark.parametrize("behind", [0, 1, 2, 3])
def test_sums_of_gradients_go_on_where_the_program_ends(uses, dtype, before, behind):
    def f(p, x):
        for k in range(uses):
            x = x + p.sin() * (k + 1)
        return x, p * 3

    def gradients(run, p, x):
        early = [p.cos() * k for k in range(behind)]  # visited after the program
        y, z = run(p, x)
        late = [p.tanh() * k for k in range(before)]
        total = sum([y, *early, *late]) + (z if before == 1 else 0)
        return taeda.autograd.grad(total.sum(), (p, x))

    taeda.manual_seed(0)
    p = (taeda.randn(5) * 3).to(dtype).requires_grad_()
    x = taeda.randn(5).to(dtype).requires_grad_()
    compiled = warm(f, p, x)
    expected, found = gradients(f, p, x), gradients(compiled, p, x)
    assert all(a.dtype is dtype and a.equal(b) for a, b in zip(expected, found, strict=True))
