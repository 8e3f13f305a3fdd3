"""Arguments that are named tuples are taken apart, like tuples."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import pytest

import taeda

Batch = namedtuple("Batch", "x y")
SCALE = [2.0]


class Rich(NamedTuple):
    """With what classes of the user add."""

    x: Any
    y: Any = None

    @property
    def both(self):
        return self.x * SCALE[0] + self.y

    def scaled(self, factor):
        return self._replace(x=self.x * factor)

    def __getattr__(self, name):
        if name == "hidden":
            return self.x + SCALE[0]
        raise AttributeError(name)


PROGRAMS = {
    "attributes": lambda b: b.x * 2 + b.y,
    "unpacked": lambda b: (lambda x, y: x - y)(*b),
    "items": lambda b: b[0] / b[-1] + len(b),
    "a walk": lambda b: sum(v * n for n, v in enumerate(b)),
    "as a dict": lambda b: b._asdict()["y"] * 3,
    "with another entry": lambda b: b._replace(y=b.x).y + 1,
    "given back": lambda b: b,
    "a new one": lambda b: type(b)(b.y * 2, b.x * 2),
    "compared": lambda b: b.x * (2 if b == () else 3),
    "among others": lambda b: [b, b.x * 1],
    "fields": lambda b: [getattr(b, name) * 2 for name in b._fields],
    "a type": lambda b: b.x * (2 if isinstance(b, Rich) else 3),
    "in a list": lambda b: [v.x * 2 for v in [b]],
    "a written entry": lambda b: b.x.mul_(2) + b.y,
    "absent": lambda b: b.x * getattr(b, "z", 4),
}  # fmt: skip
RICH = {
    "a property": lambda b: b.both,
    "a method": lambda b: b.scaled(3).x,
    "a __getattr__": lambda b: b.hidden * 2,
}


def told(value):
    if isinstance(value, taeda.Tensor):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(told, value)]
    return value


def found(f, kind, monkeypatch):
    made = []
    for n in range(12):
        with monkeypatch.context() as changed:
            if n >= 9:
                changed.setitem(globals(), "SCALE", [5.0])
            batch = kind(taeda.full((3,), float(n)), taeda.full((3,), 0.5 + n))
            made += [told(f(batch)), told(batch)]
    return made


@pytest.mark.parametrize("name", [*PROGRAMS, *RICH])
@pytest.mark.parametrize("kind", [Batch, Rich])
def test_programs_of_batches_are_right(name, kind, monkeypatch):
    program = PROGRAMS.get(name) or RICH[name]
    if name in RICH and kind is not Rich:
        kind = Rich
    want = found(program, kind, monkeypatch)
    assert found(taeda.compile(program), kind, monkeypatch) == want


def test_new_batches_are_no_new_programs():
    f = taeda.compile(PROGRAMS["attributes"], backend="aot_eager")
    for _ in range(4):
        f(Batch(taeda.ones(3), taeda.ones(3)))
    (traces,) = f.__taeda_compiled__.traces.values()
    assert [t.trusted for t in traces] == [True]


@pytest.mark.parametrize(
    "make", [lambda n: [n], lambda n: {"k": n}, lambda n: n, lambda n: (n, [n])]
)
def test_what_a_batch_holds_apart_from_tensors_counts(make):
    def program(batch):
        y = batch.y
        while not isinstance(y, int):
            y = y["k"] if isinstance(y, dict) else y[0]
        return batch.x * y

    f = taeda.compile(program)
    for n in [1, 1, 1, 1, 2, 1, 3, 3, 3, 3]:
        assert f(Batch(taeda.ones(2), make(n))).tolist() == [n, n]


def test_a_batch_that_others_hold_as_well():
    held = Batch(taeda.ones(2), taeda.ones(2) * 2)

    def program(batch):
        return batch.x + held.y if batch is not held else batch.x * 10

    f = taeda.compile(program)
    other = Batch(taeda.ones(2) * 3, taeda.ones(2))
    for batch in [held, held, held, other, other, other, held, other]:
        assert f(batch).equal(program(batch))


def test_names_that_a_class_gets_later():
    class Local(NamedTuple):
        x: Any

        def value(self):
            return self.x * 2

    f = taeda.compile(lambda b: b.value())
    for _ in range(4):
        assert f(Local(taeda.ones(1))).item() == 2
    Local.value = lambda self: self.x * 7
    assert f(Local(taeda.ones(1))).item() == 7
    Local.value = lambda self: self.x * 9
    Local.x = property(lambda self: taeda.full((1,), 3.0))
    assert f(Local(taeda.ones(1))).item() == 27
