"""Build the packages' wheels, and make their folder one that pip installs from without a network.

    python tools/ship/wheelhouse.py build dist             a wheel of every package
    python tools/ship/wheelhouse.py build dist --sdists    source distributions too
    python tools/ship/wheelhouse.py current dist           those wheels, unless dist has them of these very
                                                      sources; the last line is the sources' digest
    python tools/ship/wheelhouse.py needs dist             the wheels of others that ours need, fetched
                                                      into dist/needs
    python tools/ship/wheelhouse.py index dist             dist/simple: a package index (PEP 503) of
                                                      all these files

    python tools/ship/wheelhouse.py find-links dist        dist/index: a folder for `--find-links`

Then each works offline: `pip install --no-index --find-links dist --find-links dist/needs taeda-nn`, or
`pip install --index-url file:///.../dist/simple taeda-nn`.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import packages

__all__ = ["build", "current", "find_links", "index", "needs"]


def build(into: Path, sdists: bool = False, root: Path = packages.ROOT) -> list[Path]:
    """Build every package of the checkout `root`; return the files."""
    into.mkdir(parents=True, exist_ok=True)
    targets = ["-t", "wheel", *(["-t", "sdist"] if sdists else [])]
    for package in packages.order(packages.load(root)):
        command = [sys.executable, "-m", "hatchling", "build", *targets, "-d", str(into.resolve())]
        subprocess.run(command, cwd=package.folder, check=True, stdout=subprocess.DEVNULL)
    return sorted([*into.glob("*.whl"), *into.glob("*.tar.gz")])


def current(into: Path, root: Path = packages.ROOT) -> str:
    """`build`, unless the wheels there were built of these sources; return the digest of the sources."""
    digest = _sources(root)
    mark = into / "sources"
    if not mark.is_file() or mark.read_text() != digest:
        for old in into.glob("*.whl"):
            old.unlink()
        build(into, root=root)
        mark.write_text(digest)
    return digest


def _sources(root: Path) -> str:
    """A digest of every file below `packages` that git does not ignore, as it is on disk."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "packages")
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout
    digest = hashlib.sha256()
    for name in sorted(filter(None, listed.split(b"\0"))):
        path = root / os.fsdecode(name)
        if path.is_file():  # one that was removed is still in the index
            digest.update(name + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def needs(into: Path) -> None:
    """Fetch wheels of what the packages need from others, by pip, for the Python that runs this."""
    required: set[str] = set()
    for package in packages.load().values():
        project = tomllib.loads((package.folder / "pyproject.toml").read_text())["project"]
        required |= {r for r in project.get("dependencies", []) if not r.startswith("taeda")}
    where = ("--only-binary", ":all:", "--dest", str(into / "needs"))
    command = [sys.executable, "-m", "pip", "download", "--quiet", *where, *sorted(required)]
    subprocess.run(command, check=True)


def index(folder: Path) -> Path:
    """Write `folder`/simple: a page for each distribution with links to its files and their sums.
    Return it.
    """
    files = [*folder.glob("*.whl"), *folder.glob("*.tar.gz"), *folder.glob("needs/*.whl")]
    projects: dict[str, list[Path]] = {}
    for file in sorted(files, key=lambda file: file.name):
        projects.setdefault(project_of(file.name), []).append(file)
    simple = folder / "simple"
    for name, found in projects.items():
        (simple / name).mkdir(parents=True, exist_ok=True)
        links = "\n".join(_link(file, simple / name) for file in found)
        (simple / name / "index.html").write_text(_page(name, links))
    links = "\n".join(f'<a href="{name}/">{name}</a><br>' for name in projects)
    (simple / "index.html").write_text(_page("taeda", links))
    return simple


def find_links(folder: Path) -> Path:
    """Write `folder`/index: the wheels and source distributions of `folder`, and a page with their sums.
    Return it. `pip install --find-links` takes it as a folder, and its address on a host.
    """
    place = folder / "index"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    files = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    for file in files:
        shutil.copy2(file, place / file.name)
    links = "\n".join(_link(place / name, place) for name in sorted(file.name for file in files))
    (place / "index.html").write_text(_page("taeda", links))
    return place


def project_of(file: str) -> str:
    """The normalised name of the distribution in a file.

    >>> project_of("taeda_core-0.1.0-cp311-abi3-linux_x86_64.whl"), project_of("taeda_nn-0.1.0.tar.gz")
    ('taeda-core', 'taeda-nn')
    """
    name = file.rpartition("-")[0] if file.endswith(".tar.gz") else file.partition("-")[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def _link(file: Path, page: Path) -> str:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    place = quote(os.path.relpath(file, page))
    return f'<a href="{place}#sha256={digest}">{html.escape(file.name)}</a><br>'


def _page(title: str, links: str) -> str:
    return f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body>\n{links}\n</body></html>\n"


def main(arguments: list[str] | None = None) -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("what", choices=("build", "current", "needs", "index", "find-links"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sdists", action="store_true", help="source distributions too")
    options = parser.parse_args(arguments)
    if options.what == "build":
        print("\n".join(str(path) for path in build(options.folder, options.sdists)))
    elif options.what == "current":
        print(current(options.folder))
    elif options.what == "needs":
        needs(options.folder)
    elif options.what == "find-links":
        print(find_links(options.folder))
    else:
        print(index(options.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
