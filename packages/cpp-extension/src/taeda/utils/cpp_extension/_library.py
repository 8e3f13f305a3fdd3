"""For packages that ship a compiled operator: build its library, name its wheel."""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from . import _cuda
from ._build import Request, building, link_flags, units

__all__ = ["build_library", "wheel_tag"]


def build_library(
    name: str,
    sources: Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    extra_cflags: Sequence[str] = (),
    extra_cuda_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: Sequence[str] = (),
    build_directory: str | PathLike[str] | None = None,
    verbose: bool = False,
) -> Path:
    """Compile `sources` to the shared library `out`, where something changed, and return its path.
    Loads nothing.

    Objects go to `build_directory`, `build/` beside `out`'s folder unless given. Errors are those of `load`.

    Args:
        name: what TAEDA_EXTENSION_NAME stands for: the namespace of the operators
        sources: C, C++ or CUDA files
        out: the library's path
        extra_cflags: further flags of the C and C++ compilers, one a text
        extra_cuda_cflags: further flags of nvcc
        extra_ldflags: further flags of the linker
        extra_include_paths: folders of headers, searched before those of taeda
        build_directory: where objects lie (default: None)
        verbose: print each command and what the compiler says (default: False)

    >>> import ctypes, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = Path(folder, "seven.c")
    ...     _ = source.write_text("int seven(void) { return 7; }")
    ...     path = build_library("seven", [source], Path(folder, "package", "seven.so"))
    ...     ctypes.CDLL(str(path)).seven()
    7
    """
    paths = tuple(Path(source).absolute() for source in sources)
    target = Path(out).absolute()
    request = Request(
        name,
        paths,
        Path(build_directory or target.parent.parent / "build" / target.stem).absolute(),
        cflags=tuple(extra_cflags),
        cuda_cflags=tuple(extra_cuda_cflags),
        ldflags=tuple(extra_ldflags),
        include_paths=tuple(extra_include_paths),
        cuda=any(path.suffix in _cuda.SUFFIXES for path in paths),
        verbose=verbose,
    )
    with building(request) as build:
        return build.link(build.compile(units(request)), target, link_flags(request))


def wheel_tag() -> str:
    """The tag of a wheel with such a library: any Python 3, no Python ABI, this platform.

    >>> wheel_tag().startswith("py3-none-")
    True
    """
    return f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
