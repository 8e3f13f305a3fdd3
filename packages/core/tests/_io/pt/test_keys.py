"""Keys of dicts and members of sets: only such as cannot make hashing slow."""

from __future__ import annotations

import pytest

import taeda
from taeda._io.budget import Budget
from taeda._io.pt.errors import RefusedPickle
from taeda._io.pt.keys import Keys


@pytest.fixture
def keys():
    return Keys(Budget(1 << 20))


@pytest.mark.parametrize(
    "key",
    ["a", b"a", 3, -(1 << 70), 1.5, 2j, None, True, taeda.float32, taeda.device("cpu"), (), (1, ("a",)),
     frozenset({1, 2}), tuple(range(63))],
)  # fmt: skip
def test_plain_values_may_be_keys(keys, key):
    assert keys.checked(key) is key and keys.checked(key) is key


@pytest.mark.parametrize(
    "key", [[], {}, object(), (1, [2]), tuple(range(64)), frozenset({(object(),)})]
)
def test_others_may_not(keys, key):
    with pytest.raises(RefusedPickle, match=f"a {type(key).__name__} is used as a key"):
        keys.checked(key)


def test_a_tuple_that_doubles_at_every_level_is_refused_at_once(keys):
    key = (1,)
    for _ in range(200):
        key = (key, key)
    with pytest.raises(RefusedPickle, match="up to 64"):
        keys.checked(key)


def test_many_keys_of_one_hash_are_an_attack(keys):
    alike = [n * ((1 << 61) - 1) for n in range(2, 40)]
    assert len({hash(key) for key in alike}) == 1
    for key in alike[:16]:
        keys.checked(key)
    keys.checked(alike[0])
    with pytest.raises(RefusedPickle, match="the same hash"):
        keys.checked(alike[16])
    assert keys.budget.spent == 16 * 250
