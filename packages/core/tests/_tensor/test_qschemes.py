"""How numbers are scaled: five words."""

from __future__ import annotations

import copy
import pickle

import taeda

NAMES = (
    "per_tensor_affine",
    "per_tensor_symmetric",
    "per_channel_affine",
    "per_channel_symmetric",
    "per_channel_affine_float_qparams",
)


def test_each_is_one_object():
    for name in NAMES:
        scheme = getattr(taeda, name)
        assert isinstance(scheme, taeda.qscheme)
        assert repr(scheme) == f"taeda.{name}"
        assert pickle.loads(pickle.dumps(scheme)) is scheme
        assert copy.deepcopy(scheme) is scheme
