"""What `save` writes `load` reads, at every limit that a reader has; the rest `save` refuses."""

from __future__ import annotations

import io
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from pathlib import Path

import pytest

import taeda

FORMATS = ("safetensors", "pt")
SAME_HASH = 2**61 - 1  # whose multiples all have the hash 0


def nested(levels, around, inside=()):
    for _ in range(levels):
        inside = around(inside)
    return inside


def round_():
    made = []
    made.append({"again": (made,)})
    return made


def shared():
    deep = nested(600, lambda v: [v])
    return [deep, nested(600, lambda v: {"a": v}, deep)]


def noted(levels):
    made = taeda.ones(1)
    made.note = nested(levels, lambda v: [v], "x" * 100_000)
    return made


AROUND = {
    "list": lambda v: [v],
    "tuple": lambda v: (v,),
    "dict": lambda v: {"a": v},
    "key": lambda v: {(1, 2): v},
    "OrderedDict": lambda v: OrderedDict(a=v),
    "defaultdict": lambda v: defaultdict(None, a=v),
    "deque": lambda v: deque([v]),
    "frozenset": lambda v: frozenset([v]),
    "namespace": lambda v: types.SimpleNamespace(a=v),
    "twice": lambda v: [v, v],
}
MANY = {
    "set": lambda i: set(),
    "frozenset": lambda i: frozenset([i]),
    "OrderedDict": lambda i: OrderedDict(),
    "defaultdict": lambda i: defaultdict(list),
    "Counter": lambda i: Counter(),
    "deque": lambda i: deque(),
    "namespace": lambda i: types.SimpleNamespace(),
    "path": lambda i: Path(),
    "dict": lambda i: {"a": i},
    "keys": lambda i: {i + 0.5: i, (i, i): i},
    "tensor": lambda i: taeda.empty(0) if i < 12_000 else i,
}
ONE: dict[str, object] = {
    "name": {"k" * 700_000: taeda.ones(1)},
    "two names": {"k" * 100_000: taeda.ones(1), "k" * 99_999 + "l": taeda.ones(1)},
    "escaped name": {"€" * 200_000: taeda.ones(1)},
    "pairs of surrogates": {"\U0001f600" * 100_000: taeda.ones(1)},
    "half pairs": {"\ud800" * 50_000: taeda.ones(1)},
    "long path": nested(100, lambda v: {"k" * 5000: v}, taeda.ones(1)),
    "metadata's name": {"__metadata__": taeda.ones(1), "taeda.tree": taeda.ones(1)},
    "rank": taeda.ones([1] * 64),
    "text": "x" * 3_000_000,
    "bytes": b"x" * 3_000_000,
    "integer": 1 << 2000,
    "long integer": 1 << 9000,
    "longest integer": 10**4299,
    "too long integer": 10**4300,
    "key of 63": {tuple(range(63)): 1},
    "key of 70": {tuple(range(70)): 1},
    "member of 70": {tuple(range(70))},
    "deep key": {nested(100, lambda v: (v,)): 1},
    "keys of one hash": {k * SAME_HASH: k for k in range(1, 30)},
    "members of one hash": {k * SAME_HASH for k in range(1, 30)},
    "counted of one hash": Counter({k * SAME_HASH: k for k in range(1, 30)}),
    "path as key": {Path("a"): 1},
    "range as key": {range(3): 1},
    "dtype as key": {taeda.float32: 1, taeda.device("cpu"): 2},
    "longest deque": deque([1], sys.maxsize),
    "inside itself": round_(),
    "shared and deep": shared(),
    "attribute": noted(500),
    "deep attribute": noted(2000),
    **{
        f"{n} {kind}": nested(n, around)
        for kind, around in AROUND.items()
        for n in (480, 990, 1001, 3000)
    },
    **{f"many {kind}": [make(i) for i in range(25_000)] for kind, make in MANY.items()},
}


def shape(value, depth=0):
    """Type and length of each container on the way down along first parts."""
    made = []
    while True:
        made.append(type(value).__name__)
        if isinstance(value, types.SimpleNamespace):
            value = vars(value)
        if not isinstance(value, (list, tuple, dict, deque, frozenset)) or not value:
            told = sorted(value) if isinstance(value, set) else value
            return made, str(told)[:200] if not hasattr(value, "note") else shape(value.note)
        made.append(len(value))
        value = next(iter(value.values() if isinstance(value, dict) else value))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ONE)
def test_it_comes_back_or_is_refused_at_once(name, form):
    value, file = ONE[name], io.BytesIO()
    if refusal := refused(value, file, form):
        # members of sets nest less than lists do
        keys = name.endswith("frozenset") and form == "pt"
        assert "cannot save" in refusal or "digits" in refusal
        assert keys or not name.startswith(("480", "990", "many", "name", "long p", "rank"))
        return
    file.seek(0)
    assert shape(taeda.load(file)) == shape(value)


def refused(value, file, form):
    """Save; what is said of a value that is not taken."""
    try:
        taeda.save(value, file, format=form)
    except (ValueError, TypeError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("form", FORMATS)
def test_no_stack_of_pythons_is_needed(form):
    value, file = nested(900, AROUND["dict"]), io.BytesIO()
    taeda.save([], io.BytesIO(), format=form)  # what is imported at the first need is there
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        taeda.save(value, file, format=form)
        file.seek(0)
        made = taeda.load(file)
    finally:
        sys.setrecursionlimit(limit)
    assert shape(made) == shape(value)


def test_more_storages_than_are_read_are_refused(monkeypatch):
    from taeda._io.pt import write

    monkeypatch.setattr(write, "MOST_RECORDS", 10)
    taeda.save([taeda.ones(1) for _ in range(4)], io.BytesIO(), format="pt")
    with pytest.raises(ValueError, match="5 storages are too many"):
        taeda.save([taeda.ones(1) for _ in range(5)], io.BytesIO(), format="pt")


def test_a_name_that_is_not_read_is_refused():
    kind = type("K" * 1000, (), {"__module__": __name__})
    taeda.serialization.add_safe_globals([kind])
    try:
        with pytest.raises(ValueError, match="longer than 1000 bytes"):
            taeda.save(kind(), io.BytesIO(), format="pt")
    finally:
        taeda.serialization.clear_safe_globals()
