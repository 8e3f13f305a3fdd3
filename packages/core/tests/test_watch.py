"""A tracer hears of every value that leaves a tensor beside the operations."""

from __future__ import annotations

import operator
import signal
import sys
import warnings

import pytest

import taeda
from taeda import Tensor
from taeda._layers import tracers


class Listener:
    def __init__(self):
        self.heard, self.ops = [], []

    def call(self, op, args, run):
        self.ops.append(op)
        return run()

    def note_untraced(self, what):
        self.heard.append(what)


def listened(f):
    listener = Listener()
    tracers.push(listener)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f(), listener
    finally:
        tracers.pop()


READS = {
    "item": Tensor.item,
    "tolist": Tensor.tolist,
    "bool": bool,
    "int": int,
    "float": float,
    "index": operator.index,
    "data_ptr": Tensor.data_ptr,
    "numpy": lambda t: t.numpy(),
    "memoryview": memoryview,
    "dlpack": lambda t: t.__dlpack__(),
    "alpha": lambda t: taeda.add(taeda.ones(2, dtype=t.dtype), 1, alpha=t),
    "size": lambda t: taeda.zeros(t),
    "a sequence": lambda t: taeda.tensor([t, t]),
}


@pytest.mark.parametrize("name", READS)
def test_a_read_is_heard(name):
    t = taeda.tensor(3)
    _, listener = listened(lambda: READS[name](t))
    assert listener.heard


def plain(value):
    """Whether values show in it."""
    return isinstance(value, (bool, int, float, complex, str, list, bytes))


NAMES = [
    n
    for n in dir(Tensor)
    if hasattr(Tensor, n)
    and (not n.startswith("__") or n in ("__bool__", "__float__", "__int__", "__index__"))
]


@pytest.mark.parametrize("name", NAMES)
def test_what_answers_by_values_is_heard(name):
    """Every attribute and every method that needs no argument, on tensors that differ in nothing
    but values.
    """

    def ask(value):
        t = taeda.tensor([value])

        def go():
            found = getattr(t, name)
            return found() if callable(found) else found

        try:
            return listened(go)
        except Exception:  # noqa: BLE001 - it wants arguments, or another tensor
            return None

    if name in ("__hash__", "_cdata", "_typed_storage"):
        pytest.skip("it says which object this is")
    first, again, other = ask(3), ask(3), ask(5)
    if first is None or other is None or not plain(first[0]) or repr(first[0]) != repr(again[0]):
        return
    if repr(first[0]) != repr(other[0]):
        assert first[1].heard, f"{name} answers {first[0]!r} or {other[0]!r}"


@pytest.mark.parametrize("raised", [KeyboardInterrupt, OSError])
def test_a_listener_that_is_interrupted_hears_it_once_more(raised, recwarn):
    class Interrupted(Listener):
        def note_untraced(self, what):
            super().note_untraced(what)
            if len(self.heard) == 1:
                raise raised

    listener = Interrupted()
    came = False
    lost = []
    before, sys.unraisablehook = sys.unraisablehook, lost.append
    # a process that a shell started behind itself ignores Ctrl-C
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    tracers.push(listener)
    try:
        taeda.ones(()).item()
        for _ in range(10):  # Ctrl-C comes at one of these lines
            pass
    except KeyboardInterrupt:
        came = True
    finally:
        tracers.pop()
        signal.signal(signal.SIGINT, handler)
        sys.unraisablehook = before
    assert len(listener.heard) == 2
    assert came is (raised is KeyboardInterrupt) and len(lost) == (raised is OSError)
