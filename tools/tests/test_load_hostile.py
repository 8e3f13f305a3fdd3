"""The generator makes what it promises, and the watch over children sees what it is there for."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "hunt"
sys.path.insert(0, str(TOOLS))
import load_hostile  # noqa: E402 - found through the line above
from hostile_files import FAMILIES, every, words  # noqa: E402


def test_each_has_one_name():
    names = [(family, name) for family, name, _ in every(12)]
    assert len(names) == len(set(names)) == 144
    assert {family for family, _ in names} == set(FAMILIES)


def test_the_same_file_every_time():
    assert list(every(3)) == list(every(3))


def test_a_good_file_is_told_apart():
    """What the rules are made from is read right; else all would be refused for a reason of no interest."""
    import io

    import taeda

    assert taeda.load(io.BytesIO(words.pt(words.tensor()))).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.slow
def test_some_of_each_family_are_refused():
    done = subprocess.run(
        [sys.executable, str(TOOLS / "load_hostile.py"), "--most", "2"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 kinds of file" in done.stdout


def test_accepting_running_and_growing_are_seen(tmp_path, monkeypatch):
    import taeda

    path = str(tmp_path / "file")
    evil = pickle.dumps(Evil())

    def outcome(load):
        monkeypatch.setattr(taeda, "load", load)
        return load_hostile.attempt("f", "n", evil, path, "path").problem

    assert outcome(lambda *_, **__: 5) == "accepted"
    assert outcome(lambda f, **_: pickle.loads(Path(f).read_bytes())) == "did what a reader may not"
    assert (
        outcome(lambda *_, **__: Path("/etc/hostname").read_text()) == "did what a reader may not"
    )
    assert outcome(lambda *_, **__: raises(RuntimeError("refused: so"))) == ""
    assert outcome(lambda *_, **__: raises(RuntimeError(""))) == "said nothing"
    assert outcome(lambda *_, **__: raises(KeyError("x"))) == "undocumented error"
    assert outcome(lambda *_, **__: raises(EOFError(len(b"x" * (64 << 20))))).startswith("took 6")


def test_memory_that_malloc_kept_does_not_hide_what_reading_takes(tmp_path, monkeypatch):
    import taeda

    numbers = [bytes(100_000) for _ in range(1000)]
    last = bytes(100_000)  # stands behind them, so that malloc cannot give their pages back
    del numbers

    def load(*_, **__):
        raise EOFError(len([bytes(100_000) for _ in range(600)]))

    monkeypatch.setattr(taeda, "load", load)
    outcome = load_hostile.attempt("f", "n", b"x", str(tmp_path / "file"), "path")
    assert last
    assert outcome.problem.startswith("took 5"), outcome


class Evil:
    def __reduce__(self):
        return (print, ("hostile",))


def raises(error):
    raise error
