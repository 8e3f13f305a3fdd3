"""A call while it is recorded: whose code runs, what waits, what is put back."""

from __future__ import annotations

import dis
import gc
import itertools
import sys

import pytest

import taeda
from taeda import nn
from taeda._core_api import programs
from taeda.compiler._call import watched
from taeda.compiler._call.watched import observed
from taeda.compiler._watch.observer import Observer, here


@pytest.mark.parametrize("collects", [True, False])
def test_code_that_a_collection_of_cycles_runs_is_not_of_the_program(collects):
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


def test_a_program_that_raises_leaves_nothing_behind():
    plain, before = nn.Module.__call__, here.get()

    def program():
        assert nn.Module.__call__ is not plain
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        observed(Observer(strict=False), program, (), {})
    assert nn.Module.__call__ is plain
    assert sys.getprofile() is None
    assert here.get() is before


class AfterCalls:
    """Raises KeyboardInterrupt behind the n-th call that some functions make, where Python looks for
    signals; `reached` says whether there were so many.
    """

    def __init__(self, number, codes):
        self.left, self.codes, self.reached = number, codes, False
        self.calls = {
            code: {a.offset: b.opname for b, a in itertools.pairwise(steps)}
            for code in codes
            for steps in [[*dis.get_instructions(code)]]
        }

    def __enter__(self):
        sys.settrace(self.trace)
        return self

    def __exit__(self, *raised):
        sys.settrace(None)

    def trace(self, frame, event, argument):
        if frame.f_code not in self.codes:
            return None
        frame.f_trace_opcodes = True
        came_by = self.calls[frame.f_code].get(frame.f_lasti, "")
        if event == "opcode" and came_by.startswith("CALL"):
            self.left -= 1
            if self.left < 0 and not self.reached:
                self.reached = f"{frame.f_code.co_name}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self.trace


CODES = {
    f.__code__
    for f in (
        observed, watched._patch, type(programs.tracers).push, type(programs.tracers).restore,
        Observer.begin, Observer.end,
    )
}  # fmt: skip


@pytest.mark.parametrize("before", [0, 1])
def test_an_interrupt_behind_any_call_leaves_nothing_behind(before):
    """The stack of tracers, calls of modules, the collector, the profile: all as it was."""
    net, plain = nn.Linear(2, 2), nn.Module.__call__
    for number in range(1000):
        f = taeda.compile(lambda x: net(x).relu().sum(), backend="aot_eager")
        x = taeda.ones(1, 2)
        for _ in range(before):
            f(x)
        with AfterCalls(number, CODES) as interrupt:
            try:
                f(x)
            except KeyboardInterrupt:
                assert interrupt.reached
        assert nn.Module.__call__ is plain, number
        assert gc.isenabled()
        assert sys.getprofile() is None
        assert here.get() is None
        assert programs.tracers.entered == []
        assert not programs.get_layers(), interrupt.reached
        assert not watched._live
        assert (taeda.ones(2) * 2).tolist() == [2.0, 2.0]
        assert f(x).item() == net(x).relu().sum().item()
        if not interrupt.reached:
            break
    assert 0 < number < 1000 or before


def test_a_stack_without_its_flag_is_mended():
    """What an interrupt between the two may have left."""
    programs.tracers.restore(0)
    from taeda._native import core

    core.set_layer_flag(programs.tracers.bit, True)
    assert (taeda.ones(2) * 2).tolist() == [2.0, 2.0]
    assert not programs.get_layers()


def losses(x, w):
    hidden = x * w
    return hidden, (hidden * hidden).sum()


@pytest.mark.parametrize("backend", ["taeda", "aot_eager", "a function"])
@pytest.mark.parametrize("how", ["retain_grad", "hook", "grad", "inputs"])
def test_a_result_that_another_one_is_computed_from_has_gradients(backend, how):
    found = []
    for compiled in (False, True):
        backend_of = (lambda gm, inputs: gm.forward) if backend == "a function" else backend
        f = taeda.compile(losses, backend=backend_of) if compiled else losses
        w, out = taeda.full((2,), 3.0, requires_grad=True), []
        for _ in range(4):
            hidden, loss = f(taeda.ones(2), w)
            if how == "retain_grad":
                hidden.retain_grad()
            elif how == "hook":
                hidden.register_hook(lambda gradient: gradient * 10)
            elif how == "grad":
                out += [g.tolist() for g in taeda.autograd.grad(loss, hidden, retain_graph=True)]
            loss.backward(inputs=[hidden] if how == "inputs" else None)
            out += [w.grad is not None and w.grad.tolist()]
            if how in ("retain_grad", "inputs"):
                out.append(hidden.grad.tolist())
        found.append(out)
    assert found[0] == found[1]


def doubled(x, count):
    return x if count == 0 else doubled(x * 2, count - 1)


def by_one(x, count):
    return x + 1


def test_a_function_that_calls_itself_by_its_global_name_becomes_a_graph(monkeypatch):
    plain = doubled
    f = taeda.compile(lambda x: plain(x, 3))
    assert [f(taeda.ones(1)).item() for _ in range(3)] == [8, 8, 8]
    assert not f.__taeda_compiled__.reasons
    monkeypatch.setitem(globals(), "doubled", by_one)
    assert f(taeda.ones(1)).item() == 3  # the outer one still, and then the new one
