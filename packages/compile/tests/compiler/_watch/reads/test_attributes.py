from __future__ import annotations

import enum
from typing import NamedTuple

import pytest

import taeda


class Settings:
    rate = 2.0

    @property
    def double(self):
        return self.rate * 2


@pytest.fixture
def settings():
    return Settings()


def test_what_is_read_is_guarded(watch, settings):
    observer, result = watch(lambda x: x * settings.rate, taeda.ones(1))
    assert result.item() == 2
    holds, failing = observer.guards.compiled()
    assert holds()
    settings.rate = 3.0
    assert not holds()
    assert "rate" in failing()


def test_a_property_runs_as_a_copy(watch, settings):
    observer, result = watch(lambda x: x * settings.double, taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 4)
    settings.rate = 3.0
    assert not observer.guards.compiled()[0]()


def test_an_attribute_that_is_not_there_is_guarded(watch, settings):
    observer, result = watch(lambda x: x * getattr(settings, "scale", 5.0), taeda.ones(1))
    assert result.item() == 5
    settings.scale = 1.0
    assert not observer.guards.compiled()[0]()


def store(x, owner, value):
    owner.rate = value


@pytest.mark.parametrize(
    ("value", "reason"), [(2.0, ""), (3.0, "it stores to Settings.rate")], ids=["same", "other"]
)
def test_stores(watch, settings, value, reason):
    settings.rate = 2.0
    observer, _ = watch(store, taeda.ones(1), settings, value)
    assert observer.reason == reason
    assert settings.rate == value


def test_a_store_that_sets_up_may_not_come_again(watch, settings):
    def program(x, owner):
        owner.cache = x.shape

    observer, _ = watch(program, taeda.ones(1), settings)
    assert observer.reason == "passing: it stores to Settings.cache"


def test_a_store_that_runs_code(watch):
    class Checked:
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)

    def program(x):
        made = object.__new__(Checked)
        made.rate = x

    observer, _ = watch(program, taeda.ones(1))
    assert not observer.active


@pytest.mark.parametrize("name", ["grad_fn", "_version"])
def test_facts_of_a_tensor_that_are_not_of_its_shape(watch, name):
    observer, _ = watch(lambda x: getattr(x, name), taeda.ones(1))
    assert observer.reason == f"it reads Tensor.{name}"


def test_versions_of_what_the_run_makes(watch):
    def program(x):
        y = x + 1
        before = y._version
        y.mul_(2)
        return y, y._version - before, x.data.clone()._version

    observer, (_, counted, fresh) = watch(program, taeda.ones(1))
    assert observer.active
    assert (counted, fresh) == (1, 0)
    for shared in (lambda x: x.detach()._version, lambda x: x.view(1)._version):
        observer, _ = watch(shared, taeda.ones(1))
        assert observer.reason == "it reads Tensor._version"


def test_a_change_in_place_of_an_attribute(watch, settings):
    def program(x):
        settings.rate += 1

    observer, _ = watch(program, taeda.ones(1))
    assert settings.rate == 3
    assert "it stores to Settings.rate" in observer.reason


class Mode(enum.Enum):
    FAST = 1


class Pair(NamedTuple):
    first: taeda.Tensor
    second: taeda.Tensor

    def total(self):
        return self.first + self.second


class Adder:
    amount = 1.0

    def add(self, x):
        return x + self.amount


def test_attributes_of_members_of_an_enum_are_guarded(watch):
    Mode.FAST.scale = 2.0
    observer, result = watch(lambda x: x * Mode.FAST.scale, taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 2)
    holds, _ = observer.guards.compiled()
    assert holds()
    Mode.FAST.scale = 3.0
    assert not holds()


@pytest.mark.parametrize(
    ("kind", "name", "new", "call"),
    [
        (Pair, "total", lambda self: self.first, lambda x: Pair(x, x).total()),
        (Adder, "add", lambda self, x: x - 1, lambda x: Adder().add(x)),
        (Adder, "amount", 5.0, lambda x: Adder().add(x)),
    ],
)
def test_what_a_new_object_has_from_its_class_is_guarded(watch, monkeypatch, kind, name, new, call):
    observer, result = watch(call, taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 2)
    holds, _ = observer.guards.compiled()
    assert holds()
    monkeypatch.setattr(kind, name, new)
    assert not holds()


def test_a_tensor_that_lacks_an_attribute_stays_eager(watch):
    observer, result = watch(lambda x: x * 2 if hasattr(x, "scale") else x, taeda.ones(1))
    assert result.item() == 1
    assert "scale" in observer.reason
