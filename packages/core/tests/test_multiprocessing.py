"""The module itself: nothing of the standard one is missing, and strategies are checked."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys

import pytest

import taeda.multiprocessing as mp


def test_everything_of_the_standard_module_is_there():
    assert set(multiprocessing.__all__) <= set(mp.__all__)
    assert all(hasattr(mp, name) for name in mp.__all__)
    assert mp.reduction is multiprocessing.reduction


def test_strategies():
    assert mp.get_sharing_strategy() == "file_descriptor"
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises(AssertionError, match="unknown sharing strategy 'carrier pigeon'"):
        mp.set_sharing_strategy("carrier pigeon")


def test_importing_taeda_does_not_load_it():
    program = "import sys, taeda; print([m for m in sys.modules if 'multiprocessing' in m])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[]\n"
