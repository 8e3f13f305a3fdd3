"""All classes that a save wants to have allowed, at once."""

from __future__ import annotations

import dataclasses
import enum
import io

import pytest

import taeda
from taeda._io.missing import classes_to_allow


class Kind(enum.Enum):
    ONE = 1


@dataclasses.dataclass
class Inner:
    kind: Kind


class Outer:
    def __init__(self):
        self.parts = [Inner(Kind.ONE), {"again": Inner(Kind.ONE)}]
        self.weight = taeda.ones(2)
        self.me = self


NAMES = [f"{__name__}.{name}" for name in ("Outer", "Inner", "Kind")]


def test_classes_are_found_below_one_another():
    assert classes_to_allow({"a": Outer()}) == NAMES
    assert classes_to_allow([1, "a", {2: (3.0, None)}, taeda.ones(2), taeda.float32]) == []
    with taeda.serialization.safe_globals([Outer, Kind]):
        assert classes_to_allow(Outer()) == [NAMES[1]]


@pytest.mark.parametrize("form", ["safetensors", "pt"])
def test_error_names_all_of_them(form):
    with pytest.raises(TypeError, match=r"cannot save") as caught:
        taeda.save([Outer()], io.BytesIO(), format=form)
    assert str(caught.value).endswith("At once: add_safe_globals([Outer, Inner, Kind])")
    assert all(name in str(caught.value) for name in NAMES)
    with pytest.raises(TypeError, match=r"cannot save") as caught:
        taeda.save(Kind.ONE, io.BytesIO(), format=form)
    assert "At once" not in str(caught.value)
