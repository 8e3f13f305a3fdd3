"""Where loaded tensors go: `map_location` in all its forms, for the storages in a file."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.storage import UntypedStorage

from .safetensors import FormatError

__all__ = [
    "Place", "default_restore_location", "location_tag", "register_package", "tag_of",
]  # fmt: skip

Tagger = Callable[[Any], "str | None"]
Deserializer = Callable[[Any, str], Any]

_registered: list[tuple[int, Tagger, Deserializer]] = []


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """Ask these functions where storages are and where they should go. The cpu answers after all of them.

    Args:
        priority: those of lower priority are asked first.
        tagger: `tagger(storage)` names the place of a storage that is saved, or gives None.
        deserializer: `deserializer(storage, place)` gives the storage to use at that place, or None.

    >>> def on_disk(storage, place):  # storages of this place are elsewhere
    ...     return storage if place == "disk" else None
    >>> taeda.serialization.register_package(30, lambda storage: None, on_disk)
    """
    bisect.insort(_registered, (priority, tagger, deserializer), key=lambda entry: entry[0])


def tag_of(tensor: Tensor) -> str:
    """The name of the place where a tensor's storage is."""
    for _, tagger, _ in _registered:
        if (tag := tagger(UntypedStorage._of(tensor))) is not None:
            return tag
    return str(tensor.device) if tensor.device.type == "cuda" else tensor.device.type


def location_tag(storage: Any) -> str:
    """The name of the place where a storage is: "cpu", "cuda:0", or what a registered package says.

    Args:
        storage: an UntypedStorage or a TypedStorage; TypeError for others.

    >>> taeda.serialization.location_tag(taeda.ones(2).untyped_storage())
    'cpu'
    """
    untyped = storage.untyped() if hasattr(storage, "untyped") else storage
    if not isinstance(untyped, UntypedStorage):
        raise TypeError(f"location_tag: wanted a storage, got {type(storage).__name__}")
    return tag_of(untyped._bytes)


def default_restore_location(storage: Any, location: Any) -> Any:
    """The storage at a place of that name, as `load` without `map_location` has it: the storage
    itself if it is there already. RuntimeError for a place that is not here.

    Args:
        storage: an UntypedStorage or a TypedStorage.
        location: the name of a place, as "cpu" or "cuda:0".

    >>> storage = taeda.ones(2).untyped_storage()
    >>> taeda.serialization.default_restore_location(storage, "cpu").nbytes()
    8
    """
    untyped = storage.untyped() if hasattr(storage, "untyped") else storage
    return UntypedStorage._of(Place(None).moved(untyped._bytes, str(location)))


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
            found = self.known[location] = self._is_meta(location)
        return found

    def _is_meta(self, location: str) -> bool:
        wanted = self._wanted(location)
        if _registered or callable(self.map_location):  # a function may still send it elsewhere
            return wanted == "meta"
        return self._device(wanted, location).type == "meta"

    def _wanted(self, location: str) -> str:
        """The name of the place that `map_location` sends this one to."""
        if isinstance(self.map_location, dict):
            return str(self.map_location.get(location, location))
        if self.map_location is None or callable(self.map_location):
            return location
        return str(self.map_location)

    def _device(self, wanted: str, location: str) -> taeda.device:
        try:
            return taeda.empty(0, device=wanted).device
        except MemoryError:  # which is a RuntimeError as well, and says nothing of the device
            raise
        except RuntimeError as error:
            if wanted != location:
                raise RuntimeError(f"{error}: load with map_location='cpu'") from None
            raise RuntimeError(
                f"the file has tensors from the device {location!r:.50}, which is not here ({error}): "
                "load with map_location='cpu'"
            ) from None

    def moved(self, bytes: Tensor, location: str) -> Tensor:
        """The bytes where a callable map_location or a registered package puts them, else on the cpu."""
        if callable(self.map_location):
            given = self.map_location(UntypedStorage._of(bytes), location)
            if given is not None:
                return _bytes_of(given, bytes)
        wanted = self._wanted(location)
        for _, _, deserializer in _registered:
            given = deserializer(UntypedStorage._of(bytes), wanted)
            if given is not None:
                return _bytes_of(given, bytes)
        if wanted == "cpu":
            return bytes
        device = self._device(wanted, location)
        return bytes if device.type == "meta" else bytes.to(device)


def _bytes_of(given: Any, bytes: Tensor) -> Tensor:
    """The storage that a function of the user's gave, as bytes."""
    given = given.untyped() if hasattr(given, "untyped") else given
    if not isinstance(given, UntypedStorage) or given.nbytes() != bytes.numel():
        raise FormatError(
            f"map_location must give a storage of the same size or None, got {type(given).__name__}"
        )
    return given._bytes
