"""oneDNN is not used, and its calls are not promised to be printed."""

from __future__ import annotations

import pytest

from taeda.backends import mkldnn


def test_it_is_absent():
    assert mkldnn.is_available() is False
    with mkldnn.verbose(mkldnn.VERBOSE_OFF):
        pass
    with pytest.raises(RuntimeError, match="not used"), mkldnn.verbose(mkldnn.VERBOSE_ON):
        pass


def test_flags_hold_within_their_block():
    assert mkldnn.enabled is False
    with mkldnn.flags(enabled=True):
        assert mkldnn.enabled is True
    assert mkldnn.enabled is False
    with mkldnn.flags(enabled=False, deterministic=True, allow_tf32=False):
        assert mkldnn.enabled is False
    with pytest.raises(RuntimeError, match="fp32_precision cannot be 'bf16'"):
        mkldnn.set_flags(_fp32_precision="bf16")
