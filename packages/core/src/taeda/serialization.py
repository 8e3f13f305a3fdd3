"""save and load: tensors, and plain data that holds them, in files that cannot run code.

The layout of a checkpoint stands in `_io/native.py`; which other kinds of file are read, in `_io/formats.py`.
"""

from __future__ import annotations

import errno
import io
import os
from typing import IO, Any, TypeAlias

from ._io.atomic import atomic_write
from ._io.formats import PEEK, identify
from ._io.location import MapLocation
from ._io.native import prepare, write_native
from ._io.safetensors import FormatError

__all__ = ["FormatError", "load", "save"]

FileLike: TypeAlias = "str | os.PathLike[str] | IO[bytes]"


def save(
    obj: Any,
    f: FileLike,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write `obj` to a path, or to an object with `write`.

    `obj` is a tensor, a number, a text, None, or dicts, lists, tuples and sets of those: what
    `state_dict()` gives. Tensors that share memory share it after loading, and so do tensors that
    are one object. A path is replaced as a whole or not at all. TypeError for other objects, with
    the place they were found at. There is no pickling: `pickle_protocol` has no effect.
    """
    if pickle_module is not None:
        raise TypeError("save() writes no pickles, so there is nothing for pickle_module to do")
    content = prepare(obj)
    if isinstance(f, (str, os.PathLike)):
        with atomic_write(f) as file:
            write_native(file, *content)
    elif hasattr(f, "write"):
        write_native(f, *content)
    else:
        raise AttributeError(_neither(f, "write"))


def _neither(f: Any, method: str) -> str:
    return (
        f"expected 'f' to be string, path, or a file-like object with a '{method}' attribute, got "
        f"{type(f).__name__}"
    )


def load(
    f: FileLike,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **options: Any,
) -> Any:
    """Read what `save` wrote, from a path or an object with `read`; or any safetensors file.

        A file is checked before anything is made of it: FormatError (a RuntimeError) says what is
        wrong with it, EOFError that it is empty. Checksums are compared, except with `mmap=True`,
        which maps the file privately and reads what is used. `map_location` names the device to load
        to ("meta" reads no data). Loading never runs code, whatever `weights_only` says.

        >>> import errno
    import io
        >>> file = io.BytesIO()
        >>> save({"weight": taeda.ones(2), "epoch": 3}, file)
        >>> _ = file.seek(0)
        >>> load(file)
        {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    if pickle_module is not None or options:
        given = ["pickle_module"] * (pickle_module is not None) + sorted(options)
        raise RuntimeError(f"load() reads no pickles, so it takes no {', '.join(given)}")
    if isinstance(f, (str, os.PathLike)):
        if os.path.isdir(f):
            raise IsADirectoryError(errno.EISDIR, "this is a folder; load the files in it", f)
        with open(f, "rb", buffering=0) as file:
            kind = identify(file.read(PEEK))
        return kind.read(f, map_location, bool(mmap))
    if mmap:
        raise ValueError("f must be a file name in order to use the mmap argument")
    if not hasattr(f, "read"):
        raise AttributeError(_neither(f, "read"))
    file = _seekable(f)
    here = file.tell()
    first = file.read(PEEK)
    file.seek(here)
    return identify(first).read(file, map_location, False)


def _seekable(file: Any) -> Any:
    """The file, or its content if it cannot seek."""
    try:
        file.seek(file.tell())
    except (AttributeError, OSError):  # also io.UnsupportedOperation
        return io.BytesIO(file.read())
    return file
