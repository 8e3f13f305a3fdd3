"""The text of masked tensors."""

from __future__ import annotations

import taeda
from taeda.masked import masked_tensor


def test_text():
    x = masked_tensor(taeda.arange(4.0).reshape(2, 2), taeda.eye(2) > 0)
    assert repr(x) == (
        "MaskedTensor(\n  [\n    [  0.0000,       --],\n    [      --,   3.0000]\n  ]\n)"
    )
    assert repr(x.sum()) == "MaskedTensor(  3.0000, True)"
    assert repr(x[0, 1]) == "MaskedTensor(--, False)"
    assert repr(masked_tensor(taeda.zeros(0), taeda.zeros(0) > 0)) == "MaskedTensor(\n  []\n)"
