"""Build every wheel and an index; install them offline in clean environments, use and uninstall them.

    python tools/ship/clean_installs.py dist                        by `--find-links` and by an index
    python tools/ship/clean_installs.py dist --cuda --arch 80 90    and a wheel of kernels for these
                                                                    devices, by `taeda.cuda.warm`

The folder is written anew. In each environment a small model learns, `python -m taeda --test` passes,
and nothing of taeda stays behind.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import wheelhouse

__all__ = ["ways"]

HERE = Path(__file__).resolve().parent


def ways(dist: Path) -> dict[str, tuple[str, ...]]:
    """pip's words for each place of `dist` to install from.

    >>> sorted(ways(Path("/d")))
    ['find-links', 'index']
    """
    links = ("--no-index", "--find-links", str(dist), "--find-links", str(dist / "needs"))
    return {"find-links": links, "index": ("--index-url", (dist / "simple").as_uri())}


class Environment:
    """A new environment with nothing but pip, in a folder away from the checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)

    def python(self, *words: str) -> None:
        command = [str(self.folder / "bin" / "python"), *words]
        subprocess.run(command, cwd=self.folder, check=True)

    def install(self, *words: str) -> None:
        # isolated: what pip is set up to look at elsewhere does not help
        self.python("-m", "pip", "--isolated", "install", "--quiet", *words)


def fill(dist: Path) -> None:
    """Wheels of every package and of what they need, and the index of both."""
    shutil.rmtree(dist, ignore_errors=True)
    wheelhouse.build(dist)
    wheelhouse.needs(dist)
    wheelhouse.index(dist)


def add_cubins(at: Environment, dist: Path, words: Sequence[str]) -> None:
    """Kernels as a wheel in `dist`, compiled without a device, beside the core that made them."""
    root = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text())
    at.python("-m", "pip", "install", "--quiet", *root["dependency-groups"]["nvrtc"])
    at.python("-m", "taeda.cuda.warm", *words, "--wheel", str(dist))
    at.install("--no-index", "--find-links", str(dist), "taeda-cuda-cubins")
    at.python("-m", "pip", "check")


def main(arguments: Sequence[str] | None = None) -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("dist", type=Path)
    parser.add_argument("--cuda", nargs=argparse.REMAINDER, help="words for taeda.cuda.warm")
    options = parser.parse_args(arguments)
    dist = options.dist.resolve()
    fill(dist)
    for name, source in ways(dist).items():
        with tempfile.TemporaryDirectory() as folder:
            at = Environment(Path(folder) / "clean")
            at.install(*source, "taeda")
            at.python(str(HERE / "smoke.py"))
            at.python("-m", "taeda", "--test")
            if options.cuda is not None and name == "find-links":
                add_cubins(at, dist, options.cuda)
            at.python(str(HERE / "uninstalled.py"))
        print(f"{name}: installed, used and uninstalled", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
