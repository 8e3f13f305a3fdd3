"""Build operators written in C, C++ or CUDA, while a program runs (`load`, `load_inline`) or for a wheel.

>>> from taeda.utils.cpp_extension import include_paths
>>> len(include_paths())
2
"""

from __future__ import annotations

from ._build import default_root as get_default_build_root
from ._build import include_paths, library_paths
from ._load import load, load_inline
from ._toolchain import (
    check_compiler_is_gcc,
    check_compiler_ok_for_platform,
    get_compiler_abi_compatibility_and_version,
    get_cxx_compiler,
    is_ninja_available,
    verify_ninja_availability,
)

__all__ = [
    "check_compiler_is_gcc",
    "check_compiler_ok_for_platform",
    "get_compiler_abi_compatibility_and_version",
    "get_cxx_compiler",
    "get_default_build_root",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
    "verify_ninja_availability",
]
