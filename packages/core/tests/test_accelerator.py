"""What is asked of an accelerator where there is none."""

import pytest

import taeda


def test_calls_that_are_safe_without_a_device():
    taeda.cuda.manual_seed(1)
    taeda.cuda.manual_seed_all(1)
    taeda.cuda.empty_cache()
    assert taeda.cuda.memory_allocated() == taeda.cuda.max_memory_reserved() == 0
    assert taeda.cuda.get_rng_state_all() == []
    assert taeda.accelerator.current_accelerator() is None
    with pytest.raises(ValueError, match="invalid literal"):
        taeda.cuda.manual_seed("one")


def test_the_accelerator_refuses_in_known_words():
    accelerator = taeda.accelerator
    for name in ("current_device_index", "synchronize", "empty_cache", "memory_allocated"):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
            getattr(accelerator, name)()
    with accelerator.device_index(None):
        pass
    with pytest.raises(RuntimeError, match="Cannot access"), accelerator.device_index(0):
        pass
