"""Files read straight into a device's memory, which taeda does not do: every call raises."""

from __future__ import annotations

import os

from ._refused import refused

__all__ = ["GdsFile", "gds_deregister_buffer", "gds_register_buffer"]

_WAY = "Files are not read straight into a device's memory: load them (taeda.load) and move what they hold."

gds_register_buffer = refused(f"{__name__}.gds_register_buffer", _WAY)
gds_deregister_buffer = refused(f"{__name__}.gds_deregister_buffer", _WAY)


class GdsFile:
    """Not implemented: making one raises NotImplementedError.

    Args:
        filename: the file's path.
        flags: as for `os.open`.

    >>> taeda.cuda.gds.GdsFile("weights.bin", 0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: taeda.cuda.gds.GdsFile is not implemented. ...
    """

    def __init__(self, filename: str | os.PathLike[str], flags: int) -> None:
        refused(f"{__name__}.GdsFile", _WAY)()

    register_handle = refused(f"{__name__}.GdsFile.register_handle", _WAY)
    deregister_handle = refused(f"{__name__}.GdsFile.deregister_handle", _WAY)
    load_storage = refused(f"{__name__}.GdsFile.load_storage", _WAY)
    save_storage = refused(f"{__name__}.GdsFile.save_storage", _WAY)
