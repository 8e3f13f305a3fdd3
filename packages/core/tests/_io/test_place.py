"""Where loaded tensors go."""

from __future__ import annotations

import pytest

import taeda
from taeda._io import place
from taeda._io.place import Place, register_package, tag_of
from taeda._io.safetensors import FormatError


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    monkeypatch.setattr(place, "_registered", [])


@pytest.fixture
def data():
    return taeda.arange(4, dtype=taeda.uint8)


@pytest.mark.parametrize(
    ("given", "location", "meta"),
    [
        (None, "cpu", False),
        ("meta", "cpu", True),
        ("cpu", "cuda:3", False),
        (taeda.device("meta"), "cuda:3", True),
        ({"cuda:0": "meta"}, "cuda:0", True),
        ({"cuda:0": "meta"}, "cpu", False),
    ],
)
def test_map_location_in_its_forms(given, location, meta, data):
    where = Place(given)
    assert where.is_meta(location) is meta is where.is_meta(location)
    if not meta:
        assert where.moved(data, location) is data


def test_a_function_may_give_another_storage(data):
    other = taeda.tensor([9, 8, 7, 6], dtype=taeda.uint8)
    where = Place(lambda storage, location: other.untyped_storage() if location == "a" else None)
    assert not where.is_meta("a")
    assert where.moved(data, "a").tolist() == [9, 8, 7, 6]
    assert where.moved(data, "cpu") is data
    for wrong in (taeda.ones(1, dtype=taeda.uint8).untyped_storage(), 3):
        with pytest.raises(FormatError, match="a storage of the same size or None, got"):
            Place(lambda storage, location, wrong=wrong: wrong).moved(data, "cpu")


def test_a_device_that_is_not_here(data):
    with pytest.raises(
        RuntimeError,
        match=r"from the device 'hpu:7', which is not here .*load "
        r"with map_location='cpu'",
    ):
        Place(None).is_meta("hpu:7")
    with pytest.raises(RuntimeError, match="load with map_location='cpu'"):
        Place("smoke").is_meta("cpu")
    with pytest.raises(RuntimeError, match="load with map_location='cpu'"):
        Place("smoke").moved(data, "cpu")


def test_packages_are_asked_in_their_order(data):
    told = []

    def package(name, answer):
        def tagger(storage):
            told.append(name)
            return answer

        def deserializer(storage, where):
            told.append((name, where))
            return taeda.full((4,), ord(name), dtype=taeda.uint8).storage() if answer else None

        return tagger, deserializer

    register_package(20, *package("b", "there"))
    register_package(10, *package("a", None))
    assert tag_of(data) == "there" and told == ["a", "b"]
    told.clear()
    assert Place(None).moved(data, "x").tolist() == [ord("b")] * 4
    assert told == [("a", "x"), ("b", "x")]
    assert not Place("cpu").is_meta("x") and Place("meta").is_meta("x")


def test_the_cpu_answers_after_all():
    assert tag_of(taeda.ones(1)) == "cpu" and tag_of(taeda.ones(1, device="meta")) == "meta"


def test_names_of_places_and_back(data):
    storage = data.untyped_storage()
    assert (
        taeda.serialization.location_tag(storage)
        == "cpu"
        == taeda.serialization.location_tag(data.storage())
    )
    assert (
        taeda.serialization.location_tag(taeda.empty(3, device="meta").untyped_storage()) == "meta"
    )
    restored = taeda.serialization.default_restore_location(storage, "cpu")
    assert restored.data_ptr() == storage.data_ptr()
    register_package(5, lambda s: "shelf", lambda s, place: s.clone() if place == "shelf" else None)
    assert taeda.serialization.location_tag(storage) == "shelf"
    assert (
        taeda.serialization.default_restore_location(storage, "shelf").data_ptr()
        != storage.data_ptr()
    )
    with pytest.raises(RuntimeError, match="map_location='cpu'"):
        taeda.serialization.default_restore_location(storage, "elsewhere")
    with pytest.raises(TypeError, match="wanted a storage, got int"):
        taeda.serialization.location_tag(3)
