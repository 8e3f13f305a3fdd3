"""Gather a package's changelog fragments into its CHANGELOG.md.

    python tools/ship/changelog.py gather core 0.2.0 2026-11-30    write the section of a release,
                                                              remove the fragments
    python tools/ship/changelog.py show core                       print what such a section would say

A fragment is `packages/<name>/changelog.d/<slug>.<kind>.md`, one or two sentences. Kinds stand in
the order below.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = {
    "abi": "Extensions (ABI)",
    "removed": "Removed",
    "changed": "Changed",
    "added": "Added",
    "fixed": "Fixed",
}


def fragments(package: Path) -> dict[str, list[Path]]:
    """The fragments of a package by kind. ValueError for a file that is none."""
    found: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    for path in sorted((package / "changelog.d").glob("*.md")):
        kind = path.stem.rpartition(".")[2]
        if kind not in found:
            raise ValueError(
                f"{path}: the name ends in {kind!r}.md, and the kinds are {', '.join(KINDS)}"
            )
        if not path.read_text().strip():
            raise ValueError(f"{path} is empty")
        found[kind].append(path)
    return found


def section(package: Path, version: str, date: str) -> str:
    """What a release of a package changes, as Markdown."""
    lines = [f"## {version} ({date})"]
    for kind, paths in fragments(package).items():
        if paths:
            lines += ["", f"### {KINDS[kind]}", "", *map(_item, paths)]
    if len(lines) == 1:
        lines += ["", "Nothing that a user sees."]
    return "\n".join(lines) + "\n"


def _item(path: Path) -> str:
    return "- " + path.read_text().strip().replace("\n", "\n  ")


def gather(package: Path, version: str, date: str) -> str:
    """Put the section of a release above the older ones, remove its fragments, and return it."""
    text = section(package, version, date)
    path = package / "CHANGELOG.md"
    head = f"# Changes of {package.name}\n\n"
    older = path.read_text().removeprefix(head) if path.exists() else ""
    if f"## {version} (" in older:
        raise ValueError(f"{path} has a section {version} already")
    path.write_text(head + text + ("\n" + older if older else ""))
    for paths in fragments(package).values():
        for fragment in paths:
            fragment.unlink()
    return text


def latest(package: Path) -> str:
    """The section of the newest release."""
    sections = (package / "CHANGELOG.md").read_text().split("\n## ")
    return f"## {sections[1].rstrip()}\n"


def main(arguments: list[str] | None = None) -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    commands = parser.add_subparsers(dest="what", required=True)
    for name in ("gather", "show"):
        command = commands.add_parser(name)
        command.add_argument("package", help="its folder under packages/")
    for word in ("version", "date"):
        commands.choices["gather"].add_argument(word)
    options = parser.parse_args(arguments)
    package = ROOT / "packages" / options.package
    if options.what == "show":
        print(section(package, "next", "not released"), end="")
    else:
        print(gather(package, options.version, options.date), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
