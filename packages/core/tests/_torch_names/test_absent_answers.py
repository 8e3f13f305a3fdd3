"""Modules of devices that this build lacks answer alike."""

import pytest

import taeda
from taeda._torch_names import absent_answers


@pytest.mark.parametrize("kind", ["xpu", "mtia", "mps"])
def test_no_device_no_memory_and_a_seed_that_must_be_a_number(kind):
    module = getattr(taeda, kind)
    assert module.is_available() is False and module.device_count() == 0
    assert module.empty_cache() is None and module.manual_seed(1) is None
    with pytest.raises(ValueError, match="invalid literal"):
        module.manual_seed("one")


@pytest.mark.parametrize("kind", ["xpu", "mtia"])
def test_kinds_with_all_answers_have_these(kind):
    module = getattr(taeda, kind)
    for name in absent_answers.__all__:
        assert name in module.__all__ and getattr(module, name) is getattr(absent_answers, name)
    assert module.is_initialized() is False
    assert module.memory_allocated(0) == module.max_memory_allocated(0) == 0
    assert module.reset_peak_memory_stats(0) is None
