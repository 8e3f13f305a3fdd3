from typing import get_args

import taeda
from taeda import types


def test_aliases_are_our_types():
    assert (types._device, types._dtype, types._layout) == (taeda.device, taeda.dtype, taeda.layout)
    assert {int, float, bool} == {*get_args(types.Number)}
    assert taeda.device in get_args(types.Device) and taeda.Size in get_args(types._size)
    assert taeda.UntypedStorage in get_args(types.Storage)
