"""The tool that counts examples finds names without one, and its limits only fall."""

import threading
import typing

import by_path

examples = by_path.load("tools/hold/examples.py")


def shown():
    """Do it.

    >>> 1 + 1
    2
    """


def silent():
    """Do it, as `>>>` would."""


class ByMethod:
    """A class."""

    def method(self):
        """Do it.

        >>> 1
        1
        """


class Silent(ByMethod):
    """Its base has an example, it has none."""


class Wrong(Exception):
    """Raised."""


def test_an_example_is_a_line_of_its_own_or_of_a_method():
    asked = (shown, silent, ByMethod, Silent)
    assert [examples.has_example(value) for value in asked] == [True, False, True, False]


def test_exceptions_and_constants_need_none(monkeypatch):
    monkeypatch.setattr(shown, "__module__", "taeda.here")
    monkeypatch.setattr(ByMethod, "__module__", "taeda")
    monkeypatch.setattr(Wrong, "__module__", "taeda")
    assert [examples.needs_one(value) for value in (shown, ByMethod, Wrong, 3)] == [
        True,
        True,
        False,
        False,
    ]


def test_what_python_defines_needs_none():
    assert not any(map(examples.needs_one, (threading.Lock, typing.List, list)))  # noqa: UP006


def test_what_another_package_defines_needs_none_and_the_nameless_do(monkeypatch):
    monkeypatch.setattr(silent, "__module__", "tqdm.auto")
    monkeypatch.setattr(shown, "__module__", None)
    assert [examples.needs_one(value) for value in (silent, shown)] == [False, True]


def test_more_than_may_is_said_and_unknown_modules_may_none():
    found = {"a": (3, ["a.x", "a.y"]), "b": (1, ["b.x"]), "c": (1, [])}
    assert examples.over(found, {"a": 2}) == ["b: 1 have no example, and 0 may: b.x"]
    assert len(examples.over(found, {"a": 1, "b": 1})) == 1


def test_limits_fall_and_do_not_rise():
    found = {"a": (3, ["a.x", "a.y"]), "b": (1, ["b.x"]), "c": (1, [])}
    text = examples.lowered(found, {"a": 3, "b": 0, "c": 5})
    assert examples.limits(text) == {"a": 2}


def test_the_limits_name_modules_of_the_reference():
    most = examples.limits(examples.LIMITS.read_text())
    assert set(most) <= set(examples.counts()) and all(number > 0 for number in most.values())
