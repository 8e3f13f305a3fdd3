from __future__ import annotations

import copy

import pytest

import taeda
from taeda import compiler, nn


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


def test_a_module_shares_its_state_under_a_prefix():
    net = model()
    made = taeda.compile(net, dynamic=True, mode="max-autotune")
    assert list(made.state_dict()) == [f"_orig_mod.{name}" for name in net.state_dict()]
    assert made._orig_mod is net
    assert made[0] is net[0] if hasattr(type(made), "__getitem__") else True
    made.eval()
    assert not net.training
    assert not net[1].training
    made.note = 3
    assert net.note == 3
    assert made.note == 3
    del made.note
    assert not hasattr(net, "note")
    assert compiler.disable(made) is net
    other = copy.deepcopy(made)
    assert other._orig_mod is not net
    x = taeda.randn(2, 3)
    assert other(x).equal(net(x))
    with pytest.raises(AttributeError, match="nothing"):
        made.nothing


def test_functions_and_decorators():
    def f(x):
        """Add one."""
        return x + 1

    made = taeda.compile(f)
    assert (made.__name__, made.__doc__) == ("f", "Add one.")
    assert compiler.disable(made)(taeda.ones(1)).equal(taeda.ones(1) + 1)
    assert taeda.compile(backend="eager")(f) is f
    assert taeda.compile(f, backend="no such", disable=True) is f
    assert taeda.compile(made).__taeda_original__ is f
    assert compiler.compile is taeda.compile
    for backend in compiler.list_backends():
        g = taeda.compile(f, backend=backend)
        assert all(g(taeda.ones(2)).equal(taeda.full((2,), 2.0)) for _ in range(4))
    compiler.reset()
    assert not made.__taeda_compiled__.traces
    assert not compiler.is_compiling()


def test_refusals():
    with pytest.raises(compiler.InvalidBackend, match="Invalid backend: 'nvfuser'"):
        taeda.compile(taeda.sin, backend="nvfuser")
    with pytest.raises(ValueError, match="the backend 'eager' makes none"):
        taeda.compile(taeda.sin, fullgraph=True, backend="eager")
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast"):
        taeda.compile(taeda.sin, mode="fast")
    with pytest.raises(RuntimeError, match="Unexpected optimization option"):
        taeda.compile(taeda.sin, options={"x": 1})
    with pytest.raises(TypeError, match="wanted a function or a module"):
        taeda.compile(3)


def test_fullgraph_raises_at_the_line_that_breaks():
    def f(x):
        y = x * 2
        return y * y.sum().item()

    with pytest.raises(compiler.Stop, match=r"a value is read \(.*test_compiler.py:\d+\)"):
        taeda.compile(f, fullgraph=True)(taeda.ones(2))
    g = taeda.compile(lambda x: x * 2, fullgraph=True)
    assert all(g(taeda.ones(1)).item() == 2 for _ in range(4))


def test_explain_says_why():
    def f(x):
        return x * x.max().item()

    said = compiler.explain(f)(taeda.ones(2))
    assert said.graph_count == 0
    assert "a value is read" in str(said)
    said = compiler.explain(lambda x: x.sin() + x)(taeda.ones(2))
    assert said.ops_per_graph == [["sin", "add.Tensor"]]
    assert said.graph_break_count == 0


def test_a_disabled_function_ends_a_graph():
    @compiler.disable(reason="it is slow")
    def inner(x):
        return x + 1

    f = taeda.compile(lambda x: inner(x) * 2)
    assert all(f(taeda.ones(1)).item() == 4 for _ in range(3))
    assert "which is disabled: it is slow" in f.__taeda_compiled__.reasons[0]


def test_a_graph_of_other_bits_is_not_trusted(monkeypatch):
    from taeda.compiler._trace import Trace

    plain = Trace.rehearse

    def other(self, tensors):
        result, *rest = plain(self, tensors)
        return result + 1e-3, *rest

    monkeypatch.setattr(Trace, "rehearse", other)
    f = taeda.compile(lambda x: x * 2)
    assert all(f(taeda.ones(1)).item() == 2 for _ in range(4))
    assert not f.__taeda_compiled__.traces[next(iter(f.__taeda_compiled__.traces))]
    assert "other bits" in f.__taeda_compiled__.reasons[0]


