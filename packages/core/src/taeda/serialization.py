"""save and load: tensors, and plain data that holds them, in files that cannot run code.

The layout of a checkpoint stands in `_io/native`; which other kinds of file are read, in `_io/formats.py`.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeAlias

import taeda
from taeda._warnings import warn

from ._io import refusals, safetypes, settings
from ._io.atomic import Sync, atomic_write, check_sync
from ._io.formats import PEEK, Format, identify
from ._io.mapped import read_mapped
from ._io.missing import classes_to_allow
from ._io.native import Content, write_native
from ._io.place import default_restore_location, location_tag, register_package
from ._io.progress import Wish
from ._io.progress import progress as _progress
from ._io.safetensors import FormatError
from ._io.settings import LoadEndianness
from ._io.urls import is_url, opened_url, without_file_protocol, written_url

__all__ = [
    "FormatError",
    "LoadEndianness",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "read_mapped",
    "register_package",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]

#: the protocol of the pickle in a `.pt` file
DEFAULT_PROTOCOL = 2

FileLike: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
MapLocation: TypeAlias = "str | taeda.device | dict[str, str] | Callable[[Any, str], Any] | None"


# ---- saving ----


def save(
    obj: Any,
    f: FileLike,
    pickle_module: Any = None,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    *,
    format: str | None = None,
    progress: Wish = False,
    sync: Sync = "normal",
) -> None:
    """Write `obj` to a path, a URL that fsspec opens, or an object with `write`.

    Tensors that share memory share it after loading, and so do objects that are one object. A path is
    replaced as a whole or not at all. There is no pickling. A whole module is recorded by the names of
    its classes with their fields, and `load` gives it back to those who allow its class; its
    `state_dict()` loads everywhere, so save that if you can.

    However the process ends, and after a loss of power, the path is the old file or the new one, whole;
    `sync` says what a save waits for.

    Args:
        obj: a tensor, a number, a text, None, a numpy array, or dicts, lists, tuples and sets of those:
            what `state_dict()` gives. TypeError for other objects, with the place they were found at.
        f: a path, a URL, or an object with `write`.
        pickle_module: None; TypeError for anything else.
        pickle_protocol: has no effect, for nothing is pickled (default: 2).
        format: "safetensors", or "pt" for the zip that `torch.load` reads, with each storage
            whole; None (the default) for the zip where the name ends in .pt or .pth, and
            safetensors elsewhere.
        progress: True writes a line to stderr; a function is called with (bytes done, bytes in all).
            False by default.
        sync: with "full" the path is the new file from the moment on when `save` returns (ask for it
            before you delete another checkpoint); with "normal", the default, a few seconds later. "off"
            waits for nothing, as `torch.save` does: a loss of power within half a minute may leave a
            damaged file, which `load` refuses.

    >>> import io
    >>> file = io.BytesIO()
    >>> save({"weight": taeda.ones(2)}, file, format="pt")
    >>> file.getvalue()[:2]
    b'PK'
    """
    if pickle_module is not None:
        raise TypeError(
            "save() writes no pickles, for loading one runs code: there is nothing for pickle_module to do"
        )
    f = without_file_protocol(f)
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(_neither(f, "write"))
    prepare, write = _writer(_format_of(f) if format is None else format)
    check_sync(sync)
    content = _prepared(prepare, obj)
    with _target(f, content.size, sync) as file:
        write(file, content, _progress(progress, f"saving {_name(f)}", content.data_bytes))


def _prepared(prepare: Callable[[Any], Any], obj: Any) -> Any:
    try:
        return prepare(obj)
    except TypeError as error:
        names = classes_to_allow(obj)
        if len(names) > 1:
            short = ", ".join(name.rpartition(".")[2] for name in names)
            said = f"{error}. Of all that it holds, these classes want that: {', '.join(names)}"
            error.args = (f"{said}. At once: add_safe_globals([{short}])",)
        raise


def _writer(format: str) -> tuple[Callable[[Any], Any], Callable[..., None]]:
    """What finds out what a file will hold, and what writes it."""
    if format == "safetensors":
        return Content, write_native
    if format == "pt":
        from ._io.pt import write  # imported for those who want it

        return write.Content, write.write_pt
    raise ValueError(f"format is 'safetensors' or 'pt', got {format!r:.50}")


def _format_of(f: Any) -> str:
    """The form that a name asks for."""
    name = os.fspath(f) if isinstance(f, (str, os.PathLike)) else ""
    return "pt" if name.lower().endswith((".pt", ".pth")) else "safetensors"


def _target(f: Any, size: int, sync: Sync) -> contextlib.AbstractContextManager[Any]:
    if is_url(f):
        return written_url(f)
    if isinstance(f, (str, os.PathLike)):
        return atomic_write(f, size, sync=sync)
    return contextlib.nullcontext(f)


def _name(f: Any) -> str:
    return str(f) if isinstance(f, (str, os.PathLike)) else "a file"


def _neither(f: Any, method: str) -> str:
    return (
        f"expected 'f' to be string, path, or a file-like object with a '{method}' attribute, got "
        f"{type(f).__name__}"
    )


# ---- loading ----


def load(
    f: FileLike,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    verify: bool | None = None,
    progress: Wish = False,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` wrote, or another kind of checkpoint, from a path, a URL or an object with `read`.

    A file is checked before anything is made of it: FormatError (a RuntimeError) says what is wrong
    with it and what to do, EOFError that it is empty. Loading runs no code. A file with objects of
    classes, such as a whole module, is refused (FormatError) unless their classes were allowed by
    `taeda.serialization.add_safe_globals`.

    Args:
        f: a path, a URL, or an object with `read`, of bytes.
        map_location: where tensors go: a device, a dict of places, or a function of (storage, place)
            that gives a storage or None. "meta" reads no numbers. By default where they were.
        pickle_module: None; RuntimeError for anything else.
        weights_only: False is your word that you trust the file: then the classes that it names are
            imported and their code may run, of torch's whole modules too, with a warning that names the
            file. It is refused where TORCH_FORCE_WEIGHTS_ONLY_LOAD or TAEDA_FORCE_WEIGHTS_ONLY_LOAD is
            set. None, the default, and True let no code run.
        mmap: True maps the file: numbers are read when they are used. None, the default, takes
            `taeda.utils.serialization.config.load.mmap`, which is False.
        verify: whether checksums of tensors are compared. By default those of a file that is
            not mapped are; True compares those of a mapped one too, and so reads them all;
            False reads what is left of a damaged file. The header's are compared always
            (default: None).
        progress: as for `save` (default: False).
        **pickle_load_args: arguments for pickle: RuntimeError for any.

    >>> import io
    >>> file = io.BytesIO()
    >>> save({"weight": taeda.ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> load(file)
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    _refuse_pickling(pickle_module, pickle_load_args)
    if weights_only is False and not refusals.forced():
        arguments = {"mmap": mmap, "verify": verify, "progress": progress}
        return _load_trusted(f, map_location, arguments)
    options: dict[str, Any] = {} if verify is None else {"verify": verify}
    if progress is not False:
        options["progress"] = progress
    f = without_file_protocol(f)
    mapped = settings.load.mmap if mmap is None else bool(mmap)
    if is_url(f):
        if mmap:
            raise ValueError("a URL cannot be mapped: download the file, or load it without mmap")
        with opened_url(f) as file:
            return _kind(file).read(file, map_location, False, **options)
    if isinstance(f, (str, os.PathLike)) and not _is_pipe(f):
        with _named(f):
            return _kind_of_path(f).read(f, map_location, mapped, **options)
    if mmap:
        raise ValueError("f must be a file name in order to use the mmap argument")
    file = _seekable(_opened_pipe(f))
    return _kind(file).read(file, map_location, False, **options)


@contextlib.contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Within the block what is said of a damaged file says which file it is."""
    try:
        yield
    except (FormatError, EOFError) as error:
        said = str(error)
        if os.path.basename(path) not in said:
            error.args = (f"{os.fspath(path)}: {said}", *error.args[1:])
        raise


