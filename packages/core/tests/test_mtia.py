"""Devices that are absent say what to do."""

import pytest

import taeda


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mtia", "accelerator"])
def test_there_are_no_devices_of_other_kinds(kind):
    module = getattr(taeda, kind)
    assert (module.is_available(), module.device_count()) == (False, 0)


ABSENT = ("xpu", "mtia", "mps")


@pytest.mark.parametrize("kind", ABSENT)
def test_what_needs_an_absent_device_says_what_to_do(kind):
    module = getattr(taeda, kind)
    with pytest.raises(RuntimeError, match=rf"taeda\.{kind}\.is_available\(\)"):
        module.synchronize()
    with pytest.raises(RuntimeError, match="needs a"):
        module.get_rng_state()
    module.manual_seed(1)
    module.empty_cache()
    assert module.device_count() == 0
