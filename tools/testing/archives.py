"""Source distributions, unpacked so that nothing lands outside of the folder that is asked for."""

from __future__ import annotations

import tarfile
from pathlib import Path

__all__ = ["unpack"]


def unpack(archive: Path, into: Path) -> None:
    """Unpack a .tar.gz below `into`. tarfile.TarError for a name or a link that leads elsewhere."""
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):
            opened.extractall(into, filter="data")
        else:  # before Python 3.11.4
            opened.extractall(into, _members(opened, into.resolve()))


def _members(opened: tarfile.TarFile, place: Path) -> list[tarfile.TarInfo]:
    """Files and folders that lie below `place`, if it has no others."""
    members = opened.getmembers()
    for member in members:
        below = (place / member.name).resolve().is_relative_to(place)
        if not below or not (member.isfile() or member.isdir()):
            raise tarfile.TarError(
                f"{member.name} leads out of {place}, or is no file and no folder"
            )
    return members
