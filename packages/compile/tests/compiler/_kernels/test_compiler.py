"""Runs of a compiler that is there, is not, fails, hangs or dies."""

from __future__ import annotations

import os
import stat
import time

import pytest

from taeda.compiler._kernels import compiler as _compiler


def script(path, body):
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return _compiler.Compiler((str(path),), "one")


def run(compiler, folder, seconds=20.0, running=None):
    return _compiler.compile_text(
        compiler, (), "int f;", folder, [] if running is None else running, seconds
    )


def test_cc_is_taken_at_its_words(monkeypatch, tmp_path):
    one = script(tmp_path / "one", "exit 0")
    monkeypatch.setenv("CC", f"{one.words[0]} -pipe 'a b'")
    assert _compiler.found().words == (one.words[0], "-pipe", "a b")
    before = _compiler.found().identity
    script(tmp_path / "one", "exit 00")
    assert _compiler.found().identity != before


def test_none(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", str(tmp_path / "missing"))
    assert _compiler.found() is None
    monkeypatch.setenv("CC", "gcc 'a")
    with pytest.raises(_compiler.Failed, match=r"CC=.* is no command: No closing quotation"):
        _compiler.found()
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _compiler.found() is None
    script(tmp_path / "clang", "exit 0")
    assert _compiler.found().words == ("clang",)


def test_a_run_makes_the_library(tmp_path):
    compiler = script(tmp_path / "cc", 'while [ "$1" != -o ]; do shift; done; nice > "$2"')
    made = run(compiler, tmp_path)
    assert made == tmp_path / "chain.so"
    assert int(made.read_text()) == min(os.nice(0) + 10, 19)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo no such word >&2; exit 3", "ended with 3: no such word"),
        ("exit 0", "ended with 0: it said nothing"),
        ("kill -SEGV $$", "ended with signal 11: it said nothing"),
    ],
)
def test_a_run_that_fails(tmp_path, body, said):
    running = []
    with pytest.raises(_compiler.Failed, match=said):
        run(script(tmp_path / "cc", body), tmp_path, running=running)
    assert running == []


def test_no_program(tmp_path):
    with pytest.raises(_compiler.Failed, match="does not run"):
        run(_compiler.Compiler((str(tmp_path / "none"),), ""), tmp_path)


def test_one_that_hangs_is_ended_with_its_children(tmp_path):
    compiler = script(tmp_path / "cc", "sleep 600 & echo $! > child; wait")
    begin = time.monotonic()
    with pytest.raises(_compiler.Failed, match=r"ran for more than 0\.5 seconds"):
        run(compiler, tmp_path, seconds=0.5)
    assert time.monotonic() - begin < 60
    child = int((tmp_path / "child").read_text())
    for _ in range(200):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if os.path.exists(f"/proc/{child}/stat"):
            with open(f"/proc/{child}/stat") as file:
                if ") Z" in file.read():  # nobody has asked for its end yet
                    return
        time.sleep(0.01)
    pytest.fail("the compiler's child runs on")


def test_no_instruction_set_fuses():
    for kind in ("DEFAULT", "AVX2", "AVX512", "NEON"):
        assert "-ffp-contract=off" in _compiler.flags(kind)
        assert not any("fast" in flag for flag in _compiler.flags(kind))
    assert "-mavx2" in _compiler.flags("AVX2")
