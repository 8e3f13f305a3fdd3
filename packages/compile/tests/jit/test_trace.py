from __future__ import annotations

import copy
import warnings
from collections import OrderedDict

import pytest

import taeda
from taeda import jit, nn


@pytest.fixture(autouse=True)
def no_warning():
    """A trace of a program that reads no value has nothing to say."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", jit.TracerWarning)
        yield


class Mixed(nn.Module):
    """Regions without gradients, writes, draws, views, constants, a buffer that counts."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.register_buffer("seen", taeda.zeros(4))
        self.shift = taeda.randn(4)

    def forward(self, x):
        with taeda.no_grad():
            self.seen += x.sum(0)
            fixed = x.view(x.shape)
        y = self.inner(x) * fixed + self.shift
        y[:, 1:].mul_(2)
        return y.view(x.size(0), -1), (y * taeda.rand_like(y), taeda.tensor([1.0, 2.0]))


MODULES = {
    "perceptron": (lambda: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)), (3, 4)),
    "convolution": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.5)
        ),
        (2, 2, 6, 6),
    ),
    "attention": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
        (2, 5, 8),
    ),
    "recurrent": (lambda: nn.LSTM(4, 3), (5, 2, 4)),
    "mixed": (Mixed, (3, 4)),
}


def flat(made):
    return [t for entry in made for t in flat(entry)] if isinstance(made, tuple) else [made]


def state_of(module):
    return {name: value.clone() for name, value in module.state_dict().items()}


def run(module, original, x, before):
    """Results, gradients and state after one call from the same beginning."""
    original.load_state_dict(before)
    original.zero_grad()
    taeda.manual_seed(5)
    results = flat(module(x))
    sum(r.sum() for r in results if r.requires_grad).backward()
    gradients = [p.grad.clone() for p in original.parameters()]
    return [*results, *gradients, *original.state_dict().values()]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", MODULES)
def test_a_traced_module_is_the_module(name, training):
    """Every bit of results, gradients and buffers, for sizes that it was not traced with as well."""
    make, shape = MODULES[name]
    module = make().train(training)
    before = state_of(module)
    draws = taeda.get_rng_state()
    traced = jit.trace(module, taeda.randn(shape))
    draws_after = taeda.get_rng_state()
    for key, value in module.state_dict().items():
        assert value.equal(before[key]), f"tracing wrote {key}"
    taeda.set_rng_state(draws)
    taeda.randn(shape)
    assert taeda.get_rng_state().equal(draws_after), "tracing drew numbers"
    assert list(traced.state_dict()) == list(module.state_dict())
    for size in (shape, (shape[0] + 2, *shape[1:])):
        x = taeda.randn(size)
        found = [t.clone() for t in run(traced, module, x, before)]
        expected = run(module, module, x, before)
        assert len(found) == len(expected)
        assert all(a.equal(b) for a, b in zip(found, expected, strict=True))


def test_what_it_shows():
    traced = jit.trace(lambda x, y: (x + y).sin(), (taeda.ones(2), taeda.ones(2)))
    assert [
        str(n.target)
        for n in traced.graph.find_nodes(op="call_function", target=taeda.ops.aten.sin.default)
    ]
    assert "taeda.ops.aten.add.Tensor(x, y)" in traced.code
    assert "original_name=<lambda>" in repr(traced)
    assert any("test_trace.py:" in (n.stack_trace or "") for n in traced.graph.nodes)
    assert isinstance(traced, nn.Module) and jit.trace(
        nn.Linear(2, 2), taeda.ones(1, 2)
    ).weight.shape == (2, 2)


def test_arguments_by_name_and_structure():
    def f(pair, scale, *, shift):
        return pair[0] * scale["k"] + pair[1] - shift

    one = taeda.ones(2)
    traced = jit.trace(
        f, example_kwarg_inputs={"pair": [one, one], "scale": {"k": one}, "shift": one}
    )
    assert traced(shift=one, pair=[one * 2, one * 3], scale={"k": one * 4}).tolist() == [10, 10]
    with pytest.raises(
        RuntimeError, match="traced with the arguments pair, scale, shift; got 1 by"
    ):
        traced([one, one])


