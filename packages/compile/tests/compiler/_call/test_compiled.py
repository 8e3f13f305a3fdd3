"""A compiled function over its calls: when it watches, records, trusts a graph, and when it stays eager."""

from __future__ import annotations

import functools

import pytest

import taeda
from taeda import compiler, nn
from taeda.compiler._call import compiled


def model():
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))


def losses(compiled: bool) -> list[float]:
    net = model()
    run = taeda.compile(net) if compiled else net
    optimizer = taeda.optim.SGD(run.parameters(), lr=0.1, momentum=0.9)
    found = []
    for _ in range(4):
        x = taeda.randn(8, 3)
        loss = run(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def test_training_gives_the_same_bits():
    assert losses(True) == losses(False)


def test_a_disabled_function_ends_a_graph():
    @compiler.disable(reason="it is slow")
    def inner(x):
        return x + 1

    f = taeda.compile(lambda x: inner(x) * 2)
    assert all(f(taeda.ones(1)).item() == 4 for _ in range(3))
    assert "which is disabled: it is slow" in f.__taeda_compiled__.reasons[0]


def test_threads_share_a_compiled_function():
    import threading

    scale = taeda.tensor(3.0)
    f = taeda.compile(lambda x: (x * scale).sin().sum())
    wrong = []

    def work(n):
        x = taeda.full((5,), float(n))
        expected = (x * 3).sin().sum()
        for _ in range(30):
            wrong.extend([] if f(x).equal(expected) else [n])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert nn.Module.__call__.__qualname__ == "Module.__call__"
    assert not hasattr(nn.Module.__call__, "__wrapped__")


def test_a_program_that_raises_is_not_watched_for_ever(monkeypatch):
    watched = []
    plain = compiled.observed
    monkeypatch.setattr(compiled, "observed", lambda *args: (watched.append(1), plain(*args))[1])

    @taeda.compile
    def f(x):
        raise ValueError("no")

    for _ in range(6):
        with pytest.raises(ValueError, match="no"):
            f(taeda.ones(1))
    assert len(watched) == 3


class Scaled:
    """Plain Python, whose methods read from it."""

    def __init__(self):
        self.k = 1.0

    def times(self, x):
        return x * self.k

    def of(self, x):
        return self.times(x) + 1


@pytest.mark.parametrize(
    "take",
    [
        lambda o: o.times,
        lambda o: o.of,
        lambda o: functools.partial(Scaled.times, o),
        lambda o: functools.partial(lambda x, owner: x * owner.k, owner=o),
        lambda o: functools.partial(o.times),
    ],
)
@pytest.mark.parametrize("fullgraph", [False, True])
def test_what_a_method_or_a_partial_reads_from_is_guarded(take, fullgraph):
    owner, x = Scaled(), taeda.ones(3)
    function = take(owner)
    compiled = taeda.compile(function, fullgraph=fullgraph)
    for k in (1.0, 1.0, 1.0, 1.0, 2.0, 3.0):
        owner.k = k
        assert compiled(x).equal(function(x))


def test_the_number_of_threads_is_guarded():
    before = taeda.get_num_threads()
    compiled = taeda.compile(lambda x: x * taeda.get_num_threads())
    try:
        for threads in (2, 2, 2, 2, 1):
            taeda.set_num_threads(threads)
            assert compiled(taeda.ones(1)).item() == threads
    finally:
        taeda.set_num_threads(before)


def test_a_recording_under_autocast():
    net, x = nn.Linear(3, 3), taeda.ones(2, 3)
    compiled = taeda.compile(lambda x: net(x).square().mean())
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        wanted = net(x).square().mean()
        for _ in range(5):
            assert compiled(x).equal(wanted)


@pytest.mark.parametrize(
    "write",
    [
        lambda a, b: a.add_(b),
        lambda a, b: taeda.add(a, b, out=a),
        lambda a, b: taeda.sin(b, out=a),
    ],
)
def test_writes_into_memory_that_is_read_are_refused_while_recording(write):
    compiled = taeda.compile(write)
    for _ in range(4):
        z = taeda.arange(8.0)
        with pytest.raises(RuntimeError, match="written-to"):
            compiled(z[:5], z[2:7])
        assert z.tolist() == list(range(8))


def test_errors_about_arguments_name_the_function():
    def needs(x, y):
        return x

    said = []
    for run in (needs, taeda.compile(needs)):
        with pytest.raises(TypeError) as caught:
            run(taeda.ones(1))
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("kind", ["post", "tensor"])
@pytest.mark.parametrize("inside", [True, False])
def test_parameters_with_hooks(kind, inside):
    def outcome(compile):
        taeda.manual_seed(0)
        layer, seen = nn.Linear(4, 3), []
        for p in layer.parameters():
            if kind == "post":
                p.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
            else:
                p.register_hook(lambda g: (seen.append(g.tolist()), g * 2)[1])

        def step(x):
            loss = layer(x).tanh().sum()
            if inside:
                loss.backward()
            return loss

        f = compile(step)
        for _ in range(14):
            layer.zero_grad()
            loss = f(taeda.randn(2, 4))
            if not inside:
                loss.backward()
            seen.append([p.grad.tolist() for p in layer.parameters()])
        return seen, f

    want, _ = outcome(lambda f: f)
    got, f = outcome(taeda.compile)
    assert got == want
    used = [t.trusted for found in f.__taeda_compiled__.traces.values() for t in found]
    assert used == ([] if inside else [True])


def test_a_program_that_clears_gradients_and_is_differentiated_outside():
    layer = nn.Linear(4, 3)

    @taeda.compile
    def step(x):
        layer.zero_grad()
        return layer(x).sum()

    for n in range(5):
        step(taeda.ones(2, 4) * n).backward()
        assert layer.weight.grad.eq(2 * n).all()
    traces = [t for found in step.__taeda_compiled__.traces.values() for t in found]
    assert any(t.trusted for t in traces) and not step.__taeda_compiled__.reasons


class Cast(nn.Module):
    """Products in the lower type, a norm whose weight stays, draws, an island of float32."""

    def __init__(self, p):
        super().__init__()
        self.a, self.norm, self.b, self.drop = (
            nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 4, bias=False), nn.Dropout(p),
        )  # fmt: skip

    def forward(self, x):
        y = self.drop(self.norm(self.a(x)).relu())
        with taeda.autocast("cpu", enabled=False):
            y = y.float() * 2
        return self.b(y) + self.a(x)


