"""Compiling and linking: what is built again, and who waits for whom."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from plain_extension import code, write

from taeda.utils.cpp_extension import load, load_inline


def test_build_directory_and_verbose(tmp_path, capsys):
    folder = tmp_path / "here" / "there"
    module = load("plain", write(tmp_path / "plain.c"), build_directory=folder, verbose=True)
    assert Path(module.__file__) == folder / "plain.so"
    said = capsys.readouterr().err
    assert "plain: compiling 1 of 1: plain.c" in said and "plain: linking plain.so" in said


def test_intermediates_go_when_not_wanted(tmp_path, own_cache):
    load("plain", write(tmp_path / "plain.c"), keep_intermediates=False)
    assert not list(own_cache.rglob("*.o"))


def test_the_compilers_words_are_in_the_error(tmp_path):
    (tmp_path / "bad.c").write_text("int f(void) { return wrong_name; }\n")
    with pytest.raises(RuntimeError, match=r"(?s)Error building extension 'bad'.*wrong_name"):
        load("bad", str(tmp_path / "bad.c"))
    assert load("bad", write(tmp_path / "bad.c", 4)).answer().item() == 4  # the lock is free


@pytest.mark.parametrize(
    "text",
    [
        "#include <torch/csrc/jit/api/module.h>\n",
        "torch::Tensor twice(torch::Tensor x) { return x; }\n",
        "at::Tensor x;\n",
        "auto n = c10::kFloat;\n",
    ],
)
def test_an_extension_of_pytorch_is_told_where_to_read(tmp_path, text):
    (tmp_path / "ported.cpp").write_text(text)
    with pytest.raises(RuntimeError, match=r"(?s)Error building.*Port an extension"):
        load("ported", str(tmp_path / "ported.cpp"))
    (tmp_path / "bad.cpp").write_text("int f() { return wrong_name; }\n")
    with pytest.raises(RuntimeError) as caught:
        load("ported", str(tmp_path / "bad.cpp"))
    assert "Port an extension" not in str(caught.value)


def test_an_unknown_kind_of_source(tmp_path):
    (tmp_path / "x.rs").write_text("")
    with pytest.raises(
        ValueError, match=r"x\.rs: no compiler for sources that end so; known are \.c"
    ):
        load("x", str(tmp_path / "x.rs"))


def test_no_compiler(tmp_path, monkeypatch):
    (tmp_path / "x.cpp").write_text("")
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(RuntimeError, match=r"'x': .*no C\+\+ compiler here \(looked for \$CXX"):
        load("x", str(tmp_path / "x.cpp"))


def test_max_jobs(tmp_path, monkeypatch):
    monkeypatch.setenv("MAX_JOBS", "many")
    with pytest.raises(ValueError, match="MAX_JOBS must be a whole number, 0 or more, got 'many'"):
        load("x", write(tmp_path / "x.c"))


SLOW_COMPILER = """#!/bin/sh
case "$*" in *" -c "*) echo compiled >> {log}; sleep {seconds};; esac
exec cc "$@"
"""


def slow_compiler(tmp_path, seconds: float) -> tuple[dict[str, str], Path]:
    """An environment whose C compiler takes its time and notes each file it compiles."""
    log, script = tmp_path / "log", tmp_path / "slow-cc"
    script.write_text(SLOW_COMPILER.format(log=log, seconds=seconds))
    script.chmod(0o755)
    return {**os.environ, "CC": str(script)}, log


def test_two_processes_at_once_build_once(tmp_path):
    env, log = slow_compiler(tmp_path, 0.5)
    source = write(tmp_path / "plain.c", 9)
    body = f"print(load('plain', {source!r}).answer().item())"
    both = [subprocess.Popen(code(body), env=env, stdout=subprocess.PIPE) for _ in range(2)]
    assert [p.communicate()[0].strip() for p in both] == [b"9.0", b"9.0"]
    assert log.read_text() == "compiled\n"


def test_a_killed_builder_leaves_no_lock(tmp_path):
    env, log = slow_compiler(tmp_path, 60)
    source = write(tmp_path / "plain.c", 9)
    builder = subprocess.Popen(code(f"load('plain', {source!r})"), env=env, start_new_session=True)
    while not log.exists():
        assert builder.poll() is None
        time.sleep(0.01)
    builder.send_signal(signal.SIGKILL)
    builder.wait()
    try:
        assert load("plain", source).answer().item() == 9
    finally:
        os.killpg(builder.pid, signal.SIGKILL)  # the compiler that it left behind


def test_a_flag_for_threads_brings_their_library(tmp_path):
    source = "#include <omp.h>\nint64_t f() { return omp_get_max_threads(); }"
    flags = ["-fopenmp", "-pthread", "-O0"]
    made = load_inline(
        "with_openmp", source, functions=["f"], extra_cflags=flags, build_directory=tmp_path
    )
    assert made.f() >= 1
