"""What fuzzing found once is refused with words, as a path, mapped, and from an open file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import taeda

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = [path for path in sorted(CORPUS.iterdir()) if path.suffix != ".md"]
OUTCOMES = {
    "gguf-with-a-huge-dimension": "cannot be",
    "safetensors-of-65-dimensions": "at most 64",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_outcome(path):
    wanted = OUTCOMES[path.name]
    for load in (
        lambda: taeda.load(path),
        lambda: taeda.load(path, mmap=True),
        lambda: taeda.load(io.BytesIO(path.read_bytes())),
    ):
        with pytest.raises(RuntimeError, match=wanted):
            load()
