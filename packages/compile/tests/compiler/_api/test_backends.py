from __future__ import annotations

import logging

import pytest

import taeda
from taeda import compiler, fx, nn


class Kept:
    """A backend that keeps what it was given and runs the graph."""

    def __init__(self, made=lambda gm: gm.forward):
        self.calls, self.made = [], made

    def __call__(self, gm, example_inputs, **options):
        gm.graph.lint()
        self.calls.append((gm, example_inputs, options))
        return self.made(gm)


def targets(gm):
    return [str(n.target) for n in gm.graph.nodes if n.op == "call_function"]


def agrees(function, *calls, **settings):
    """The calls in turns with the program itself; the backend behind them."""
    backend = Kept()
    compiled = taeda.compile(function, backend=backend, **settings)
    for args in calls:
        taeda.manual_seed(3)
        expected = function(*args)
        taeda.manual_seed(3)
        found = compiled(*args)
        assert found.equal(expected)
        assert found.requires_grad == expected.requires_grad
    return backend, compiled


def test_a_function_gets_a_graph_module_and_inputs():
    x, y = taeda.randn(3, 4), taeda.randn(4)
    backend, _ = agrees(lambda x, y: (x + y).sin(), *[(x, y)] * 4, fullgraph=True)
    ((gm, inputs, options),) = backend.calls
    assert isinstance(gm, fx.GraphModule)
    assert [n.name for n in gm.graph.nodes] == ["x", "y", "add", "sin", "output"]
    assert targets(gm) == ["aten.add.Tensor", "aten.sin.default"]
    assert inputs[0] is x and inputs[1] is y and options == {}
    assert "taeda.ops.aten.add.Tensor(x, y)" in gm.code
    assert gm.graph.find_nodes(op="placeholder")[0].meta["val"].shape == (3, 4)


def test_every_shape_is_a_graph_and_a_known_one_is_not_made_again():
    backend, _ = agrees(lambda x: x * 2, *[(taeda.randn(n),) for n in (2, 3, 2, 3, 2)])
    assert len(backend.calls) == 2


def test_parameters_are_inputs_and_gradients_flow():
    model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))
    x = taeda.randn(3, 4)
    backend, compiled = agrees(model, *[(x,)] * 3)
    names = [n.name for n in backend.calls[0][0].graph.find_nodes(op="placeholder")]
    assert names[1:] == ["self_0_weight", "self_0_bias", "self_2_weight", "self_2_bias"]
    assert backend.calls[0][1][1] is model[0].weight
    compiled(x).square().sum().backward()
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).square().sum().backward()
    assert all(a.equal(p.grad) for a, p in zip(found, model.parameters(), strict=True))


def test_what_the_backend_makes_of_the_graph_is_what_runs_from_the_first_call_on():
    def products(gm, example_inputs):
        for node in gm.graph.find_nodes(op="call_function", target=taeda.ops.aten.add.Tensor):
            node.target = taeda.ops.aten.mul.Tensor
        gm.recompile()
        return gm

    f = taeda.compile(lambda a, b: a + b, backend=products)
    three, five = taeda.full((2,), 3.0), taeda.full((2,), 5.0)
    assert [f(three, five).tolist() for _ in range(4)] == [[15.0, 15.0]] * 4


def test_a_program_with_effects_runs_itself_twice_then_the_backend_does():
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    x = taeda.randn(8, 4)
    losses = []
    for backend in ("eager", Kept()):
        taeda.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 1))
        optimizer = taeda.optim.Adam(model.parameters())
        compiled = taeda.compile(step, backend=backend)
        losses.append([compiled(x).item() for _ in range(6)])
    assert losses[0] == losses[1]
    assert len(backend.calls) == 2  # without gradients and states of the optimizer, and with
    assert all("aten.native_dropout.default" in targets(gm) for gm, _, _ in backend.calls)
    assert not compiled.__taeda_compiled__.reasons


def test_grad_modes_views_and_detached_values():
    model = nn.Linear(3, 3)

    def program(x):
        with taeda.no_grad():
            y = model(x) * 2
        z = model(x).t()[1:].detach() + model(x)[:, :2].t()
        z.mul_(3)
        return y.sum() + z.sum()

    backend, compiled = agrees(program, *[(taeda.randn(3, 3),) for _ in range(4)])
    assert len(backend.calls) == 1
    assert not compiled.__taeda_compiled__.reasons
    x = taeda.randn(3, 3)
    compiled(x).backward()
    found = model.weight.grad.clone()
    model.zero_grad()
    program(x).backward()
    assert found.equal(model.weight.grad)