def test_a_result_whose_graph_was_used_up_says_so():
    w = taeda.ones(2, requires_grad=True)

    @taeda.compile
    def step(x):
        loss = (w * w * x).sum()
        loss.backward()
        return loss

    for _ in range(4):
        loss = step(taeda.ones(2))
    assert loss.requires_grad
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()
    assert w.grad.tolist() == [8, 8]


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


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
def test_a_schedule_needs_no_other_graph(kind):
    def train(compiled):
        net = model()
        optimizer = getattr(taeda.optim, kind)(net.parameters(), lr=0.1)
        schedule = taeda.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)

        def step(x):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        run = taeda.compile(step) if compiled else step
        found = []
        for n in range(10):
            found.append(run(taeda.randn(8, 3, generator=taeda.Generator().manual_seed(n))).item())
            schedule.step()
        return found, run

    taeda.manual_seed(0)
    expected, _ = train(False)
    taeda.manual_seed(0)
    found, run = train(True)
    assert found == expected
    traces = [t for ts in run.__taeda_compiled__.traces.values() for t in ts]
    assert [t.trusted for t in traces] == [True]


@pytest.mark.parametrize("collects", [True, False])
def test_code_that_a_collection_of_cycles_runs_is_not_of_the_program(collects):
    import gc

    def callback(phase, info):
        seen.append(sum(len(name) for name in sorted(info)))

    class Leaves:
        def __init__(self):
            self.itself = self

        def __del__(self):
            seen.append("".join(["left", "behind"]))

    seen, before, was_enabled = [], gc.get_threshold(), gc.isenabled()
    weight = taeda.ones(3)
    gc.callbacks.append(callback)
    try:
        (gc.enable if collects else gc.disable)()
        gc.set_threshold(1, 1, 1)
        f = taeda.compile(lambda x: (x * weight).relu().sum())
        for n in range(4):
            Leaves()
            assert f(taeda.full((3,), float(n))) == 3 * n
        assert gc.isenabled() is collects
        gc.collect()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(callback)
        (gc.enable if was_enabled else gc.disable)()
    assert seen
    found = f.__taeda_compiled__
    assert [t.trusted for ts in found.traces.values() for t in ts] == [True], found.reasons


def test_a_rate_that_is_computed_with_is_guarded():
    w = nn.Parameter(taeda.ones(3))
    optimizer = taeda.optim.SGD([w], lr=0.1, foreach=False)

    @taeda.compile
    def step():
        w.grad = taeda.ones(3)
        optimizer.step()

    for rate in (0.1, 0.1, 0.1, 0.5, 0.5, 0.5):
        optimizer.param_groups[0]["lr"] = rate
        before = w.detach().clone()
        step()
        taeda.testing.assert_close(before - w.detach(), taeda.full((3,), rate))


def test_a_program_that_raises_is_not_watched_for_ever(monkeypatch):
    from taeda.compiler import _compiled

    watched = []
    plain = _compiled._observed
    monkeypatch.setattr(_compiled, "_observed", lambda *args: (watched.append(1), plain(*args))[1])

    @taeda.compile
    def f(x):
        raise ValueError("no")

    for _ in range(6):
        with pytest.raises(ValueError, match="no"):
            f(taeda.ones(1))
    assert len(watched) == 3


def test_a_rehearsal_that_fails_does_no_harm(monkeypatch):
    from taeda.compiler._trace import Trace

    def fail(self, tensors):
        raise RuntimeError("not today")

    monkeypatch.setattr(Trace, "rehearse", fail)
    f = taeda.compile(lambda x: x * 2)
    assert all(f(taeda.ones(1)).item() == 2 for _ in range(4))
    assert f.__taeda_compiled__.reasons == ["a rehearsal of its graph fails: not today"]
