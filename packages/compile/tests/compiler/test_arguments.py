from __future__ import annotations

import taeda
from taeda.compiler._arguments import containers, flatten, objects, tensors_in
from taeda.compiler._watch.guards import same_value


class Thing:
    pass


def test_the_key_says_all_but_the_tensors():
    a, b = taeda.ones(2), taeda.zeros(3)
    assert flatten((a, b), {})[0] == flatten((b, a), {})[0]
    assert flatten((a, a), {})[0] != flatten((a, b), {})[0]
    assert flatten(([a, 0.0],), {})[0] != flatten(([a, -0.0],), {})[0]
    assert flatten(((a, 1),), {})[0] != flatten(((a, True),), {})[0]
    assert flatten((a,), {"k": b})[0] != flatten((a, b), {})[0]
    keys = [flatten(({key: a},), {})[0] for key in (1, True, 1.0, 0.0, -0.0, "1")]
    assert all(keys.count(key) == 1 for key in keys)


def test_every_number_has_a_key_of_its_own():
    parts = (0.0, -0.0, 1.0, float("nan"), -float("nan"), float("inf"))
    numbers = [*parts, 0, 1, True, *(complex(a, b) for a in parts for b in parts)]
    keys = [flatten((number,), {})[0] for number in numbers]
    assert all(keys.count(key) == 1 for key in keys)
    for n, a in enumerate(numbers):
        assert [m for m, b in enumerate(numbers) if same_value(a, b)] == [n]


def test_tensors_come_once_and_in_order():
    a, b = taeda.ones(2), taeda.zeros(3)
    _, found = flatten(([a, {"k": b}], a), {"more": b})
    assert [t is w for t, w in zip(found, (a, b), strict=True)] == [True, True]
    assert [t is a for t in tensors_in([a, (b, {"k": a})])] == [True, False, True]


def test_objects_and_containers_at_any_depth():
    thing, entries = Thing(), [1, {"k": (2,)}]
    assert list(objects([1, {"k": thing}, "a", taeda.ones(1)])) == [thing]
    assert list(containers(entries)) == [entries, {"k": (2,)}, (2,)]