def test_in_place_writes_reach_the_argument():
    def program(x):
        x.add_(1)
        taeda.mul(x, x, out=x)
        return x.sum()

    found, expected = taeda.zeros(3), taeda.zeros(3)
    backend = Kept()
    compiled = taeda.compile(program, backend=backend)
    for _ in range(4):
        assert compiled(found).equal(program(expected))
        assert found.equal(expected)
    assert targets(backend.calls[0][0])[:1] == ["aten.add_.Tensor"]


WRITES = {
    "item": lambda x: x[0].add_(1),
    "view": lambda x: x.view(-1)[1:].add_(1),
    "transposed": lambda x: x.t()[1].mul_(2).add_(1),
    "one of several": lambda x: x.unbind(1)[1].add_(1),
    "detached": lambda x: x.detach().add_(1),
    "out": lambda x: taeda.add(x[1], 1, out=x[1]),
    "fused": lambda x: taeda._foreach_add_([x[0], x[1]], 1),
}


@pytest.mark.parametrize("backend", ["taeda", "aot_eager", lambda module, inputs: module.forward])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writes_through_views_happen_once_a_call(write, backend):
    def program(x, y):
        write(x)
        return y * 2  # nothing that depends on what was written

    found, expected, y = taeda.zeros(2, 3), taeda.zeros(2, 3), taeda.ones(2)
    compiled = taeda.compile(program, backend=backend)
    for _ in range(5):
        compiled(found, y)
        program(expected, y)
        assert found.equal(expected)


def test_dead_code_keeps_what_writes():
    gm = Kept()
    taeda.compile(lambda x: (x.add_(1), x.sum())[1], backend=gm)(taeda.zeros(2))
    made = gm.calls[0][0]
    made.graph.eliminate_dead_code()
    assert "aten.add_.Tensor" in targets(made)


def test_a_program_without_a_graph_never_meets_the_backend():
    backend, _ = agrees(lambda x: x * x.sum().item(), *[(taeda.ones(2),)] * 3)
    assert not backend.calls
    with pytest.raises(compiler.Stop, match="a value is read"):
        taeda.compile(lambda x: x * x.sum().item(), backend=backend, fullgraph=True)(taeda.ones(2))


def test_errors_of_a_backend():
    def broken(gm, example_inputs):
        raise KeyError("no rule for sin")

    f = taeda.compile(lambda x: x.sin(), backend=broken)
    for _ in range(2):
        with pytest.raises(
            compiler.BackendCompilerFailed, match=r"backend='broken' raised:\nKeyError"
        ) as e:
            f(taeda.ones(2))
        assert isinstance(e.value.inner_exception, KeyError) and e.value.backend_name == "broken"
    with pytest.raises(taeda._dynamo.exc.BackendCompilerFailed, match="returns a function"):
        taeda.compile(lambda x: x.sin(), backend=lambda gm, inputs: None)(taeda.ones(2))
    with pytest.raises(RuntimeError, match="gives a tuple of 1 results"):
        taeda.compile(lambda x: x.sin(), backend=lambda gm, inputs: lambda x: (x, x))(taeda.ones(2))


def test_errors_that_are_suppressed(caplog):
    def broken(gm, example_inputs):
        raise KeyError("no rule for sin")

    with taeda._dynamo.config.patch(suppress_errors=True), caplog.at_level(logging.WARNING):
        f = taeda.compile(lambda x: x.sin(), backend=broken)
        assert f(taeda.zeros(2)).tolist() == [0.0, 0.0]
    assert "no rule for sin" in caplog.text
    assert not taeda._dynamo.config.suppress_errors


def test_an_error_of_what_it_returned_comes_out():
    def returned(x):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        taeda.compile(lambda x: x + 1, backend=lambda gm, inputs: returned)(taeda.ones(2))


def test_options_and_mode_are_passed_on():
    backend = Kept()
    taeda.compile(lambda x: x + 1, backend=backend, options={"level": 3}, mode="max-autotune")(
        taeda.ones(2)
    )
    taeda.compile(lambda x: x + 1, backend=backend, mode="default")(taeda.ones(2))
    assert [c[2] for c in backend.calls] == [{"mode": "max-autotune", "options": {"level": 3}}, {}]


def test_registered_names():
    @taeda._dynamo.register_backend(name="kept_for_a_test", tags=("debug",))
    def backend(gm, example_inputs):
        return gm

    assert taeda.compile(taeda.sin, backend="kept_for_a_test")(taeda.zeros(1)).item() == 0
    assert "kept_for_a_test" not in taeda._dynamo.list_backends()
    assert "kept_for_a_test" in taeda._dynamo.list_backends(exclude_tags=())
    assert taeda._dynamo.lookup_backend("kept_for_a_test") is backend
    with pytest.raises(ValueError, match="already"):
        taeda._dynamo.register_backend(lambda gm, inputs: gm, name="kept_for_a_test")
    with pytest.raises(ValueError, match="already"):
        taeda._dynamo.register_backend(backend, name="inductor")
    with pytest.raises(compiler.InvalidBackend, match="nothing_like_it"):
        taeda._dynamo.lookup_backend("nothing_like_it")


