"""NNPACK is not used; the setting is kept."""

from __future__ import annotations

import pytest

from taeda.backends import nnpack


def test_the_setting_is_kept_and_given_back():
    assert nnpack.is_available() is False
    assert nnpack.set_flags(False) == (True,)
    assert nnpack.set_flags(True) == (False,)
    with nnpack.flags():
        assert nnpack.set_flags(False) == (False,)
    assert nnpack.set_flags(True) == (True,)
    with pytest.raises(KeyError), nnpack.flags(enabled=False):
        raise KeyError
    assert nnpack.set_flags(True) == (True,)
