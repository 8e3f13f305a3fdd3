"""What siblings use of core: every listed name is there, says what it is, and is no other thing
than core's own.
"""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import taeda
from taeda import _core_api

ROOMS = [
    "taeda._core_api",
    *(m.name for m in pkgutil.iter_modules(_core_api.__path__, "taeda._core_api.")),
]
NAMES = [(room, name) for room in ROOMS for name in importlib.import_module(room).__all__]


@pytest.mark.parametrize(("room", "name"), NAMES)
def test_a_listed_name_is_there_and_documented(room, name):
    found = getattr(importlib.import_module(room), name)
    assert found is not None
    if callable(found):
        assert (found.__doc__ or "").strip(), f"{room}.{name} says nothing of itself"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_all_it_holds(room):
    module = importlib.import_module(room)
    tools = {
        "annotations",
        "functools",
        "importlib",
        "Any",
        "Callable",
        "Mapping",
        "MappingProxyType",
        "SimpleNamespace",
    }
    rooms = {name.rpartition(".")[2] for name in ROOMS}
    held = {name for name in vars(module) if not name.startswith("_")} - tools - rooms
    assert held <= set(module.__all__)
    assert module.__doc__
    assert list(module.__all__) == sorted(
        module.__all__, key=lambda n: (not n.isupper(), not n[:1].isupper(), n)
    )


def test_the_summary_names_every_room():
    assert all(f"    {room.rpartition('.')[2]} " in _core_api.__doc__ for room in ROOMS[1:])


def test_the_shim_hands_the_operators_of_nn_on():
    from taeda._core_api.operators import nn

    shim = vars(taeda._C._nn)
    assert len(vars(nn)) > 50
    assert all(shim[name] is operator for name, operator in vars(nn).items())
    assert nn.linear(taeda.ones(1, 2), taeda.ones(3, 2)).tolist() == [[2, 2, 2]]
