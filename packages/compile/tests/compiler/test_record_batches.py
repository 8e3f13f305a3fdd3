"""Arguments that are objects of dataclasses, with tensors in them, are taken apart."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import taeda


@dataclasses.dataclass
class Batch:
    x: Any
    y: Any = None
    scale: float = 2.0

    @property
    def both(self):
        return self.x * self.scale + self.y

    def scaled(self, by):
        return dataclasses.replace(self, x=self.x * by)


def stores(b):
    b.scale = 3.0
    return b.x * b.scale


def stores_at_object(b):
    object.__setattr__(b, "scale", 7.0)
    return b.x * b.scale


PROGRAMS = {
    "attributes": lambda b: b.x * b.scale + b.y,
    "a property": lambda b: b.both,
    "a method": lambda b: b.scaled(2).x,
    "by name": lambda b: getattr(b, "x") * getattr(b, "z", 4),  # noqa: B009 - that is the case
    "its dict": lambda b: b.__dict__["x"] * b.__dict__["scale"],
    "vars": lambda b: vars(b)["x"] * vars(b)["scale"],
    "fields": lambda b: [getattr(b, f.name) * 2 for f in dataclasses.fields(b)],
    "as a dict": lambda b: dataclasses.asdict(b)["x"],
    "given back": lambda b: b,
    "a new one": lambda b: Batch(b.y, b.x),
    "in a list": lambda b: [v.x * v.scale for v in [b]],
    "compared": lambda b: b.x * (2 if b is None else 3),
    "a type": lambda b: b.x * (2 if isinstance(b, Batch) else 3),
    "a store": stores,
    "a store at object": stores_at_object,
    "a written tensor": lambda b: b.x.mul_(2) + b.y,
}


def told(value):
    if isinstance(value, taeda.Tensor):
        return value.tolist()
    if isinstance(value, Batch):
        return [type(value).__name__, *map(told, vars(value).items())]
    if isinstance(value, list | tuple):
        return [told(v) for v in value]
    return value


def found(f):
    made = []
    for n in range(12):
        batch = Batch(taeda.full((3,), float(n)), taeda.full((3,), 0.5 + n), 2.0 if n < 8 else 5.0)
        made += [told(f(batch)), told(batch)]
    return made


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_batches_are_right(name):
    assert found(taeda.compile(PROGRAMS[name])) == found(PROGRAMS[name])


def test_new_batches_are_no_new_programs():
    f = taeda.compile(PROGRAMS["attributes"], backend="aot_eager")
    for _ in range(4):
        f(Batch(taeda.ones(3), taeda.ones(3)))
    (traces,) = f.__taeda_compiled__.traces.values()
    assert [t.trusted for t in traces] == [True]


def test_one_object_twice_is_another_call_than_two_alike():
    def program(a, b):
        a.y = a.x + 1
        return b.y * 2 if b.y is not None else b.x * 5

    f = taeda.compile(program)
    for _ in range(4):
        one, other = Batch(taeda.ones(2)), Batch(taeda.ones(2))
        assert f(one, other).tolist() == [5, 5]
        assert f(one, one).tolist() == [4, 4]


def test_a_batch_and_a_list_that_hold_themselves():
    one, many = Batch(taeda.ones(2)), [taeda.ones(2)]
    one.y = [one]
    many.append(many)
    f, g = taeda.compile(lambda b: b.x * 2 + 1), taeda.compile(lambda v: v[0] * 2 + 1)
    for _ in range(4):
        assert f(one).tolist() == g(many).tolist() == [3, 3]
