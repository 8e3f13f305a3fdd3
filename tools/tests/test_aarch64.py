"""What of another processor's bits counts as a difference.
The session needs a cross compiler and an emulator; this does not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import by_path
import pytest

aarch64 = by_path.load("tools/hunt/aarch64.py")


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


def headers_at(monkeypatch, path):
    """This machine may have the headers, or not."""
    places = {path if at == aarch64.HEADERS else at: name for at, name in aarch64.DEBIAN.items()}
    monkeypatch.setattr(aarch64, "DEBIAN", places)


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    headers_at(monkeypatch, "/nowhere/stdio.h")
    with pytest.raises(
        SystemExit, match=r"gcc and /nowhere/stdio.h and qemu-aarch64 not found; on Debian, run"
    ) as caught:
        aarch64.require()
    assert str(caught.value).endswith(
        "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user`"
    )


def test_only_what_is_missing_is_installed(monkeypatch, tmp_path):
    headers = tmp_path / "stdio.h"
    headers.touch()
    headers_at(monkeypatch, str(headers))
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


@pytest.mark.parametrize("given", [None, "gcc", "ccache gcc"])
def test_what_is_built_for_this_machine_keeps_its_compiler(monkeypatch, given):
    monkeypatch.delenv("CC", raising=False)
    if given:
        monkeypatch.setenv("CC", given)
    with aarch64.cross_compiling():
        wrapped = "ccache " if given == "ccache gcc" else ""
        assert os.environ["CC"] == f"{wrapped}aarch64-linux-gnu-gcc"
    assert os.environ.get("CC") == given


def _apt_get(folder, monkeypatch, script: str) -> None:
    """Nothing on PATH but an apt-get that is this script; and we are root."""
    path = folder / "apt-get"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def test_a_mirror_that_is_away_is_the_reason_in_words(tmp_path, monkeypatch):
    _apt_get(tmp_path, monkeypatch, "echo 'E: Unable to fetch' >&2; exit 100")
    with pytest.raises(SystemExit, match=r"`apt-get -q update` failed: E: Unable to fetch"):
        aarch64.get_ready()


def test_packages_that_still_lack_a_program_are_the_reason(tmp_path, monkeypatch):
    _apt_get(tmp_path, monkeypatch, "exit 0")
    with pytest.raises(SystemExit, match=r"not found; on Debian, run"):
        aarch64.get_ready()


def test_only_root_installs(tmp_path, monkeypatch):
    _apt_get(tmp_path, monkeypatch, "echo was called >&2; exit 100")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit, match=r"run `sudo apt-get install"):
        aarch64.get_ready()


def test_a_python_that_cannot_be_fetched_is_the_reason(monkeypatch):
    def away() -> None:
        raise subprocess.CalledProcessError(100, ["apt-get", "update"])

    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(aarch64, "fetch", away)
    with pytest.raises(SystemExit, match=r"a Python for Arm could not be fetched: .*apt-get"):
        aarch64.get_ready()
