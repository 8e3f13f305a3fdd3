"""Settings of cuDNN are kept and given back."""

import pytest

import taeda


def test_settings_of_cudnn_are_kept_and_given_back():
    cudnn = taeda.backends.cudnn
    assert (cudnn.benchmark, cudnn.enabled) == (False, True)
    with cudnn.flags(enabled=True, benchmark=True, benchmark_limit=3):
        assert (cudnn.benchmark, cudnn.benchmark_limit) == (True, 3)
    assert (cudnn.benchmark, cudnn.benchmark_limit, cudnn.version()) == (False, 10, None)
    with pytest.raises(KeyError), cudnn.flags(deterministic=True):
        raise KeyError
    assert cudnn.deterministic is False
