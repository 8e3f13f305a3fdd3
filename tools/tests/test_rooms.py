"""Rooms of a package import downward only, and its README tells what each file and folder holds."""

from __future__ import annotations

from types import SimpleNamespace

import by_path
import pytest

rooms, packages = by_path.load("tools/hold/rooms.py"), by_path.load("tools/packages.py")

FLOORS = ("base", "_low", "_high")


def test_our_rooms_hold():
    assert rooms.check(packages.load().values()) == []


@pytest.mark.parametrize("name", rooms.ROOMS)
def test_every_room_is_there(name):
    module, floors = rooms.ROOMS[name]
    folder = packages.load()[name].folder.joinpath("src", *module.split("."))
    there = {path.stem for path in folder.iterdir()}
    assert {room for floor in floors for room in floor.split()} <= there


def source(tmp_path, files):
    for name, text in files.items():
        path = tmp_path / "src" / "p" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "src"


SOURCES = {
    "downward": ({"_high/a": "from .._low.b import x\nfrom ..base import y"}, []),
    "its own room": ({"_low/a": "from .b import x\nfrom . import b"}, []),
    "the top uses all": ({"top": "from ._high.a import x\nfrom .base import y"}, []),
    "upward": ({"_low/a": "import os\nfrom .._high.b import x"}, ["p/_low/a.py:2: _low imports _high"]),
    "a module": ({"_low/a": "from .._high import b"}, ["p/_low/a.py:1: _low imports _high"]),
    "the whole": ({"base": "import p._low.a"}, ["p/base.py:1: base imports _low"]),
    "from the top": ({"_high/a": "from ..public import x"}, ["p/_high/a.py:1: _high imports public"]),
    "in a function": ({"_low/a": "def f():\n    from .._high.b import x"}, ["p/_low/a.py:2: _low imports"]),
}  # fmt: skip


@pytest.mark.parametrize(("files", "wanted"), SOURCES.values(), ids=SOURCES)
def test_imports_between_rooms(tmp_path, files, wanted):
    found = list(rooms.upward(source(tmp_path, files), "p", FLOORS))
    assert len(found) == len(wanted)
    assert all(sentence.startswith(start) for sentence, start in zip(found, wanted, strict=True))


def test_what_the_map_leaves_out(tmp_path):
    source(tmp_path, {"__init__": "", "base": "", "_low/a": "", "told": ""})
    (tmp_path / "README.md").write_text(
        "`base.py` in prose\n| in `src/p` | holds |\n| `told.py`, `_low` | x |"
    )
    (sentence,) = rooms.unmapped(tmp_path, "p")
    assert "what base.py holds" in sentence


def test_a_package_without_rooms_is_left_alone(tmp_path):
    assert rooms.check([SimpleNamespace(name="taeda-other", folder=tmp_path)]) == []
