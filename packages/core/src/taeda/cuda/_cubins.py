"""Kernels that the package taeda-cuda-cubins brings compiled: where it is installed, their first use
takes no compiler, and NVRTC is not opened for them. `python -m taeda.cuda.warm --wheel DIR` makes it.

    taeda_cuda_cubins/sm_90.zip    an entry for each kernel: its digest; the symbol, a line end, the image

An entry is found by the digest of all that its image was made from but the compiler's version. So a
package that was made for other texts than these has nothing to give, and does no harm.
"""

from __future__ import annotations

import importlib.util
import os
import zipfile
import zlib
from functools import cache
from pathlib import Path
from threading import Lock

from taeda._warnings import warn

__all__ = ["PACKAGE", "archive_name", "find"]

PACKAGE = "taeda_cuda_cubins"
_lock = Lock()  # of the archives: reading one moves its place in the file


def archive_name(arch: int) -> str:
    """The file of an architecture: `sm_90.zip` for 90."""
    return f"sm_{arch}.zip"


def find(digest: str, arch: int) -> bytes | None:
    """The entry with this digest, or None. An archive that cannot be read is told once."""
    archive = _archive(arch, os.getpid())
    if archive is None:
        return None
    try:
        with _lock:
            return archive.read(digest)
    except KeyError:
        return None
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        warn(f"{archive.filename} is damaged, so kernels are compiled: {error}; reinstall it")
        return None


@cache
def _archive(arch: int, process: int) -> zipfile.ZipFile | None:
    """Each process opens its own: a forked one would share the place in the file."""
    folder = _folder()
    path = folder / archive_name(arch) if folder else None
    if path is None or not path.is_file():
        return None
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        warn(f"{path} is damaged, so kernels are compiled: {error}; reinstall {PACKAGE}")
        return None


def _folder() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else None
