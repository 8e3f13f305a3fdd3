"""Data beside modules: its bytes, or an error that says what is missing."""

from __future__ import annotations

import sys
import types

import pytest

from taeda._parts import data


def test_the_bytes_of_a_file():
    assert data.read("taeda._torch_names", "absent.txt").decode().splitlines()


def test_a_file_that_is_not_there():
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        data.read("taeda._torch_names", "nowhere.txt")


def test_a_loader_without_data(monkeypatch):
    monkeypatch.setitem(sys.modules, "bare", types.ModuleType("bare"))
    sys.modules["bare"].__spec__ = types.SimpleNamespace(loader=object(), origin="bare")
    with pytest.raises((ImportError, ValueError), match="bare"):
        data.read("bare", "numbers")
