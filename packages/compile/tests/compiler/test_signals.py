"""A signal may come at any line, and its handler may raise: the error is the user's, and the graph
is not to blame.
"""

from __future__ import annotations

import ast
import functools
import gc
import inspect
import pathlib
import signal
import sys

import pytest

import taeda
from taeda import compiler
from taeda.compiler import _signals
from taeda.compiler._watch.observer import here

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "SIGUSR1"), reason="this system has no signal for users"
)


class Rang(Exception):
    """What the handler of these tests raises."""


def ring(number, frame):
    raise Rang


@pytest.fixture(autouse=True)
def _handled():
    before, collects = signal.signal(signal.SIGUSR1, ring), gc.isenabled()
    gc.disable()  # what a collection runs has no caller whom an error could reach
    yield
    signal.signal(signal.SIGUSR1, before)
    (gc.enable if collects else gc.disable)()


#: between the two halves of a context, and at the end of an object, Python itself keeps no promise
_UNPROTECTED = ("__enter__", "__exit__", "__del__")


class Moment:
    """Raises the signal at the n-th call of a Python function; `reached` says whether there were so many."""

    def __init__(self, number: int) -> None:
        self.left, self.reached = number, False

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.event)
        return self

    def __exit__(self, *raised):
        sys.settrace(self.before)

    def event(self, frame, event, argument):
        code = frame.f_code
        ours = frame.f_globals.get("__name__", "").startswith("taeda.")
        if not ours or code.co_name in _UNPROTECTED:
            return
        if code.co_flags & inspect.CO_GENERATOR:
            return  # it may be one that is thrown away, whose errors have no caller to reach
        self.left -= 1
        if self.left < 0 and not self.reached:
            self.reached = True
            self.place = f"{code.co_filename}:{code.co_name}"
            signal.raise_signal(signal.SIGUSR1)


def noisy_line(x, w):
    return (x @ w + taeda.rand(3)).relu().sum()


def plain_backend(gm, inputs):
    return gm.forward


def make(kind):
    taeda.manual_seed(0)
    w = taeda.ones(3, 3, requires_grad=kind == "grown")
    body = (lambda x, w: (x @ w).relu().sum()) if kind == "backend" else noisy_line
    options = {"backend": plain_backend} if kind == "backend" else {}
    return taeda.compile(body, **options), body, w


@pytest.mark.parametrize("kind", ["plain", "grown", "backend"])
@pytest.mark.parametrize("call", [0, 1, 2])
def test_what_a_handler_raises_reaches_the_user_at_every_moment(kind, call):
    x, number = taeda.ones(2, 3), 0
    while True:
        f, body, w = make(kind)
        for _ in range(call):
            f(x, w)
        seed = taeda.get_rng_state()
        rang = False
        with Moment(number) as moment:
            try:
                f(x, w)
            except Rang:
                rang = True
        if not moment.reached:
            break
        assert rang, f"the handler's error is lost at {moment.place}"
        assert here.get() is None, moment.place
        for _ in range(4):
            taeda.set_rng_state(seed)
            found = f(x, w)
            taeda.set_rng_state(seed)
            assert found.equal(body(x, w))
        state = f.__taeda_compiled__
        traces = [t for ts in state.traces.values() for t in ts]
        assert any(t.trusted for t in traces), (moment.place, state.reasons)
        number += 1 if number < 12 else 7
    assert number > 4


def test_interrupts_leave_the_generators_as_they_were(monkeypatch):
    f, _, w = make("plain")
    x = taeda.ones(2, 3)
    f(x, w)
    (trace,) = [t for ts in f.__taeda_compiled__.traces.values() for t in ts]
    plain = trace.rehearse

    def rehearse(tensors):
        plain(tensors)
        raise KeyboardInterrupt

    before = taeda.get_rng_state()
    with monkeypatch.context() as patched:
        patched.setattr(trace, "rehearse", rehearse)
        with pytest.raises(KeyboardInterrupt):
            f(x, w)
    assert taeda.get_rng_state().equal(before)
    f(x, w)
    assert trace.trusted


def test_an_interrupted_backend_is_asked_again():
    asked = []

    def backend(gm, inputs):
        asked.append(1)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return gm.forward

    f = taeda.compile(lambda x: x + 1, backend=backend)
    with pytest.raises(KeyboardInterrupt):
        f(taeda.ones(2))
    assert [f(taeda.ones(2)).tolist() for _ in range(3)] == [[2, 2]] * 3
    assert len(asked) == 2


class Callable:
    def method(self, number, frame):
        raise Rang

    def __call__(self, number, frame):
        raise Rang


@pytest.mark.parametrize(
    "handler", [ring, Callable(), Callable().method, functools.partial(ring), lambda *a: ring(*a)]
)
def test_handlers_are_known_in_every_form(handler):
    signal.signal(signal.SIGUSR1, handler)
    with pytest.raises(Rang) as caught:
        signal.raise_signal(signal.SIGUSR1)
    assert _signals.from_handler(caught.value)
    with pytest.raises(Rang):
        _signals.let_through(caught.value)
    _signals.let_through(ValueError("of the graph"))


def test_whoever_catches_all_errors_lets_those_of_handlers_through():
    folder = pathlib.Path(compiler.__file__).parent
    kept = []
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            broad = isinstance(node, ast.ExceptHandler) and (
                node.type is None
                or (
                    isinstance(node.type, ast.Name)
                    and node.type.id in ("Exception", "BaseException")
                )
            )
            if broad and not _passes_on(node):
                kept.append(f"{path.name}:{node.lineno}")
    assert not kept, "call let_through(error) first"


def _passes_on(handler):
    first, last = handler.body[0], handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return True
    return isinstance(first, ast.Expr) and ast.unparse(first) == f"let_through({handler.name})"
