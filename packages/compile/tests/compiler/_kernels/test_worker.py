"""Chains that are compiled while a program runs, and the next process, which finds them."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import stat
import subprocess
import sys

import pytest

import taeda
from taeda.compiler import config
from taeda.compiler._kernels import worker as _worker

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

PROGRAM = """
import sys, time, logging
import taeda
from taeda._core_api import chains
def f(x):
    return (x * 2 + 1).sin() * x
x = taeda.rand(20_000)
g = taeda.compile(f)
expected = f(x)
g(x), g(x)
begin = time.monotonic()
while time.monotonic() - begin < float(sys.argv[1]):
    assert g(x).equal(expected)
    state = chains.get_chain(0)[2]
    if state > chains.chain_states["TRIED"]:
        break
print(state)
"""


def cc(path, body):
    """A compiler that notes each run in `runs`."""
    real = shlex.join(shlex.split(os.environ.get("CC", "cc")))
    path.write_text(f"#!/bin/sh\necho run >> {path.parent}/runs\n{body.replace('REAL', real)}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def run(tmp_path, compiler, seconds=60, code=PROGRAM, **more):
    env = {**os.environ, "CC": compiler, "TAEDA_CACHE_DIR": str(tmp_path / "cache"), **more}
    program = tmp_path / "program.py"  # a graph wants a source
    program.write_text(code)
    made = subprocess.run(
        [sys.executable, str(program), str(seconds)],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return made


def runs(tmp_path):
    path = tmp_path / "runs"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_the_second_process_compiles_nothing(tmp_path):
    compiler = cc(tmp_path / "cc", 'exec REAL "$@"')
    for _ in range(2):
        made = run(tmp_path, compiler)
        assert int(made.stdout) in (3, 4)  # taken, or timed and left
        assert made.stderr == ""
        assert runs(tmp_path) == 1
    (kept,) = (tmp_path / "cache" / "chains").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    made = run(tmp_path, compiler)
    assert "its content is not what was written" in made.stderr
    assert runs(tmp_path) == 2
    run(tmp_path, compiler, TAEDA_ISA="generic")
    assert runs(tmp_path) == 3


def test_a_new_compiler_compiles_again(tmp_path):
    run(tmp_path, cc(tmp_path / "cc", 'exec REAL "$@"'))
    run(tmp_path, cc(tmp_path / "cc", 'exec REAL  "$@"'))
    assert runs(tmp_path) == 2


@pytest.mark.parametrize("body", ["exit 1", "kill -KILL $$", "exit 0", "echo x > chain.so"])
def test_a_compiler_that_fails_is_told_once(tmp_path, body):
    made = run(tmp_path, cc(tmp_path / "cc", body))
    assert made.stdout.strip() == "4"
    assert made.stderr.count("chains of elementwise operations stay with their loops") == 1
    assert runs(tmp_path) == 1


def test_no_compiler_is_no_fault(tmp_path):
    made = run(tmp_path, str(tmp_path / "none"))
    assert (made.stdout.strip(), made.stderr) == ("4", "")


def test_a_process_does_not_wait_for_its_compiler(tmp_path):
    compiler = cc(tmp_path / "cc", f"echo $$ > {tmp_path}/child; exec sleep 600")
    made = run(tmp_path, compiler, seconds=3)
    assert (made.stdout.strip(), made.stderr) == ("1", "")
    child = int((tmp_path / "child").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_forked_child_compiles_nothing(tmp_path):
    code = PROGRAM.replace(
        "begin =",
        "import os\nfrom taeda.compiler._kernels import worker as _worker\n"
        "if os.fork():\n    sys.exit(os.wait()[1])\nbegin =",
    )
    made = run(tmp_path, cc(tmp_path / "cc", 'exec REAL "$@"'), seconds=1, code=code)
    assert made.stdout.strip() == "1"
    assert runs(tmp_path) == 0


def test_off(tmp_path):
    made = run(tmp_path, cc(tmp_path / "cc", "exit 1"), seconds=1, TAEDA_COMPILE_CHAINS="off")
    assert (made.stdout.strip(), made.stderr, runs(tmp_path)) == ("1", "", 0)


def test_explain_shows_the_text_or_says_why(monkeypatch):
    monkeypatch.setattr(config, "chains", "wait")

    def f(x):
        y = x * 3 + 1
        return y.cos()

    said = taeda.compiler.explain(f)(taeda.rand(20_000))
    text = str(said)
    assert "chain of 3 operations" in text
    assert "cos_f32_row_of(a2, v1); /* " in text
    assert "test_worker.py:" in text

    def g(x):
        return taeda.nextafter(x, x * 2)

    compiled = taeda.compile(g)
    for _ in range(6):
        compiled(taeda.rand(20_000))
    assert "runs loop by loop: nextafter is no expression of vectors" in str(
        taeda.compiler.explain(compiled)(taeda.rand(20_000))
    )


def test_two_ways_are_timed_and_one_stays(monkeypatch):
    from taeda._core_api import chains as core

    monkeypatch.setattr(config, "chains", "background")
    f = taeda.compile(lambda x: ((x + 0.5) * x - 0.25).abs() * 0.75)
    x = taeda.rand(20_000)
    for _ in range(4):
        f(x)
    ((trace,),) = f.__taeda_compiled__.traces.values()
    (number,) = {n for n in trace.program.chains() if n >= 0}
    thread = _worker._state.thread
    if thread is not None:
        thread.join(60)
    assert _worker.is_pending(number)
    for _ in range(24):
        assert trace.program.run((x,))[0].equal(((x + 0.5) * x - 0.25).abs() * 0.75)
    assert not _worker.is_pending(number)
    *_, state, loops, compiled = core.get_chain(number)
    assert state == (3 if compiled < loops else 4)
    assert 0 < min(compiled, loops)


def test_what_is_not_seen_is_said(caplog, monkeypatch):
    monkeypatch.setattr(config, "chains", "wait")
    f = taeda.compile(lambda x: taeda.nextafter(x - 1, x) * 0.5)
    with caplog.at_level(logging.INFO, "taeda.compiler.choice"):
        for _ in range(6):
            f(taeda.rand(20_000))
    assert "stays with its loops" in caplog.text
