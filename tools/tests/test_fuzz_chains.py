"""The fuzzer of chains passes those that are right, and finds a text that is not."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from taeda.compiler import config
from taeda.compiler._kernels import text as _text

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import fuzz_chains

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    monkeypatch.setattr(config, "chains", config.chains)


def test_right_chains_pass(capsys):
    assert fuzz_chains.main(6, 0) == 0
    assert ", 0 runs differ" in capsys.readouterr().out


def test_short_floats_that_are_not_rounded_are_found(capsys, monkeypatch):
    monkeypatch.setattr(_text, "_EXACT", (*fuzz_chains.ONE, *fuzz_chains.TWO, "pow", "clamp"))
    monkeypatch.setattr(fuzz_chains, "DTYPES", (fuzz_chains.taeda.bfloat16,))
    assert fuzz_chains.main(6, 50) == 1
    assert "as C: result" in capsys.readouterr().out
