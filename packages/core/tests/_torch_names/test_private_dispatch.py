"""Dispatch keys and transforms."""

import pytest

import taeda
from taeda._torch_names import private_dispatch as ask


def test_keys_are_text():
    keys = ask.KeySet(ask.Key().AutocastCPU) | ask.KeySet("AutocastCUDA")
    assert keys.has("AutocastCPU")
    assert keys.has("AutocastCUDA")
    assert not keys.has("CPU")
    with pytest.raises(AttributeError):
        ask.Key().__nothing__


def test_keys_that_are_no_layer_are_refused():
    with ask.Excluded(ask.KeySet("AutocastCPU")):
        pass
    with pytest.raises(RuntimeError, match="no layer that is ADInplaceOrView"):
        ask.Excluded(ask.KeySet("ADInplaceOrView"))


def test_maps_are_seen():
    func = pytest.importorskip("taeda.func", reason="maps come with taeda-autograd")
    seen = []

    def look(x):
        seen.append((ask.maps_at_work(), ask.is_mapped(x), ask.dimension(x)))
        seen.append(tuple(ask.value_of(x).shape))
        return x

    func.vmap(look)(taeda.ones(3, 2))
    assert seen == [(True, True, 0), (3, 2)]
    plain = taeda.ones(2)
    assert not ask.maps_at_work()
    assert not ask.is_mapped(plain)
    assert ask.value_of(plain) is plain
    assert ask.dimension(plain) == -1
    assert ask.never(plain) is False


def test_modes_are_seen():
    class Quiet(taeda.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    assert not ask.function_mode()
    with Quiet():
        assert ask.function_mode()


def test_shared_memory():
    x = taeda.ones(4)
    assert ask.shares(x, x[2:])
    assert not ask.shares(x, x.clone())


def test_the_name_of_other_backends():
    assert ask.backend_name() == "privateuseone"


def test_the_default_device_by_its_kind():
    assert ask.default_device() == "cpu"
    with taeda.device("meta"):
        assert ask.default_device() == "meta"
