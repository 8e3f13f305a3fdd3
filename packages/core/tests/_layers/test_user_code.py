"""Calls of a program's functions that the library makes."""

from __future__ import annotations

import pytest

import taeda
from taeda._layers.user_code import call_user, see_user_code
from taeda._library.low_level import scoped_library


@pytest.fixture
def seen():
    found = []

    def seer(owner, function, args, kwargs):
        found.append((owner, function, args, kwargs))
        return function(*args, **kwargs)

    see_user_code(seer)
    yield found
    see_user_code(None)


def test_a_call_is_made_by_whoever_sees_it(seen):
    assert call_user(int, max, 1, 2, key=abs) == 2
    assert seen == [(int, max, (1, 2), {"key": abs})]
    see_user_code(None)
    assert call_user(None, max, 1, 3) == 3
    assert len(seen) == 1


def test_a_composite_kernel_is_such_a_function(seen):
    def doubled(x):
        return x * 2

    with scoped_library("user_code", "DEF") as library:
        library.define("doubled(Tensor x) -> Tensor")
        library.impl("doubled", doubled, "CompositeImplicitAutograd")
        assert taeda.ops.user_code.doubled(taeda.ones(1)).item() == 2
    assert [function for _, function, _, _ in seen] == [doubled]
