"""Good files cut at every place, joined, or with a piece of one in another."""

from __future__ import annotations

from collections.abc import Iterator

from . import ggufs, legacy, npys, safetensors, tars
from .words import pt, tensor

__all__ = ["files"]


def files() -> Iterator[tuple[str, bytes]]:
    good = {
        "zip": pt(tensor()),
        "older form": legacy.stream(),
        "tar": tars.old_tar()[:-1024],
        "npy": npys.npy(npys.GOOD),
        "gguf": ggufs.gguf(),
        "safetensors": safetensors.own(),
    }
    for name, data in good.items():
        for part in range(1, 40):
            yield f"{name}, {part}/40 of it", data[: len(data) * part // 40]
    for name, data in good.items():
        for other, behind in good.items():
            yield f"behind: {other} behind {name}", data + behind
    for name, data in good.items():
        if name != "tar":  # zeros end one
            yield f"behind: zeros behind {name}", data + bytes(len(data))
        if name != "safetensors":
            yield f"{name} of zeros behind its mark", data[:8] + bytes(len(data) - 8)
            yield f"{name} of ones behind its mark", data[:8] + b"\xff" * (len(data) - 8)
