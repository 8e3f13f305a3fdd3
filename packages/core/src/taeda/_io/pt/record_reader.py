"""`taeda.PyTorchFileReader`: the records of a file in torch's zip form, for programs that read them
one by one.
"""

from __future__ import annotations

import zipfile
from typing import IO, TYPE_CHECKING, Any

from ..._native import core as _core

if TYPE_CHECKING:
    from taeda import dtype
else:
    dtype = _core.dtype

__all__ = ["PyTorchFileReader"]


class PyTorchFileReader:
    """The records of a file (its path, or an open binary file), under their names without the
    archive's folder.

    RuntimeError for a file that is no such archive, and for a record that is not there.

    Args:
        name_or_buffer: the path of a file in zip form, or such a file, open for reading bytes.

    >>> taeda.save({"x": 1}, "saved.pt")
    >>> taeda.PyTorchFileReader("saved.pt").has_record("data.pkl")
    True
    """

    def __init__(self, name_or_buffer: str | IO[bytes]) -> None:
        try:
            self._zip = zipfile.ZipFile(name_or_buffer)
        except zipfile.BadZipFile as error:
            raise RuntimeError(
                f"PyTorchFileReader: {name_or_buffer} is no zip archive: {error}"
            ) from error
        names = self._zip.namelist()
        self._folder = names[0].partition("/")[0] + "/" if names else ""

    def has_record(self, name: str) -> bool:
        """Whether there is one of that name."""
        return self._folder + name in self._zip.NameToInfo

    def get_record(self, name: str) -> bytes:
        """Its bytes."""
        try:
            return self._zip.read(self._folder + name)
        except KeyError:
            raise RuntimeError(f"PyTorchFileReader: no record {name!r}") from None

    def get_all_records(self) -> list[str]:
        """The names of all."""
        return [name.removeprefix(self._folder) for name in self._zip.namelist()]

    def get_storage_from_record(self, name: str, numel: int, dtype: dtype) -> Any:
        """A vector of the first `numel` elements of a record."""
        data = bytearray(self.get_record(name))
        if len(data) < numel * dtype.itemsize:
            raise RuntimeError(
                f"PyTorchFileReader: record {name!r} has {len(data)} bytes, {numel} elements of "
                f"{dtype} need more"
            )
        import taeda

        return (
            taeda.frombuffer(data, dtype=dtype, count=numel)
            if numel
            else taeda.empty(0, dtype=dtype)
        )

    def version(self) -> int:
        """The number of the format."""
        return int(self.get_record("version"))