def _load_trusted(f: Any, map_location: MapLocation, arguments: dict[str, Any]) -> Any:
    """Load, first as data; if the file holds objects of classes nobody allowed, with the classes
    that it names.
    """
    f = f if isinstance(f, (str, os.PathLike)) else _seekable(_opened_pipe(f))
    if isinstance(f, (str, os.PathLike)) and (is_url(f) or _is_pipe(f)):
        with opened_url(f) if is_url(f) else contextlib.nullcontext(_opened_pipe(f)) as file:
            f = io.BytesIO(file.read())
    if names := get_unsafe_globals_in_checkpoint(f):
        warn(
            f"{_name(f)} holds objects of "
            f"{', '.join(names[:3])}{', ...' if len(names) > 3 else ''}: weights_only=False lets "
            "it "
            "import them and run their code. Do that with files that you trust only"
        )
        with safetypes.trusting():
            return load(f, map_location, **arguments)
    return load(f, map_location, **arguments)


def _refuse_pickling(pickle_module: Any, arguments: dict[str, Any]) -> None:
    given = ["pickle_module"] * (pickle_module is not None) + sorted(arguments)
    if given:
        raise RuntimeError(
            f"load() takes no {', '.join(given)}: it reads files as data and never unpickles, because that "
            "runs code which the file names"
        )


