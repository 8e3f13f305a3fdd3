"""Where loaded tensors go: `map_location` in all its forms, for the storages in a file."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.storage import UntypedStorage

from .safetensors import FormatError

__all__ = ["Place"]


class Place:
    """Answers, for the location that a file gives a storage, where it goes."""

    def __init__(self, map_location: Any) -> None:
        self.map_location = map_location
        self.known: dict[str, bool] = {}

    def is_meta(self, location: str) -> bool:
        """Whether storages from there go to the meta device, so that none of their bytes is read.

        RuntimeError if they go to a device that is not there.
        """
        found = self.known.get(location)
        if found is None:
            found = self.known[location] = self._device(location).type == "meta"
        return found

    def _device(self, location: str) -> taeda.device:
        wanted: Any = self.map_location
        if isinstance(wanted, dict):
            wanted = wanted.get(location, location)
        elif wanted is None or callable(wanted):
            wanted = location
        if callable(self.map_location) and wanted != "meta":
            wanted = "cpu"  # read here first; the function may put it elsewhere
        try:
            return taeda.empty(0, device=wanted).device
        except RuntimeError as error:
            if wanted is not location:
                raise
            raise RuntimeError(
                f"the file has tensors from the device {location!r:.50}, which is not here ({error}): "
                "load with map_location='cpu'"
            ) from None

    def moved(self, bytes: Tensor, location: str) -> Tensor:
        """The storage that a callable map_location gives for this one; it may give None."""
        if not callable(self.map_location):
            return bytes
        given = self.map_location(UntypedStorage._of(bytes), location)
        if given is None:
            if not self._plain(location):
                raise RuntimeError(
                    f"map_location gave None for a storage from {location!r:.50}, and that device is "
                    "not here: return the storage to keep it on the cpu"
                )
            return bytes
        given = given.untyped() if hasattr(given, "untyped") else given
        if not isinstance(given, UntypedStorage) or given.nbytes() != bytes.numel():
            raise FormatError(
                f"map_location must give a storage of the same size or None, got {type(given).__name__}"
            )
        return given._bytes

    def _plain(self, location: str) -> bool:
        return location in ("cpu", "meta")
