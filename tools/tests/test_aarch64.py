"""What of another processor's bits counts as a difference.
The session needs a cross compiler and an emulator; this does not.
"""

from __future__ import annotations

import re
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
    with pytest.raises(
        SystemExit, match=r"gcc and qemu-aarch64 not found; on Debian, run"
    ) as caught:
        aarch64.require()
    assert str(caught.value).endswith("apt-get install gcc-aarch64-linux-gnu qemu-user`")


def test_only_what_is_missing_is_installed(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: name if "gcc" in name else None)
    with pytest.raises(SystemExit, match=r"^aarch64: qemu-aarch64 not found") as caught:
        aarch64.require()
    assert str(caught.value).endswith("apt-get install qemu-user`")


def test_a_part_says_how_long_it_took(capsys):
    with aarch64.timed("build"):
        pass
    assert re.fullmatch(
        r"aarch64: build took \d+ s, \d+ s of processors\n", capsys.readouterr().out
    )
