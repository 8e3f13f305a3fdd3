"""The wheel of compiled kernels that `python -m taeda.cuda.warm --wheel DIR` writes: what `_cubins`
reads, once pip has installed it. Beside images it holds no code.
"""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from taeda._io.atomic import atomic_write

from ._cubins import PACKAGE, archive_name

__all__ = ["write"]

_BEGIN = (1980, 1, 1, 0, 0, 0)  # the date of every file: the same kernels are the same wheel
_SUMMARY = "Compiled CUDA kernels of taeda-core"


def write(folder: Path, version: str, images: Mapping[int, Mapping[str, bytes]]) -> Path:
    """Write `taeda_cuda_cubins-VERSION-py3-none-any.whl` into `folder` and return its path.

    `images` are entries by their digests for each architecture; `version` is that of the core. OSError
    if the folder cannot be written; then there is no wheel, or the one that was there before.
    """
    info = f"{PACKAGE}-{version}.dist-info"
    files = {f"{PACKAGE}/__init__.py": f'"""{_SUMMARY}; they are read, not imported."""\n'.encode()}
    for arch, entries in sorted(images.items()):
        files[f"{PACKAGE}/{archive_name(arch)}"] = _zipped(entries, zipfile.ZIP_DEFLATED)
    files[f"{info}/METADATA"] = _metadata(version).encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: taeda.cuda.warm\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{PACKAGE}-{version}-py3-none-any.whl"
    content = _zipped(files, zipfile.ZIP_STORED)
    with atomic_write(path, len(content)) as file:
        file.write(content)
    return path


def _zipped(files: Mapping[str, bytes], compression: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:  # half-written: in memory
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _BEGIN)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, compression)
    return made.getvalue()


def _metadata(version: str) -> str:
    name = PACKAGE.replace("_", "-")
    return (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {_SUMMARY}\n"
        "Requires-Dist: taeda-core\n"
    )


def _record(files: Mapping[str, bytes], own: str) -> bytes:
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{own},,\n"]).encode()
