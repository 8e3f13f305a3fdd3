"""Build operators written in C, C++ or CUDA, while a program runs (`load`, `load_inline`) or for a wheel.

>>> from taeda.utils.cpp_extension import include_paths
>>> len(include_paths())
2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._build import default_root as get_default_build_root
from ._build import include_paths, library_paths
from ._cuda import cuda_home
from ._library import build_library, wheel_tag
from ._load import NO_SYCL, load, load_inline
from ._module import import_library
from ._toolchain import (
    check_compiler_is_gcc,
    check_compiler_ok_for_platform,
    get_compiler_abi_compatibility_and_version,
    get_cxx_compiler,
    is_ninja_available,
    verify_ninja_availability,
)

if TYPE_CHECKING:
    CUDA_HOME: str | None

    from ._setuptools import BuildExtension, CppExtension, CUDAExtension

__all__ = [
    "CUDA_HOME",
    "BuildExtension",
    "CUDAExtension",
    "CppExtension",
    "SyclExtension",
    "build_library",
    "check_compiler_is_gcc",
    "check_compiler_ok_for_platform",
    "get_compiler_abi_compatibility_and_version",
    "get_cxx_compiler",
    "get_default_build_root",
    "import_library",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
    "verify_ninja_availability",
    "wheel_tag",
]

_FOR_SETUP = ("BuildExtension", "CUDAExtension", "CppExtension")


def SyclExtension(name: str, sources: list[str], *args: Any, **kwargs: Any) -> Any:  # noqa: N802 - the API's name
    """Refused: NotImplementedError. taeda has no SYCL devices.

    Args:
        name: the module's name, for the error's text
        sources: not read

    >>> SyclExtension("fast.sums", ["sums.sycl"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: fast.sums: ...
    """
    raise NotImplementedError(f"{name}: {NO_SYCL}")


def __getattr__(name: str) -> Any:
    """The setuptools classes, when they are first named: setuptools takes half a second, and may be
    missing. CUDA_HOME is the folder of the CUDA toolkit, or None.
    """
    if name == "CUDA_HOME":
        return _cuda_home()
    if name not in _FOR_SETUP:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import _setuptools
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("setuptools"):
            raise
        raise AttributeError(
            f"taeda.utils.cpp_extension.{name} needs setuptools, which is not installed: pip "
            "install setuptools"
        ) from None
    return getattr(_setuptools, name)


def _cuda_home() -> str | None:
    try:
        return str(cuda_home())
    except OSError:
        return None


def __dir__() -> list[str]:
    return sorted({*globals(), *_FOR_SETUP, "CUDA_HOME"})
