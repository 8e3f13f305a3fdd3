"""Programs: which device text computes what, compiled when first needed and kept in a folder of images.

The folder is `TAEDA_CACHE_DIR/cuda`, else `~/.cache/taeda/cuda` (`XDG_CACHE_HOME`); an image is
found by the digest of its text, options, compiler and architecture. What an installed package of
compiled kernels has (`_cubins`) is neither looked for there nor compiled. `TAEDA_CUDA_LOG=compile` names
every program that is compiled, and how long it took.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from functools import cache
from pathlib import Path

from taeda import _device_text
from taeda._io.atomic import atomic_write
from taeda._io.cache_place import cache_place
from taeda._native import core as _core
from taeda._warnings import warn

from . import _cubins, _nvrtc

__all__ = ["DTYPES", "entry", "is_kept", "program"]

#: dtypes as texts call them, each at the place of its number
DTYPES = tuple(sorted(_core.dtype_numbers, key=_core.dtype_numbers.__getitem__))

OPTIONS = ("--std=c++17", "--fmad=false", "--device-as-default-execution-space")


def program(
    kind: str, name: str, dtype: int, source: int, how: str, arch: int, anew: bool = False
) -> tuple[bytes, str]:
    """The image and the symbol of one kernel; what `csrc/cuda/program.c` asks for.

    `kind` is "loop" (the line `name` of a table, which computes in `dtype`), "cast" (from `source`
    to `dtype`), "copy" or "negate". With `anew` it is compiled, whatever is kept: the driver refused
    that. NotImplementedError if there is no device text for it.
    """
    found = _found(kind, name, DTYPES[dtype], DTYPES[source], how)
    return _renewed(*found, arch) if anew else _kept(*found, arch)


def is_kept(kind: str, name: str, dtype: str, source: str, how: str, arch: int) -> bool:
    """Would `program` find it compiled? Dtypes by their names in `DTYPES`."""
    found = _found(kind, name, dtype, source, how)
    if _packed(*found, arch):
        return True
    path = _path(*found, arch)
    return path is not None and _read(path) is not None


def entry(kind: str, name: str, dtype: str, source: str, how: str, arch: int) -> tuple[str, bytes]:
    """The digest and the content by which a package of compiled kernels carries a program."""
    found = _found(kind, name, dtype, source, how)
    image, symbol = _kept(*found, arch)
    return _digest(*found, arch), _content(image, symbol)


def _found(
    kind: str, name: str, dtype: str, source: str, how: str
) -> tuple[str, dict[str, str], str]:
    """Text, headers and the kernel's name."""
    family, loop = _loop(kind, name, dtype, source)
    text = _device_text.FAMILIES[family].text
    return _device_text.kernel(family), _device_text.headers(text), f"td_{how}<{loop}>"


def _loop(kind: str, name: str, dtype: str, source: str) -> tuple[str, str]:
    if kind == "loop":
        found = _device_text.loops().get(f"{name} {dtype}")
        if found is None:
            raise NotImplementedError(
                f'the elementwise loop "{name}" of {dtype} has no device text yet'
            )
        return found[0], found[1]
    if kind == "cast" and (dtype.startswith(("F8_", "Q")) or source.startswith(("F8_", "Q"))):
        raise NotImplementedError(
            f"conversions between {source} and {dtype} are not implemented for device 'cuda'"
        )
    row = _device_text.find(kind, name, dtype)
    if row is None:
        what = "reduction" if kind == "reduce" else f"work of {kind}"
        raise NotImplementedError(f'the {what} "{name}" of {dtype} has no device text yet')
    family, programs = row
    return family, programs.symbol_of(name, dtype, source)


# ---- the folder of images ----


def place() -> Path:
    """Where images are to be kept."""
    return cache_place("cuda")


@cache
def folder() -> Path | None:
    """Where images are kept, or None where nothing can be written."""
    path = place()
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        warn(f"compiled kernels are not kept: {error}; TAEDA_CACHE_DIR names another folder")
        return None
    return path


def _digest(text: str, headers: dict[str, str], name: str, arch: int, *compiler: str) -> str:
    parts = (text, repr(sorted(headers.items())), name, repr(OPTIONS), *compiler, str(arch))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def _path(text: str, headers: dict[str, str], name: str, arch: int) -> Path | None:
    digest = _digest(text, headers, name, arch, repr(_nvrtc.version()))
    place = folder()
    return place / f"{digest}.bin" if place else None


def _content(image: bytes, symbol: str) -> bytes:
    return symbol.encode() + b"\n" + image


def _taken_apart(content: bytes) -> tuple[bytes, str] | None:
    """Image and symbol; None for what is not whole."""
    symbol, _, image = content.partition(b"\n")
    return (image, symbol.decode()) if symbol and image else None


def _read(path: Path) -> tuple[bytes, str] | None:
    return _taken_apart(path.read_bytes()) if path.is_file() else None


def _packed(text: str, headers: dict[str, str], name: str, arch: int) -> tuple[bytes, str] | None:
    content = _cubins.find(_digest(text, headers, name, arch), arch)
    return _taken_apart(content) if content else None


def _kept(text: str, headers: dict[str, str], name: str, arch: int) -> tuple[bytes, str]:
    if packed := _packed(text, headers, name, arch):
        return packed
    path = _path(text, headers, name, arch)
    if path is not None and (found := _read(path)):
        return found
    return _renewed(text, headers, name, arch)


def _renewed(text: str, headers: dict[str, str], name: str, arch: int) -> tuple[bytes, str]:
    path = _path(text, headers, name, arch)
    made = _compiled(text, headers, name, arch)
    if path is not None:
        _write(path, _content(*made))
    return made


def _compiled(text: str, headers: dict[str, str], name: str, arch: int) -> tuple[bytes, str]:
    begin = time.perf_counter()
    made = _nvrtc.compile_text(text, headers, name, (*OPTIONS, f"--gpu-architecture=sm_{arch}"))
    if "compile" in os.environ.get("TAEDA_CUDA_LOG", ""):
        took = 1000 * (time.perf_counter() - begin)
        print(f"taeda.cuda: compiled {name} for sm_{arch} in {took:.0f} ms", file=sys.stderr)
    return made


def _write(path: Path, content: bytes) -> None:
    """Another process sees all of it or nothing. A full disk costs the image only."""
    try:
        with atomic_write(path, len(content), sync="off") as file:
            file.write(content)
    except OSError as error:
        warn(f"a compiled kernel could not be kept: {error}")