def test_a_generator_of_its_own_has_no_place_in_a_graph():
    own = taeda.Generator().manual_seed(1)
    f = taeda.compile(lambda x: x + taeda.randn(2, generator=own), backend=Kept())
    f(taeda.ones(2))
    assert f.__taeda_compiled__.reasons == ["it draws from a generator of its own"]


def test_an_optimized_module_is_copied_with_its_backend():
    import copy

    backend = Kept()
    made = copy.deepcopy(taeda.compile(nn.Linear(2, 2), backend=backend))
    made(taeda.ones(1, 2))
    assert len(backend.calls) == 1


def test_a_program_that_catches_the_error_of_an_operation_stays_as_it_is():
    """What the backend made of the graph would raise it to the caller."""

    def f(x, i):
        try:
            found = x[i].sum()
        except IndexError:
            found = x.sum() * 100
        return x + found

    g = taeda.compile(f, backend=lambda gm, example_inputs: gm)
    for index in (0, 1, 1, 9, 1, 9):
        x, i = taeda.ones(2), taeda.tensor([index])
        assert g(x, i).equal(f(x, i))
    assert "may catch the error" in g.__taeda_compiled__.reasons[0]


def test_an_error_leaves_what_the_program_leaves():
    """Gradients, buffers, versions, writes and generators before an operation that raises."""

    def run(compiled):
        taeda.manual_seed(5)
        model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.2))
        optimizer = taeda.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x, seen, index):
            optimizer.zero_grad()
            seen.add_(x.sum(0))
            loss = model(x)[index].square().mean()
            loss.backward()
            optimizer.step()
            seen.mul_(2)
            return loss.detach(), seen[index].sum()  # the second may raise when all is done

        function = compiled(step)
        seen, found = taeda.zeros(4), []
        for at in (0, 1, 2, 3, 9, 1, 5, 1, 9, 2):
            try:
                found += function(taeda.randn(6, 4), seen, taeda.tensor([at]))
            except IndexError as error:
                found.append(str(error))
            left = [*model.parameters(), *model.buffers(), *(p.grad for p in model.parameters())]
            found += [None if t is None else (t.clone(), t._version) for t in left]
            found += [seen.clone(), seen._version, taeda.get_rng_state()]
        return function, found

    compiled, found = run(lambda step: taeda.compile(step, backend=Kept()))
    _, expected = run(lambda step: step)
    assert like(found, expected)
    traces = [t for found in compiled.__taeda_compiled__.traces.values() for t in found]
    assert any(t.trusted for t in traces)


def like(a, b):
    if isinstance(a, taeda.Tensor):
        return isinstance(b, taeda.Tensor) and a.equal(b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(like, a, b))
    return a == b


def test_what_a_backend_raises_itself_comes_out_and_nothing_is_changed():
    calls = []

    def backend(gm, example_inputs):
        def returned(*args):
            calls.append(args)
            if len(calls) > 1:
                args[0].add_(100)
                raise ZeroDivisionError("mine")
            return gm(*args)

        return returned

    def f(x, i):
        x.add_(taeda.rand(3))
        return x[i].sum()

    compiled = taeda.compile(f, backend=backend)
    x, i = taeda.zeros(3), taeda.tensor([1])
    for _ in range(3):
        compiled(x, i)
    kept, version, generator = x.clone(), x._version, taeda.get_rng_state()
    with pytest.raises(ZeroDivisionError, match="mine"):
        compiled(x, i)
    assert len(calls) == 2
    assert x.equal(kept)
    assert x._version == version
    assert taeda.get_rng_state().equal(generator)


class Cubed(taeda.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * t * t

    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return g * t * t * 4  # not what its forward says


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (lambda x: Cubed.apply(x) + 0, "an autograd.Function has the derivative"),
        (lambda x: Cubed.apply(x) + x, "other results or gradients"),
    ],
)
def test_a_graph_that_loses_the_derivative_of_a_function_is_not_used(program, reason):
    compiled = taeda.compile(program, backend=Kept())
    for _ in range(4):
        x = taeda.randn(3, requires_grad=True)
        (found,) = taeda.autograd.grad(compiled(x).sum(), x)
        (expected,) = taeda.autograd.grad(program(x).sum(), x)
        assert found.equal(expected)
    (said,) = compiled.__taeda_compiled__.reasons
    assert reason in said
