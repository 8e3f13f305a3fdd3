"""Files of kinds of tensors: good ones are read, broken ones differ from them, and are saved."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import kind_files

import taeda


@pytest.mark.parametrize("name", kind_files.KINDS)
def test_what_comes_back_is_read(name):
    x = kind_files.KINDS[name]()
    kind_files.read(x)
    file = io.BytesIO()
    taeda.save(x, file)
    file.seek(0)
    kind_files.read(taeda.load(file))


@pytest.mark.parametrize("form", ["taeda", "pt"])
def test_broken_files_are_of_many_kinds(form):
    assert len({kind_files.broken(form, Random(n)) for n in range(60)}) > 30
