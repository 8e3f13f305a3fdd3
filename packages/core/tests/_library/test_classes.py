"""Classes of Python that are built of a library's list; a library stands for one here."""

from __future__ import annotations

import copy
import gc
import types

import pytest

from taeda._library import _classes


class Library:
    """What a loaded library offers: the list of its classes, and an end for every number."""

    def __init__(self):
        self.ended = []


@pytest.fixture
def built(monkeypatch):
    monkeypatch.setattr(_classes, "registered", {})
    library, numbers = Library(), iter(range(100, 200))

    def made(*values):
        return _classes.object_of(f"shelf.Box:{next(numbers)}")

    ops = types.SimpleNamespace(
        made=made,
        width=lambda box, scale=1: box.__index__() * scale,
        kept=lambda box: [box.__index__()],
        restored=lambda values: made(),
        set_width=lambda box, value: library.ended.append(("set", value)),
    )
    monkeypatch.setattr(_classes, "namespace", lambda name: ops)
    members = [
        ("s__init__", "made"),
        ("mwidth", "width"),
        ("gsize", "width"),
        ("wsize", "set_width"),
    ]
    pickles = [("m__getstate__", "kept"), ("s__setstate__", "restored")]
    _classes._build("shelf", "Box", "", [*members, *pickles], library.ended.append)
    _classes._build("shelf", "Bare", "Nothing in it.", [], library.ended.append)
    return library


def test_a_class_has_the_members_of_the_list(built):
    cls = _classes.find("shelf", "Box")
    box = cls()
    assert cls.__name__ == "Box" and box.width(2) == 200 and box.size == 100
    box.size = 5
    assert built.ended == [("set", 5)]
    assert repr(box) == "<shelf.Box object at 0x64>" and box == box and hash(box) == hash(100)
    assert box != 100


def test_the_library_hears_of_each_end_once(built):
    box = _classes.find("shelf", "Box")()
    del box
    gc.collect()
    assert built.ended == [100]


def test_copies_go_by_the_state(built):
    box = _classes.find("shelf", "Box")()
    assert copy.copy(box).width() == 101


def test_a_class_without_constructor_or_state_says_so(built):
    bare = _classes.find("shelf", "Bare")
    with pytest.raises(TypeError, match="no constructor"):
        bare()
    with pytest.raises(TypeError, match="no def_pickle"):
        copy.copy(bare.__new__(bare))


def test_a_class_that_is_not_there(built):
    with pytest.raises(RuntimeError, match=r"Registered are: shelf\.Bare, shelf\.Box"):
        _classes.find("shelf", "Missing")
