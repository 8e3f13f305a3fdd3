"""What tensors say of layouts that no package here makes."""

from __future__ import annotations

import pytest

import taeda


def test_no_layout_of_mkldnn():
    assert not taeda.backends.mkldnn.is_available() and not taeda.ones(2).is_mkldnn
    for arguments in ((), (taeda.bfloat16,)):
        with pytest.raises(RuntimeError, match=r"no MKL-DNN layout in this build.*is_available"):
            taeda.ones(2).to_mkldnn(*arguments)
