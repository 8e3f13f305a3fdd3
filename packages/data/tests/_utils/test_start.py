"""The choice of a start method."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys

import pytest

import taeda
from taeda.utils.data import DataLoader
from taeda.utils.data._utils.start import default_context


def test_an_explicit_choice_is_kept():
    spawn = multiprocessing.get_context("spawn")
    assert (
        DataLoader([1], num_workers=1, multiprocessing_context=spawn).multiprocessing_context
        is spawn
    )
    named = DataLoader([1], num_workers=1, multiprocessing_context="forkserver")
    assert named.multiprocessing_context.get_start_method() == "forkserver"
    named.multiprocessing_context = None
    assert named.multiprocessing_context is None
    named.num_workers = 0
    with pytest.raises(ValueError, match="num_workers=0"):
        named.multiprocessing_context = "fork"


def test_the_default_is_the_systems_unless_fork_cannot_work(monkeypatch):
    methods = multiprocessing.get_all_start_methods
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none: None)
    for order, wanted in (
        (["fork", "spawn", "forkserver"], "fork"),
        (["spawn", "forkserver"], "forkserver"),
    ):
        monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda order=order: order)
        assert default_context().get_start_method() == wanted
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", methods)
    monkeypatch.setattr(taeda.cuda, "is_initialized", lambda: True)
    assert default_context().get_start_method() == "forkserver"


def test_the_programs_own_choice_comes_first():
    program = """
import multiprocessing
from taeda.utils.data._utils.start import default_context
multiprocessing.set_start_method("spawn")
print(default_context().get_start_method())
"""
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "spawn"


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_a_function_that_cannot_be_pickled_is_explained(context):
    loader = DataLoader(
        [1, 2], collate_fn=lambda batch: batch, num_workers=1, multiprocessing_context=context
    )
    with pytest.raises((pickle.PicklingError, AttributeError), match="pickle") as caught:
        next(iter(loader))
    assert "define it at the top of a module" in caught.value.__notes__[0]


def test_workers_that_are_collected_amid_an_import_are_waited_for():
    """`Process.join` imports a module: a collection in the middle of that import found half of it."""
    program = """
import sys
from taeda.utils.data import DataLoader
from taeda.utils.data._utils.start import start_all
import multiprocessing
assert "multiprocessing.connection" not in sys.modules
[process] = start_all(multiprocessing.get_context("fork"), [(print, ())], "one")
assert "multiprocessing.connection" in sys.modules
process.join()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