def _is_pipe(path: str | os.PathLike[str]) -> bool:
    """Whether a path names what can be read only once, such as a named pipe or the shell's `<(...)`."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _opened_pipe(f: Any) -> Any:
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return io.BytesIO(file.read())
    if not hasattr(f, "read"):
        raise AttributeError(_neither(f, "read"))
    return f


def _kind_of_path(path: str | os.PathLike[str]) -> Format:
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "this is a folder; load the files in it", path)
    with open(path, "rb", buffering=0) as file:
        return identify(file.read(PEEK))


def _kind(file: Any) -> Format:
    here = file.tell()
    first = file.read(PEEK)
    if isinstance(first, str):
        raise TypeError(
            f"wanted a file of bytes, got {type(file).__name__}, which gives text: open it with mode 'rb'"
        )
    file.seek(here)
    return identify(first)


def _seekable(file: Any) -> Any:
    """The file, or its content if it cannot seek."""
    try:
        file.seek(file.tell())
    except (AttributeError, OSError):  # also io.UnsupportedOperation
        return io.BytesIO(file.read())
    return file


# ---- classes that files may hold instances of ----


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Allow files to hold instances of these classes: enums, named tuples, data classes, Tensor subclasses.

    Each is a class, or (class, the full name that files give it). `save` writes their fields as
    data, `load` puts the fields back without calling any method of the class. Functions may be
    listed, and are never called.

    Args:
        safe_globals: classes, or pairs (class, full name in files).

    >>> taeda.serialization.add_safe_globals([complex])
    >>> complex in taeda.serialization.get_safe_globals()
    True
    >>> taeda.serialization.clear_safe_globals()
    """
    safetypes.add(safe_globals)


def clear_safe_globals() -> None:
    """Allow no classes any more.

    >>> taeda.serialization.add_safe_globals([complex])
    >>> taeda.serialization.clear_safe_globals()
    >>> taeda.serialization.get_safe_globals()
    []
    """
    safetypes.clear()


def get_safe_globals() -> list[Any]:
    """The classes that were allowed.

    >>> with taeda.serialization.safe_globals([complex]):
    ...     print(taeda.serialization.get_safe_globals())
    [<class 'complex'>]
    """
    return safetypes.listed()


