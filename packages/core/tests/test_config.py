"""What the library says of itself."""

from __future__ import annotations

import platform

import taeda
from taeda import __config__


def test_lines():
    first, *rest = __config__.show().splitlines()
    assert first == f"taeda {taeda.__version__}"
    assert [line.partition(":")[0].strip(" -") for line in rest[:2]] == ["CPU kernels", "BLAS"]
    assert platform.python_version() in rest[2]
    assert f"get_num_threads() : {taeda.get_num_threads()}\n" in __config__.parallel_info()
