"""From sources and flags to a library, an executable or the compiler's own words.
Knows nothing of Python modules.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import taeda
from taeda._core_api import building as cc

from . import _cuda, _sentences, _toolchain
from ._threads import starts_threads

__all__ = [
    "Request",
    "building",
    "default_root",
    "include_paths",
    "library_paths",
    "link_flags",
    "units",
]

HERE = Path(__file__).parent
TORCH_INCLUDE = HERE / "include" / "torch_compat"
CORE_INCLUDE = Path(taeda.__file__).parent / "include"
CXX_SUFFIXES = (".cpp", ".cc", ".cxx", ".c++", ".C")
LAUNCH = HERE / "cuda_launch.c"
C_FLAGS = ("-O3", "-std=gnu11", "-fPIC")
CXX_FLAGS = ("-O3", "-std=c++17", "-fPIC")


@dataclass(frozen=True)
class Request:
    """What is to be built: everything that takes part in the key of the cache, and where it goes."""

    name: str
    sources: tuple[Path, ...]
    folder: Path
    cflags: tuple[str, ...] = ()
    cuda_cflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    cuda: bool = False
    device_sources: tuple[Path, ...] = ()  # for NVRTC, where there is no nvcc
    standalone: bool = False
    torch_headers: bool = True
    verbose: bool = False


def include_paths(device_type: str = "cpu") -> list[str]:
    """The folders of `taeda/abi.h` and `taeda/taeda.hpp`; for "cuda" those of the CUDA toolkit too.

    Args:
        device_type: "cpu" or "cuda"

    ValueError for another `device_type`, OSError for "cuda" without a toolkit.

    >>> from pathlib import Path
    >>> any((Path(folder) / "taeda" / "abi.h").is_file() for folder in include_paths())
    True
    """
    _check_device(device_type)
    own = [str(CORE_INCLUDE), str(HERE / "include")]
    return own + (_cuda.include_dirs() if device_type == "cuda" else [])


def library_paths(device_type: str = "cpu") -> list[str]:
    """Folders of libraries to link with: none for the CPU, because an extension links to nothing of
    taeda's.

    Args:
        device_type: "cpu" or "cuda"

    >>> library_paths()
    []
    """
    _check_device(device_type)
    found = _cuda.link_flags() if device_type == "cuda" else ()
    return [flag.removeprefix("-L") for flag in found if flag.startswith("-L")]


def _check_device(device_type: str) -> None:
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"device_type must be 'cpu' or 'cuda', got {device_type!r}")


def default_root() -> str:
    """Where extensions are built unless told otherwise: a folder of the user's own cache.

    Not the machine's temporary folder, where another user could put a library of that name first.

    >>> default_root().endswith("taeda_extensions")
    True
    """
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return str(Path(os.path.realpath(cache)) / "taeda_extensions")


def units(request: Request, space: str = "") -> list[cc.Unit]:
    """The objects of a request. ValueError for a source in no language that is known here.

    `space` is what TAEDA_EXTENSION_NAME says instead of the request's name.
    """
    include = include_paths("cuda" if request.cuda else "cpu")
    shared = tuple(f"-I{path}" for path in (*include, *request.include_paths))
    shared += ("-DTAEDA_WITH_CUDA",) * request.cuda + (
        f"-DTAEDA_EXTENSION_NAME={space or request.name}",
    )
    made, threads = {}, _thread_flags(request)
    for path in request.sources:
        if not path.is_file():
            raise FileNotFoundError(f"no source file {path}")
        compiler, flags = _language(path, request)
        if request.torch_headers and path.suffix != ".c":
            flags = (*flags, *_torch_flags(space or request.name))
        if path.suffix not in _cuda.SUFFIXES:
            flags = (*threads, *flags)
        made[path] = cc.Unit(path, (*shared, *flags), space, compiler)
    if request.cuda:
        made[LAUNCH] = cc.Unit(LAUNCH, C_FLAGS, "", _toolchain.c_compiler())
    return list(made.values())


def _thread_flags(request: Request) -> tuple[str, ...]:
    """Where sources start threads and no flag says so: programs run with `std::thread` without one, too."""
    if any(f.startswith(("-fopenmp", "-pthread")) for f in request.cflags):
        return ()
    return ("-pthread",) * starts_threads(request.sources, request.include_paths)


def _torch_flags(space: str) -> tuple[str, ...]:
    """Torch's headers by their names, behind every folder of the caller's, who may bring real ones."""
    return (
        f"-I{TORCH_INCLUDE}",  # not -idirafter: such headers are no part of the cache's key
        f"-DTORCH_EXTENSION_NAME={space}",
        "-DTORCH_API_INCLUDE_EXTENSION_H",
    )


def _language(path: Path, request: Request) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(compiler with its standing flags, flags of the user)."""
    if path.suffix in _cuda.SUFFIXES:
        host = ("-ccbin", _toolchain.cxx_compiler()[-1])
        standing = ("-O3", "-std=c++17", "-Xcompiler", "-fPIC", "-x", "cu")
        return (*_cuda.nvcc(), *host, *_cuda.arch_flags(), *standing), request.cuda_cflags
    if path.suffix in CXX_SUFFIXES:
        compiler = _toolchain.cxx_compiler()
        return (*compiler, *CXX_FLAGS, *_separate(compiler)), request.cflags
    if path.suffix == ".c":
        return (*_toolchain.c_compiler(), *C_FLAGS), request.cflags
    known = " ".join((".c", *CXX_SUFFIXES, *_cuda.SUFFIXES))
    raise ValueError(f"{path.name}: no compiler for sources that end so; known are {known}")


def _separate(compiler: tuple[str, ...]) -> tuple[str, ...]:
    """GCC makes an inline variable one for the whole process, in libraries loaded apart too: two
    versions would share it.
    """
    return ("-fno-gnu-unique",) * ("Free Software Foundation" in cc.version(compiler))


def link_flags(request: Request) -> tuple[str, ...]:
    """The words after the objects.

    A source compiled for threads of OpenMP or POSIX needs their library. Programs written for torch
    name the flag for the compiler alone, because torch's own libraries bring it.
    """
    threads = (f for f in request.cflags if f.startswith("-fopenmp") or f == "-pthread")
    cuda = _cuda.link_flags() if request.cuda else ()
    shared = () if request.standalone else ("-shared",)
    return (*shared, *threads, *_thread_flags(request), *request.ldflags, *cuda, "-lm")


@contextmanager
def building(request: Request) -> Iterator[cc.Build]:
    """Hold the folder of `request` against other builders.
    CompileError and NotReady become the RuntimeError that names the extension.
    """
    request.folder.mkdir(parents=True, exist_ok=True)
    say: Callable[[str], object] = sys.stderr.write if request.verbose else lambda text: None
    try:
        with cc.locked(request.folder):
            yield cc.Build(
                request.folder,
                _linker(request.sources),
                jobs=_toolchain.jobs(),
                say=say,
                progress=lambda line: say(f"{request.name}: {line}\n"),
            )
    except (cc.CompileError, cc.NotReady) as error:
        said = str(error)
        refused = _sentences.refused(said, request.sources)
        advice = "" if refused else _sentences.ported(said)
        text = f"Error building extension '{request.name}': {refused}{said}{advice}"
        raise RuntimeError(text) from None


def _linker(sources: Sequence[Path]) -> tuple[str, ...]:
    plain = all(path.suffix == ".c" for path in sources)
    return _toolchain.c_compiler() if plain else _toolchain.cxx_compiler()
