"""Calls of MKL and oneDNN are not promised to be printed."""

import pytest

import taeda


@pytest.mark.parametrize("name", ["mkl", "mkldnn"])
def test_calls_that_are_never_made_are_not_promised_to_be_printed(name):
    module = getattr(taeda.backends, name)
    with module.verbose(module.VERBOSE_OFF):
        pass
    with pytest.raises(RuntimeError, match="not used"), module.verbose(module.VERBOSE_ON):
        pass
