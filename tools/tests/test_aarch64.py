"""What of another processor's bits counts as a difference. The session needs a cross compiler and an emulator; this does not."""

from __future__ import annotations

import shutil
import sys

import by_path
import pytest

aarch64 = by_path.load("tools/aarch64.py")


def test_other_bits_and_missing_loops_differ():
    ours = {"add float32": "01", "exp float32": "02", "new int8": "03"}
    theirs = {"add float32": "01", "exp float32": "ff", "old int8": "03"}
    assert aarch64.differing(ours, theirs) == ["exp float32", "new int8", "old int8"]
    assert aarch64.differing(ours, ours) == []


def test_only_functions_of_the_library_may_differ():
    assert aarch64.may_differ("lgamma float64") and aarch64.may_differ("log complex64")
    assert not aarch64.may_differ("add float32") and not aarch64.may_differ("exp float64")


def test_digests_are_read_from_what_a_program_prints():
    program = [sys.executable, "-c", "print('add float32 0a'); print('mul int8 0b')"]
    assert aarch64.digests(program, {}) == {"add float32": "0a", "mul int8": "0b"}


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="aarch64-linux-gnu-gcc and no qemu-aarch64"):
        aarch64.require()
