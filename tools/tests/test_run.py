"""The bootstrap refuses in sentences, before it makes anything."""

from __future__ import annotations

import os
import subprocess
import sys

import by_path


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(by_path.ROOT / "tools/run.py"), *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_without_a_compiler_there_are_three_lines_and_no_traceback(tmp_path):
    done = run("demo", PATH=str(tmp_path), CC="")
    assert done.returncode == 1
    assert "no C compiler here (looked for cc, gcc, clang)" in done.stderr
    assert "apt install gcc" in done.stderr
    assert len(done.stderr.splitlines()) == 3


def test_a_compiler_that_is_named_but_missing_is_named():
    done = run("demo", CC="no-such-compiler")
    assert done.returncode == 1
    assert "$CC = 'no-such-compiler'" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_session_named_reaches_nox(monkeypatch):
    tool = by_path.load("tools/run.py")
    asked = []
    monkeypatch.setattr(tool, "_missing_tools", lambda: "")
    monkeypatch.setattr(tool, "_bootstrap", lambda: "python")
    monkeypatch.setattr(
        tool.subprocess,
        "run",
        lambda command, **rest: asked.append(command) or subprocess.CompletedProcess(command, 0),
    )
    assert tool.main(["lint", "types", "--", "--full"]) == 0
    assert asked[0][5:] == ["-s", "lint", "types", "--", "--full"]
    assert tool.main([]) == 0
    assert asked[1][5:] == ["--list"]
