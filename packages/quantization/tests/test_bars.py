"""The picture: lengths, names of any characters, nothing half written."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from taeda.quantization._bars import draw

SPACE = "{http://www.w3.org/2000/svg}"


def test_bars_are_as_long_as_they_say(tmp_path):
    path = tmp_path / "a.svg"
    draw(
        [("first", 2.0, ""), ("second", 0.5, ""), ("none", 0.0, ""), ("less", -1.0, "")],
        "length",
        path,
    )
    found = list(ET.parse(path).getroot().iter(f"{SPACE}rect"))
    assert [float(bar.get("width")) for bar in found] == [360.0, 90.0, 0.0, 180.0]
    colours = [bar.get("fill") for bar in found]
    assert colours[0] == colours[1] == colours[2] != colours[3]


def test_names_are_text(tmp_path):
    path = tmp_path / "a.svg"
    draw([("a<b>&", 1.0, "<2"), ("x" * 99, -1.0, "")], "<&>", path)
    shown = [part.text for part in ET.parse(path).getroot().iter(f"{SPACE}text")]
    assert shown[:2] == ["<&>", "a<b>&"]
    assert "x" * 40 in shown and "1.00e+00, <2" in shown and "-1.00e+00" in shown


def test_an_old_picture_stays_where_a_new_one_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError):
        draw([], "length", tmp_path / "none" / "a.svg")
    assert list(tmp_path.iterdir()) == []
