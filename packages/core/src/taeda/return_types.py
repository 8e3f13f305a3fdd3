"""The named tuples that operations with several results return: `taeda.max(x, 0).indices`."""

from ._native import core as _core

globals().update(_core.result_types())
