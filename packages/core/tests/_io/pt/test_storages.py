"""The storages that a pickle names."""

from __future__ import annotations

import pytest

import taeda
from taeda._io.pt.context import StorageType
from taeda._io.pt.errors import RefusedPickle
from taeda._io.pt.storages import as_storage, named, nowhere
from taeda.storage import TypedStorage, UntypedStorage

FLOATS = StorageType("FloatStorage", taeda.float32)
BYTES = StorageType("UntypedStorage", None)
GOOD = ("storage", FLOATS, "0", "cpu", 6)


def test_a_name_is_checked_and_its_view_handed_on():
    found, rest = named(GOOD, 5)
    assert (found.key, found.location, found.count, found.nbytes) == ("0", "cpu", 6, 24)
    assert rest == () and named((*GOOD, None), 6)[1] == (None,)
    assert named(("storage", BYTES, "0", "cpu", 6), 5)[0].nbytes == 6


REFUSED = [
    (3, "names no storage"),
    ((), "names no storage"),
    (("other", 1), "names no storage"),
    (("module", 1), "a whole module: loading one would run code"),
    (GOOD[:4], "named by 5 values, got 4"),
    (("storage", "FloatStorage", "0", "cpu", 6), "by its kind, key, location and length"),
    (("storage", FLOATS, 0, "cpu", 6), "by its kind, key"),
    (("storage", FLOATS, "0", "c" * 100, 6), "by its kind, key"),
    (("storage", FLOATS, "0", "cpu", True), "by its kind, key"),
    (("storage", FLOATS, "0", "cpu", -1), "said to have -1 elements"),
    (("storage", FLOATS, "0", "cpu", 1 << 60), "said to have"),
]


@pytest.mark.parametrize(("identity", "words"), REFUSED)
def test_refusals(identity, words):
    with pytest.raises(RefusedPickle, match=words):
        named(identity, 5)


def test_objects_on_bytes():
    data = taeda.arange(8, dtype=taeda.uint8)
    untyped, typed = as_storage(data, BYTES), as_storage(data, FLOATS)
    assert type(untyped) is UntypedStorage and untyped.nbytes() == 8
    assert type(typed) is TypedStorage and len(typed) == 2 and typed.dtype is taeda.float32
    assert nowhere(5).is_meta and nowhere(5).numel() == 5
