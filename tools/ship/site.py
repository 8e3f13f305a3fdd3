"""Check the site and pack it as one archive, to be unpacked on any host of files.

    python tools/ship/site.py --build               build it afresh, into dist/taeda-site.tar.gz
    python tools/ship/site.py --build build/site    the same, and the pages stay there to be looked at
    python tools/ship/site.py build/docs            check and pack what is built

Sphinx leaves pages of an earlier build where they are, though nothing leads there any more: what is given to
others is built in an empty folder.

Every link, picture, script and style of a page has to lead to a file of the site, and behind a `#` to a
place in it.
Links to other hosts are counted and not asked. The archive has the same bytes for the same pages, and a
file at its top that says for which version it is.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]

__all__ = ["Page", "broken", "build", "check_and_pack", "packed", "read"]

#: what Sphinx keeps for its next run
LEFT_OUT = {".doctrees", ".buildinfo", "objects.inv.tmp"}


class Page(HTMLParser):
    """The places of a page, and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            elif name in ("href", "src"):
                self.links.append(value)


def read(folder: Path) -> dict[str, Page]:
    """Every page, by its path within the site."""
    found = {}
    for path in sorted(folder.rglob("*.html")):
        page = found[path.relative_to(folder).as_posix()] = Page()
        page.feed(path.read_text(encoding="utf-8"))
    return found


def broken(folder: Path, pages: dict[str, Page]) -> Iterator[str]:
    """A sentence for every link that leads nowhere."""
    for name, page in pages.items():
        for link in dict.fromkeys(page.links):
            if fault := _fault(folder, pages, name, link):
                yield f"{name}: {link} {fault}"


def _fault(folder: Path, pages: dict[str, Page], name: str, link: str) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    target = (folder / name).parent / unquote(parts.path) if parts.path else folder / name
    if target.is_dir():
        target /= "index.html"
    target = target.resolve()
    if not target.is_relative_to(folder.resolve()) or not target.is_file():
        return "is no file of the site"
    there = pages.get(target.relative_to(folder.resolve()).as_posix())
    place = unquote(parts.fragment)
    if place and there is not None and place not in there.places:
        return "is no place of that page"
    return ""


def packed(folder: Path, version: str) -> bytes:
    """All files as one archive of tar and gzip, without times and owners."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        _add(archive, "VERSION", f"{version}\n".encode())
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and not LEFT_OUT & set(inside.parts):
                _add(archive, inside.as_posix(), path.read_bytes())
    return gzip.compress(made.getvalue(), mtime=0)


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(f"taeda-site/{name}")
    entry.size, entry.mode = len(data), 0o644
    archive.addfile(entry, io.BytesIO(data))


def build(folder: Path, source: Path = ROOT / "docs") -> None:
    """Build the pages of `source` into a folder that has none. A warning is an error.

    Raises:
        FileExistsError: something lies there, which would be packed, too.
        CalledProcessError: Sphinx found a fault.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty: its pages would become part of the site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto"]
    subprocess.run([*command, str(source), str(folder)], cwd=ROOT, check=True)


def main() -> int:
    """1 for a site with a broken link, which is not packed."""
    parser = argparse.ArgumentParser(description="Check the site and pack it.")
    parser.add_argument("folder", nargs="?", type=Path, help="of the pages (default: build/docs)")
    parser.add_argument("--build", action="store_true", help="build them first, in an empty folder")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "taeda-site.tar.gz")
    options = parser.parse_args()
    if not options.build:
        return check_and_pack(options.folder or ROOT / "build" / "docs", options.out)
    with contextlib.ExitStack() as kept:
        folder = options.folder or Path(kept.enter_context(tempfile.TemporaryDirectory()))
        build(folder)
        return check_and_pack(folder, options.out)


def check_and_pack(folder: Path, out: Path) -> int:
    """1 for pages that are none or lead nowhere, and 0 when `out` is written."""
    pages = read(folder)
    if not pages:
        print(f"{folder} has no pages: build them with `nox -s docs`")
        return 1
    faults = list(broken(folder, pages))
    if faults:
        print(*faults, f"{len(faults)} links lead nowhere", sep="\n")
        return 1
    import taeda

    data = packed(folder, taeda.__version__)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(data)  # half-written: the next run writes it anew
    links = sum(len(page.links) for page in pages.values())
    print(f"{out}: {len(pages)} pages, {links:,} links, {len(data) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
