"""Layers put back in float: what the model gains, the bar, the picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from quantized_models import DATA, static, weights_alone

import taeda
from taeda.quantization import Sensitivity, int4_weight_only, sensitivity


@pytest.mark.parametrize(
    "made", [lambda: weights_alone(int4_weight_only()), static], ids=["weights", "static"]
)
def test_each_layer_is_put_back(made):
    model, small = made()
    before = small(DATA[0])
    found = sensitivity(model, small, DATA, progress=False)
    assert len(found.rows) == 3
    gains = [row.gain for row in found.rows]
    assert gains == sorted(gains, reverse=True) and gains[0] > 0
    assert all(row.gain == pytest.approx(found.error - row.error) for row in found.rows)
    assert all(row.bytes_more > 0 for row in found.rows)
    assert taeda.equal(small(DATA[0]), before)  # it stays as it is


def test_a_model_with_one_layer_has_no_error_without_it():
    model, small = weights_alone(int4_weight_only())
    for at in (0, 2):
        small[at] = model[at]
    found = sensitivity(model, small, DATA, progress=False)
    assert found.rows[0].error == 0
    assert found.rows[0].gain == found.error


def test_the_bar(capsys):
    sensitivity(*weights_alone(), DATA)
    shown = capsys.readouterr().err
    assert shown.count("\r") == 3
    assert shown.endswith(f"[{'#' * 40}] 3 of 3\n")


def test_a_function_is_told():
    told = []
    sensitivity(*weights_alone(), DATA, progress=lambda *given: told.append(given))
    assert told == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(TypeError, match="progress is a bool or a function"):
        sensitivity(*weights_alone(), DATA, progress=3)


def test_the_picture_and_the_table(tmp_path):
    found = sensitivity(*weights_alone(), DATA, progress=False)
    found.draw(tmp_path / "layers.svg")
    space = "{http://www.w3.org/2000/svg}"
    root = ET.parse(tmp_path / "layers.svg").getroot()
    widths = [float(bar.get("width")) for bar in root.iter(f"{space}rect")]
    assert len(widths) == 3 and max(widths) == 360
    assert str(found).splitlines()[-1].startswith("all quantized: error")
    Sensitivity((), 0.0).draw(tmp_path / "none.svg")
