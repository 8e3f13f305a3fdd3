"""A picture of times."""

from __future__ import annotations

import struct
import sys

import pytest

from taeda.utils.benchmark import Measurement
from taeda.utils.benchmark._chart import draw
from taeda.utils.benchmark.measurement import TaskSpec


def measured(statement, *times):
    return Measurement(1, list(times), TaskSpec(statement, "pass"))


def size(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def test_each_measurement_has_a_row(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures are drawn by matplotlib")
    one = measured("x + y", 1e-6, 2e-6, 1.5e-6)
    draw([one], tmp_path / "one.png")
    draw([one, measured("z" * 100, 3e-3), one], tmp_path / "three.png")
    (width, height), (same, taller) = size(tmp_path / "one.png"), size(tmp_path / "three.png")
    assert width == same == 840 and taller - height == 120
    assert not [p for p in tmp_path.iterdir() if p.suffix != ".png"]


def test_without_matplotlib_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        draw([measured("x", 1.0)], tmp_path / "none.png")
    assert not list(tmp_path.iterdir())