def test_the_same_tensor_twice_is_another_kind():
    def f(a, b):
        a.add_(1)
        return a + b

    x, y = taeda.ones(2), taeda.ones(2)
    traced = jit.trace(f, (x, y))
    assert x.tolist() == [1, 1]
    assert traced(x, y).tolist() == [3, 3] and x.tolist() == [2, 2]
    assert traced(y, y).tolist() == [4, 4]


@pytest.mark.parametrize("change", [lambda x: x.double(), lambda x: x.t().contiguous().t()])
def test_casts_and_layouts_are_those_of_the_call(change):
    """`float()` and `contiguous()` do nothing for the traced argument, and something for this one."""
    traced = jit.trace(lambda x: x.float().contiguous().view(-1) + 1, taeda.randn(3, 2))
    x = change(taeda.randn(3, 2))
    assert traced(x).equal(x.float().contiguous().view(-1) + 1)


def test_inside_of_it():
    seen = []
    jit.trace(lambda x: seen.append(jit.is_tracing()) or x + 1, taeda.ones(1))
    assert seen == [True, True] and not jit.is_tracing()
    with pytest.raises(ZeroDivisionError):
        jit.trace(lambda x: x / (1 // 0), taeda.ones(1))
    assert not jit.is_tracing()


READS = {
    "bool": lambda x: x * 2 if x.sum() > 0 else x,
    "int": lambda x: x[: int(x[0])],
    "item": lambda x: x / x.norm().item(),
    "tolist": lambda x: x + x.tolist()[0],
    "numpy": lambda x: x + float(x.numpy()[0]),
}


@pytest.mark.parametrize("name", READS)
def test_a_value_that_becomes_a_constant_is_told_with_its_line(name):
    with pytest.warns(jit.TracerWarning, match="jit.trace: the .* of a tensor .* here") as found:
        traced = jit.trace(READS[name], taeda.ones(3))
    assert {w.filename for w in found} == {__file__}
    assert {w.lineno for w in found} == {READS[name].__code__.co_firstlineno}
    assert traced(taeda.ones(3)).equal(READS[name](taeda.ones(3)))


def test_a_check_names_the_node_that_differs():
    with (
        pytest.warns(jit.TracerWarning),
        pytest.raises(
            jit.TracingCheckError, match=r"(?s)traced: .*slice.*1.*now: .*slice.*2.*test_trace.py:"
        ),
    ):
        jit.trace(READS["int"], taeda.ones(3), check_inputs=[(taeda.full((3,), 2.0),)])
    with (
        pytest.warns(jit.TracerWarning),
        pytest.raises(jit.TracingCheckError, match=r"now: +\(the end of the graph\)"),
    ):
        jit.trace(READS["bool"], taeda.ones(3), check_inputs=[-taeda.ones(2)])
    calls = []
    with pytest.raises(jit.TracingCheckError, match=r"aten[.]add"):
        jit.trace(lambda x: calls.append(1) or x + len(calls), taeda.ones(3))
    jit.trace(lambda x: calls.append(1) or x + len(calls), taeda.ones(3), check_trace=False)
    jit.trace(
        lambda x: x.view(x.size(0), -1) * 2, taeda.ones(3, 2), check_inputs=[taeda.ones(5, 4)]
    )


def test_a_check_tells_of_other_results():
    hidden = [0.0]

    def f(x):
        hidden[0] += 1
        return x + taeda.full((20,), hidden[0])

    numbers = [0.0] * 20

    def g(x):
        numbers[3] += 1
        return x + taeda.tensor(numbers)

    with pytest.warns(
        jit.TracerWarning, match=r"(?s)Output nr 1\. of the traced function does not match"
    ):
        jit.trace(g, taeda.ones(20))
    with pytest.raises(jit.TracingCheckError, match=r"aten[.]full"):
        jit.trace(f, taeda.ones(20))


def test_other_operators_for_another_size_are_told():
    traced = jit.trace(lambda x: x.sin() if x.size(0) > 2 else x.cos(), taeda.ones(3))
    with pytest.warns(
        jit.TracerWarning, match=r"(?s)traced: aten.sin.default.*now:    aten.cos.default"
    ):
        assert traced(taeda.zeros(1)).tolist() == [1]


def test_methods_of_a_module():
    class Net(nn.Linear):
        def weighted(self, x, w):
            return self(x) * w

    net, x, w = Net(2, 2), taeda.randn(3, 2), taeda.randn(2)
    traced = jit.trace_module(
        net, {"forward": x, "weighted": (x, w)}, check_inputs=[{"weighted": (x, x[0])}]
    )
    assert traced(x).equal(net(x)) and traced.weighted(x, w).equal(net.weighted(x, w))
    assert traced.weight is net.weight
    only = jit.trace_module(net, {"weighted": (x, w)})
    with pytest.raises(RuntimeError, match="forward was not traced; traced: weighted"):
        only(x)


def test_a_copy_stands_by_itself():
    net = nn.Sequential(OrderedDict(a=nn.Linear(2, 2)))
    traced = jit.trace(net, taeda.ones(1, 2))
    twin = copy.deepcopy(traced)
    x, wide = taeda.randn(1, 2), taeda.randn(4, 2)
    expected = net(x), net(wide)
    with taeda.no_grad():
        net.a.weight.zero_()
    assert traced(x).equal(net(x))
    assert twin(x).equal(expected[0]) and twin(wide).equal(expected[1])


def test_weights_that_were_exchanged_are_those_of_new_sizes():
    net = nn.Linear(2, 2)
    traced = jit.trace(net, taeda.ones(1, 2))
    traced.load_state_dict({k: v + 1 for k, v in net.state_dict().items()}, assign=True)
    for rows in (1, 5):
        x = taeda.randn(rows, 2)
        assert traced(x).equal(nn.functional.linear(x, traced.weight, traced.bias))


def test_many_sizes_do_not_pile_up():
    shift = [taeda.ones(n) for n in range(1, 90)]
    traced = jit.trace(lambda x: x + shift[x.numel() - 1], taeda.ones(1))
    for n in range(1, 90):
        assert traced(taeda.ones(n)).tolist() == [2.0] * n
    method = traced.__dict__["_traced"]["forward"]
    assert len(method.graphs) == 64 and len(list(traced.buffers())) == 64
    assert traced(taeda.ones(1)).tolist() == [2.0]


def test_under_other_layers():
    from taeda.func import grad, vmap

    traced = jit.trace(lambda x: (x * x).sin().sum(), taeda.ones(3))
    x = taeda.randn(2, 3)
    assert vmap(traced)(x).equal((x * x).sin().sum(1))
    with pytest.raises(RuntimeError, match="call it once outside"):
        vmap(traced)(x.t())
    taeda.testing.assert_close(grad(traced)(x[0]), 2 * x[0] * (x[0] ** 2).cos())
    compiled = taeda.compile(traced)
    assert all(compiled(x[0]).equal(traced(x[0])) for _ in range(4))
    with taeda.no_grad():
        assert not jit.trace(nn.Linear(3, 3), x)(x).requires_grad
    with pytest.raises(RuntimeError, match="a mode or transform is active"):
        vmap(lambda row: jit.trace(taeda.sin, row)(row))(x)


def test_no_grad_around_a_graph_with_regions():
    def f(x):
        with taeda.no_grad():
            y = x * 2
        return x * y

    traced = jit.trace(f, taeda.ones(2))
    x = taeda.randn(2, requires_grad=True)
    with taeda.no_grad():
        assert not traced(x).requires_grad and not taeda.is_grad_enabled()
    traced(x).sum().backward()
    assert x.grad.equal(2 * x.detach()) and taeda.is_grad_enabled()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: jit.trace(3, taeda.ones(1)), RuntimeError, "wanted a function or module, got int"),
        (lambda: jit.trace(taeda.sin), RuntimeError, "example_inputs is missing"),
        (lambda: jit.trace(taeda.sin, (3,)), RuntimeError, "Type 'int' cannot be traced"),
        (
            lambda: jit.trace(taeda.sin, example_kwarg_inputs=3),
            RuntimeError,
            "example_inputs is missing",
        ),
        (lambda: jit.trace(lambda x: 3, taeda.ones(1)), RuntimeError, "Only tensors.*got int"),
        (lambda: jit.trace(lambda x: [x + 1], taeda.ones(1)), RuntimeError, "say strict=False"),
        (lambda: jit.trace_module(taeda.sin, {}), RuntimeError, "wanted a module"),
        (lambda: jit.trace_module(nn.ReLU(), taeda.ones(1)), AttributeError, "wanted a dict"),
        (
            lambda: jit.trace_module(nn.ReLU(), {"nothing": taeda.ones(1)}),
            AttributeError,
            "nothing",
        ),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_what_no_graph_has():
    own = taeda.Generator()
    with pytest.raises(
        RuntimeError, match="there is no graph of <lambda>: it draws from a generator"
    ):
        jit.trace(lambda x: x + taeda.randn(2, generator=own), taeda.ones(2))
    w = nn.Parameter(taeda.ones(2))

    def step(x):
        loss = (w * x).sum()
        loss.backward()
        return loss

    with pytest.raises(RuntimeError, match="step leaves gradients"):
        jit.trace(step, taeda.ones(2))
    assert jit.trace(lambda x: [x + 1], taeda.ones(1), strict=False)(taeda.ones(1))[0].item() == 2


def test_what_does_nothing_says_so():
    with pytest.warns(DeprecationWarning, match="optimize does nothing"):
        traced = jit.trace(taeda.sin, taeda.ones(1), True)
    with pytest.warns(UserWarning, match="traced already"):
        assert jit.trace(traced, taeda.ones(1)) is traced


STATE = {"k": 2.0, "deep": True, "w": None}


def reads_state(x):
    y = x * STATE["k"]
    y = y.tanh() if STATE["deep"] else y
    return y if STATE["w"] is None else y + STATE["w"]


@pytest.mark.parametrize("change", [{"k": 3.0}, {"deep": False}, {"w": taeda.ones(1)}])
def test_a_trace_is_one_program(change, monkeypatch):
    traced = jit.trace(reads_state, taeda.ones(2))
    first = traced(taeda.ones(3))
    for name, value in change.items():
        monkeypatch.setitem(STATE, name, value)
    assert traced(taeda.ones(3)).equal(first)
    with pytest.raises(RuntimeError, match="not the program any more"):
        traced(taeda.ones(4))
    monkeypatch.undo()
    assert traced(taeda.ones(4)).equal(taeda.cat([first, first[:1]]))


def test_a_mode_that_changed_is_no_other_trace():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    traced = jit.trace(net, taeda.ones(1, 2))
    state = taeda.get_rng_state()
    traced(taeda.ones(2, 2))
    once = taeda.get_rng_state()
    taeda.set_rng_state(state)
    traced(taeda.ones(2, 2))
    assert taeda.get_rng_state().equal(once)  # a new kind draws what a known one draws
    net.eval()
    with pytest.raises(RuntimeError, match="dropout"):
        traced(taeda.ones(3, 2))
    net.train()
    with taeda.no_grad():
        net[0].weight.fill_(2)  # a parameter is shared, and no part of the program
    assert traced(taeda.ones(3, 2)).shape == (3, 2)