def cast_steps(run, *, around="calls", caches=True, twice=False, outer=False, p=0.5, double=False):
    """Losses, gradients and the cache of a few steps; `run` compiles the module or does nothing."""
    taeda.manual_seed(0)
    net = Cast(p)
    call, found = run(net), []
    for number in range(8):
        x = taeda.randn(3, 4)
        with taeda.autocast("cpu", dtype=taeda.bfloat16, cache_enabled=caches, enabled=not outer):
            with taeda.autocast("cpu", dtype=taeda.float16 if number == 6 else taeda.bfloat16):
                y = call(x)
                if twice:
                    y = y + call(x * 2) + taeda.nn.functional.linear(x, net.a.weight)
            loss = y.float().square().mean()
            if around == "all":
                loss.backward()
        if around == "calls":
            loss.backward(create_graph=double)
        found += [loss.detach(), *(q.grad.detach().clone() for q in net.parameters())]
        with taeda.no_grad():  # what is in a cache is of an older version from here on
            for q in net.parameters():
                q -= 0.01 * q.grad
        net.zero_grad()
    return found, call


@pytest.mark.parametrize(
    "options",
    [
        {}, {"around": "all"}, {"twice": True}, {"twice": True, "around": "all"}, {"caches": False},
        {"outer": True, "twice": True}, {"p": 0.0, "double": True},
    ],
    ids=lambda options: "-".join(options) or "plain",
)  # fmt: skip
def test_a_region_of_autocast_around_calls(options):
    wanted, _ = cast_steps(lambda m: m, **options)
    found, call = cast_steps(taeda.compile, **options)
    assert all(a.equal(b) for a, b in zip(found, wanted, strict=True))
    used = [t for traces in call._compiled.traces.values() for t in traces if t.trusted]
    assert used, call._compiled.reasons
    assert all(t.has_casts for t in used) is options.get("caches", True)


def test_a_graph_is_for_its_region():
    weight = nn.Parameter(taeda.randn(4, 4))
    compiled = taeda.compile(lambda x: x @ weight)
    for dtype in (taeda.bfloat16, taeda.float16, None, taeda.bfloat16) * 3:
        x = taeda.randn(4, 4)
        with taeda.autocast("cpu", dtype=dtype or taeda.bfloat16, enabled=dtype is not None):
            made, wanted = compiled(x), x @ weight
        assert made.dtype is (dtype or taeda.float32)
        assert made.equal(wanted)
    assert len(compiled.__taeda_compiled__.traces) == 3


def test_a_weight_that_is_written_before_it_is_cast_again():
    weight = nn.Parameter(taeda.ones(4, 4))

    def program(x):
        y = x @ weight
        with taeda.no_grad():
            weight.add_(1)
        return (y + x @ weight).detach()

    compiled = taeda.compile(program)
    for _ in range(5):
        x = taeda.randn(4, 4)
        made = []
        for run in (program, compiled):
            with taeda.no_grad():
                weight.fill_(1)
            with taeda.autocast("cpu", dtype=taeda.bfloat16):
                made.append(run(x))
        assert made[0].equal(made[1])
    assert "a weight is written before it is cast" in compiled.__taeda_compiled__.reasons[0]


def test_a_unit_in_a_checkpoint_is_a_module_again():
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))

    def step(x):
        loss = taeda.utils.checkpoint.checkpoint(net, x, use_reentrant=False).square().sum()
        loss.backward()
        return loss.item()

    compiled = taeda.compile(step)
    for _ in range(24):
        compiled(taeda.randn(2, 4))
    state = compiled.__taeda_compiled__
    assert state.units is None or not state.units.alive
