"""What modules of devices that this build lacks share: the refusal, and the way out."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["AbsentDevice", "refuse"]


def refuse(kind: str, asked: str) -> NoReturn:
    """RuntimeError: `asked` needs a device of a kind that this build of taeda has no kernels for."""
    raise RuntimeError(
        f"taeda.{kind}.{asked} needs a {kind} device, and this build of taeda has none: ask taeda.{kind}.is_available() "
        "before, and compute on 'cpu'"
    )


class AbsentDevice:
    """A device that would be the current one within the block; an index below 0 or None changes nothing, as everywhere."""

    kind = ""

    def __init__(self, device: Any) -> None:
        index = getattr(device, "index", device)
        self.idx = -1 if index is None else int(index)

    def __enter__(self) -> None:
        if self.idx >= 0:
            refuse(self.kind, "device")

    def __exit__(self, *exception: object) -> None: ...