class safe_globals:
    """Allow some classes inside a `with` block, as `add_safe_globals` does.

    Args:
        safe_globals: classes, or pairs (class, full name in files).

    >>> with taeda.serialization.safe_globals([complex]):
    ...     print(complex in taeda.serialization.get_safe_globals())
    True
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self.given = safe_globals

    def __enter__(self) -> None:
        self.before = safetypes.listed()
        safetypes.add(self.given)

    def __exit__(self, *_: object) -> None:
        safetypes.clear()
        safetypes.add(self.before)


def get_unsafe_globals_in_checkpoint(f: FileLike) -> list[str]:
    """The full names in a file that `load` would refuse because nobody allowed them.

    The file is looked through as data; nothing in it is imported or called.

    Args:
        f: a path, or an object with `read`, of bytes.

    >>> taeda.save({"x": taeda.ones(2)}, "saved.pt")
    >>> taeda.serialization.get_unsafe_globals_in_checkpoint("saved.pt")
    []
    """
    if isinstance(f, (str, os.PathLike)):
        return _kind_of_path(f).unsafe_names(f)
    file = _seekable(f)
    here = file.tell()
    try:
        return _kind(file).unsafe_names(file)
    finally:
        file.seek(here)


# ---- options for all saves and loads ----


def get_crc32_options() -> bool:
    """Whether `save` writes checksums.

    >>> taeda.serialization.get_crc32_options()
    True
    """
    return settings.save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Say whether `save` writes checksums. Without them damage to a file's numbers is not found.

    Args:
        compute_crc32: whether it does; it does until something else is said.

    >>> taeda.serialization.set_crc32_options(False)
    >>> taeda.serialization.get_crc32_options()
    False
    >>> taeda.serialization.set_crc32_options(True)
    """
    settings.save.compute_crc32 = bool(compute_crc32)


def get_default_load_endianness() -> LoadEndianness | None:
    """The order of bytes that is assumed for a file of torch's that does not tell its own.

    >>> taeda.serialization.get_default_load_endianness()
    """
    return settings.load.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Say which order of bytes to assume for a file of torch's that does not tell its own.

    Args:
        endianness: one of LoadEndianness, or None for that of this machine. TypeError for others.

    >>> set_default_load_endianness(LoadEndianness.BIG)
    >>> get_default_load_endianness().name
    'BIG'
    >>> set_default_load_endianness(None)
    """
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(
            f"Invalid argument type in function set_default_load_endianness: {endianness!r}"
        )
    settings.load.endianness = endianness


def get_default_mmap_options() -> int:
    """How `load(mmap=True)` maps: mmap.MAP_PRIVATE or mmap.MAP_SHARED.

    >>> import mmap
    >>> taeda.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    True
    """
    return settings.load.mmap_flags


class set_default_mmap_options:
    """Map files so from now on, or inside a `with` block.

    MAP_PRIVATE: writing to a loaded tensor changes no file. MAP_SHARED: it changes the file, behind
    the back of its checksums, and wants a file that may be written.

    Args:
        flags: `mmap.MAP_PRIVATE` or `mmap.MAP_SHARED`; ValueError for others.

    >>> import mmap
    >>> with set_default_mmap_options(mmap.MAP_SHARED):
    ...     get_default_mmap_options() == mmap.MAP_SHARED
    True
    """

    def __init__(self, flags: int) -> None:
        import mmap

        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                f"Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                f"mmap.MAP_SHARED, but got {flags}"
            )
        self.before = settings.load.mmap_flags
        settings.load.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        settings.load.mmap_flags = self.before


@contextlib.contextmanager
def skip_data(materialize_fake_tensors: bool = False) -> Iterator[None]:
    """Leave numbers out: `save` keeps their places free in the file, `load` gives tensors of zeros.

    A file with places that were kept free has no checksums for them.

    Args:
        materialize_fake_tensors: has no effect, for there are no fake tensors here; False by default.

    >>> import io
    >>> file = io.BytesIO()
    >>> with skip_data():
    ...     taeda.save(taeda.ones(2), file)
    >>> _ = file.seek(0)
    >>> taeda.load(file).tolist()
    [0.0, 0.0]
    """
    token = settings.skips_data.set(True)
    try:
        yield
    finally:
        settings.skips_data.reset(token)
