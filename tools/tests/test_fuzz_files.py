"""Changed files are made the same way every time, reach behind the first checks, and do no harm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

TOOLS = Path(__file__).parents[1] / "hunt"
sys.path.insert(0, str(TOOLS))
import fuzz_files  # noqa: E402 - found through the line above
from mutate_files import FORMS, mutant  # noqa: E402

import taeda  # noqa: E402


@pytest.fixture(autouse=True)
def _modules_are_allowed():
    fuzz_files.allow_modules()
    yield
    taeda.serialization.clear_safe_globals()


@pytest.mark.parametrize("form", FORMS)
def test_the_good_files_are_accepted(form):
    seeds, _ = FORMS[form]
    assert [fuzz_files.attempt(data, form) for data in seeds()] == ["accepted"] * len(seeds())


@pytest.mark.parametrize("form", FORMS)
def test_the_same_number_makes_the_same_file(form):
    assert mutant(form, Random("a")) == mutant(form, Random("a"))
    assert len({mutant(form, Random(str(i))) for i in range(20)}) > 10


@pytest.mark.slow
def test_a_bounded_run():
    done = subprocess.run(
        [sys.executable, str(TOOLS / "fuzz_files.py"), "--files", "2400"],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2400 files, 0 findings" in done.stdout
    assert all(f"{form} accepted" in done.stdout for form in FORMS)  # some changes are harmless


def test_what_should_not_be_is_told(monkeypatch):
    import taeda

    def fails(*_, **__):
        raise KeyError("x")

    monkeypatch.setattr(taeda, "load", fails)
    assert fuzz_files.attempt(b"") == "undocumented: KeyError: 'x'"
