"""What is said of a file that names classes."""

from __future__ import annotations

import pytest

from taeda._io import refusals


@pytest.fixture(autouse=True)
def free(monkeypatch):
    for name in refusals.FORCED:
        monkeypatch.delenv(name, raising=False)


def test_the_classes_and_the_two_ways_are_named():
    text = refusals.of_classes(["mine.Model", "mine.Model", "other.Part"])
    assert text.startswith("the file holds objects of mine.Model, other.Part, and classes")
    assert "add_safe_globals([Model, Part])" in text
    assert "weights_only=False" in text and "is refused here" not in text
    assert "m.E, ...," in refusals.of_classes([f"m.{letter}" for letter in "ABCDEFG"])


@pytest.mark.parametrize("name", refusals.FORCED)
@pytest.mark.parametrize(
    ("word", "acts"), [("1", True), ("YES", True), ("true", True), ("0", False), ("", False)]
)
def test_a_variable_forbids_code(name, word, acts, monkeypatch):
    monkeypatch.setenv(name, word)
    assert refusals.forced() == (name if acts else "")
    assert (f"because {name} is set" in refusals.of_classes(["a.B"])) is acts
