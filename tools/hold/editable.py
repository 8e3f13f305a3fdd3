"""Wheels of packages that point at this checkout: built once, and installed by every environment.

    python tools/hold/editable.py core nn        make what is missing, print the wheels

An installer that is given folders starts the build of each again: 20 packages took 7 seconds of a
processor in each of 40 environments. A wheel lies in `build/editable`, under a digest of all that goes
into it and of where the checkout is; one of an older state goes when the new one is there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "editable"
sys.path.insert(0, str(ROOT / "packages" / "core" / "src" / "taeda" / "_build"))
import cc  # noqa: E402 - found through the line above; it imports nothing of taeda

#: files of a package that say what its wheel holds: metadata, and how its library is compiled
PARTS = ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py")

__all__ = ["digest", "wheels"]


def digest(package: Path) -> str:
    """What decides the bytes of a package's wheel, and that its library was compiled.

    Args:
        package: the package's folder.
    """
    files = [package / name for name in PARTS]
    if package.name != "core":  # whose library every session brings up to date itself
        files += sorted(package.glob("csrc/**/*.[ch]"))
    read = [path.read_bytes() for path in files if path.exists()]
    return hashlib.sha256(b"\0".join([str(package).encode(), *read])).hexdigest()[:16]


def wheels(packages: list[Path], build: Path = BUILD) -> list[Path]:
    """The wheels of `packages`, in that order; what is missing is built.

    Args:
        packages: folders of packages.
        build: where wheels are kept.
    """
    build.mkdir(parents=True, exist_ok=True)
    with cc.locked(build):  # two sessions may begin at once
        return [_wheel(package, build) for package in packages]


def _wheel(package: Path, build: Path) -> Path:
    folder = build / f"{package.name}-{digest(package)}"
    # its library lies in the checkout, where a cleaned one has none
    compiled = any(package.glob("src/**/*.so")) or not (package / "csrc").is_dir()
    if not (folder.is_dir() and compiled):
        shutil.rmtree(folder, ignore_errors=True)
        for older in build.glob(f"{package.name}-{'?' * 16}"):
            shutil.rmtree(older)
        with tempfile.TemporaryDirectory(dir=build) as beside, _inside(package):
            from hatchling.build import build_editable, build_wheel

            # one without modules has nothing to edit
            build_editable(beside) if (package / "src").is_dir() else build_wheel(beside)
            os.replace(beside, folder)  # whole, or not there
            Path(beside).mkdir()  # which the end of the block takes away
    (wheel,) = folder.glob("*.whl")
    return wheel


@contextlib.contextmanager
def _inside(package: Path) -> Iterator[None]:
    """In the package's folder, where its builder works; what it prints goes to the error stream."""
    with contextlib.chdir(package), contextlib.redirect_stdout(sys.stderr):
        yield


def main(names: list[str]) -> None:
    """Print the path of each wheel, a line each."""
    print(*wheels([ROOT / "packages" / name for name in names]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
