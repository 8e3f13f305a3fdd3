"""`taeda.classes`: names are looked up when they are asked for, and libraries are those of `taeda.ops`."""

from __future__ import annotations

import pytest

import taeda
from taeda import classes


def test_a_name_is_a_space_of_classes():
    assert classes.some_space is classes.some_space
    with pytest.raises(RuntimeError, match=r"some_space\.Thing"):
        _ = classes.some_space.Thing


def test_names_of_python_are_no_spaces():
    for place in (classes, classes.some_space):
        with pytest.raises(AttributeError):
            _ = place.__wrapped__


def test_libraries_are_loaded_once_for_both():
    assert classes.loaded_libraries is taeda.ops.loaded_libraries
    with pytest.raises(ImportError):
        classes.load_library("/nowhere/library.so")
