"""What the packages are, how they depend on each other, and how their versions move.

    python tools/packages.py order                       every package after those it needs
    python tools/packages.py check                       ranges, cycles, licences, import layers,
                                                         what is used of core, writes, out of memory
    python tools/packages.py bump taeda-core minor       new version, and the ranges of those that need it
    python tools/packages.py changed                     packages with commits since their last release
    python tools/packages.py tags                        commands that make the tags which releases lack

Ranges between siblings are `>=X.Y,<X.(Y+1)` before 1.0 and `>=X.Y,<X+1` after. A release is tagged
`core-v0.2.0`; its version is also the newest in the package's CHANGELOG.md, and the commit that wrote it
there stands for the tag in a clone without tags. Import layers are in
`layers.py`, those inside a package in `rooms.py`, the rule for writing files in `writes.py`, that for
handlers of RuntimeError in `swallowed.py`.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "hold"))
import cycles
import facts
import layers
import rooms
import surface
import swallowed
import tests_apart
import writes

ROOT = Path(__file__).resolve().parent.parent
SIBLING = re.compile(r"(taeda(?:-[a-z-]+)?)\s*(.*)")
ADVICE = Path("src/taeda/_parts/advice.py")
VERSION_LINE = re.compile(r'^__version__ = "[^"]*"', re.M)
RELEASE = re.compile(r"^## (\d+\.\d+\.\d+) \(", re.M)
PARTS = ("major", "minor", "patch")
#: Pythons that the packages run on
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@dataclass(frozen=True)
class Package:
    """One distribution, read from its pyproject.toml."""

    name: str
    folder: Path
    version: str
    siblings: dict[str, str]  # distribution -> range as written
    others: tuple[str, ...]  # requirements from outside, optional ones too
    needed: tuple[str, ...] = ()  # the siblings that are needed without an extra

    @property
    def short(self) -> str:
        """The folder's name, the prefix of tags and the id of sessions: `core` for taeda-core."""
        return self.folder.name

    @property
    def tag(self) -> str:
        """What git calls the release of its version."""
        return f"{self.short}-v{self.version}"

    @property
    def released(self) -> str:
        """The newest version in its CHANGELOG.md, or "" before its first release."""
        path = self.folder / "CHANGELOG.md"
        match = RELEASE.search(path.read_text()) if path.exists() else None
        return match[1] if match else ""


def load(root: Path = ROOT) -> dict[str, Package]:
    """Every package under `root`/packages, by distribution name."""
    found = map(_read, sorted(root.glob("packages/*/pyproject.toml")))
    return {package.name: package for package in found}


def _read(path: Path) -> Package:
    project = tomllib.loads(path.read_text())["project"]
    extras = project.get("optional-dependencies", {}).values()
    plain = project.get("dependencies", [])
    needed = tuple(match[1] for item in plain if (match := SIBLING.fullmatch(item)))
    required = [*plain, *(item for extra in extras for item in extra)]
    matches = [SIBLING.fullmatch(item) for item in required]
    siblings = {match[1]: match[2].replace(" ", "") for match in matches if match}
    others = tuple(item for item, match in zip(required, matches, strict=True) if not match)
    return Package(project["name"], path.parent, project["version"], siblings, others, needed)


def order(packages: dict[str, Package], names: Iterable[str] | None = None) -> list[Package]:
    """`names` (all by default) and the siblings they need, each after what it needs.
    ValueError on a cycle.
    """
    done: dict[str, Package] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"packages need each other in a circle: {' -> '.join([*path, name])}")
        if name in packages and name not in done:
            for sibling in packages[name].siblings:
                visit(sibling, (*path, name))
            done[name] = packages[name]

    for name in packages if names is None else names:
        if name not in packages:
            raise ValueError(f"no package {name!r}; there are {', '.join(packages)}")
        visit(name, ())
    return list(done.values())


def range_for(version: str) -> str:
    """The range in which a sibling of this version is accepted.

    >>> range_for("0.3.1"), range_for("2.1.0")
    ('>=0.3,<0.4', '>=2.1,<3')
    """
    major, minor, _ = map(int, version.split("."))
    return f">={major}.{minor},<{major + 1}" if major else f">=0.{minor},<0.{minor + 1}"


def check(packages: dict[str, Package]) -> list[str]:
    """Everything that is wrong, a sentence each."""
    try:
        order(packages)
    except ValueError as error:
        return [str(error)]
    found = [*_wrong_ranges(packages), *_wrong_versions(packages), *_wrong_files(packages)]
    found += _wrong_changes(packages)
    known = packages.values()
    for package in known:  # a file after the other, so that each is parsed once
        for _, text, inside in facts.texts(package.folder / "src"):
            facts.read(text, (surface.words, writes.writes, swallowed.swallows))
            facts.read(
                text, (layers.imports, surface.uses, cycles.statements, cycles.lates), inside
            )
    found += _wrong_advice(packages)
    rules = (layers, rooms, surface, writes, swallowed, cycles, tests_apart)
    return found + [fault for rule in rules for fault in rule.check(known)]


def _wrong_ranges(packages: dict[str, Package]) -> Iterator[str]:
    for package in packages.values():
        for name, written in package.siblings.items():
            if name not in packages:
                yield f"{package.name} needs {name}, which is not in packages/"
            elif written != (wanted := range_for(packages[name].version)):
                version = packages[name].version
                yield f"{package.name} needs {name}{written}, but {name} is {version}: write {name}{wanted}"


def _wrong_files(packages: dict[str, Package]) -> Iterator[str]:
    for package in packages.values():
        licence = (package.folder.parent.parent / "LICENSE").read_text()
        for name in ("README.md", "LICENSE", "changelog.d"):
            if not (package.folder / name).exists():
                yield f"{package.name} has no {name}"
        if (own := package.folder / "LICENSE").exists() and own.read_text() != licence:
            yield f"{package.name}: LICENSE differs from the one at the root"
        place = package.folder / "src" / "taeda" / f"part-{package.short}.txt"
        if place.parent.is_dir() and not place.is_file():
            yield (
                f"{package.name} has no {place.name} in src/taeda: pip leaves an empty folder `taeda` behind "
                "when a package without a file there is the last one that it removes"
            )


def _wrong_changes(packages: dict[str, Package]) -> Iterator[str]:
    for package in packages.values():
        if package.released not in ("", package.version):
            yield (
                f"{package.name} is {package.version}, and its CHANGELOG.md ends at {package.released}: "
                f"`python tools/ship/changelog.py gather {package.short} {package.version} DATE`"
            )
        if not package.released:
            for kind in ("changed", "fixed", "removed"):
                for path in sorted((package.folder / "changelog.d").glob(f"*.{kind}.md")):
                    yield f"{package.name} was never released, so nobody misses {path.name}: remove it"


def _wrong_advice(packages: dict[str, Package]) -> Iterator[str]:
    """Where the core advises other siblings than a distribution declares.

    A test compares them too, but it reads what is installed, which may be older than the tree.
    """
    if not (place := packages["taeda-core"].folder / ADVICE).exists():
        return  # a tree that a test made
    tree = ast.parse(place.read_text())
    (table,) = (
        item.value
        for item in tree.body
        if isinstance(item, ast.AnnAssign) and ast.unparse(item.target) == "NEEDS"
    )
    advised = ast.literal_eval(table)
    for package in packages.values():
        wanted = {*package.needed} - {"taeda-core"}
        if package.name in advised and {*advised[package.name]} != wanted:
            yield (
                f"{package.name} needs {sorted(wanted)}, but {ADVICE} says "
                f"{sorted(advised[package.name])}: write what pyproject.toml says"
            )


def bump(packages: dict[str, Package], name: str, part: str) -> str:
    """Raise the version of `name`, in its code too, and the range of every sibling that needs it.
    Return the version.
    """
    package = packages[name]
    numbers = list(map(int, package.version.split(".")))
    at = PARTS.index(part)
    version = ".".join(map(str, [*numbers[:at], numbers[at] + 1, *[0] * (2 - at)]))
    _rewrite(package, f'version = "{package.version}"', f'version = "{version}"')
    for path, written in _written_versions(package):
        path.write_text(path.read_text().replace(written, f'__version__ = "{version}"'))
    for user in packages.values():
        if name in user.siblings:
            _rewrite(user, f'"{name}{user.siblings[name]}"', f'"{name}{range_for(version)}"')
    return version


def _written_versions(package: Package) -> Iterator[tuple[Path, str]]:
    """(file, the line) where a package tells its version to programs."""
    for path in sorted((package.folder / "src").rglob("*.py")):
        if found := VERSION_LINE.search(path.read_text()):
            yield path, found[0]


def _wrong_versions(packages: dict[str, Package]) -> Iterator[str]:
    for package in packages.values():
        for path, written in _written_versions(package):
            if written != f'__version__ = "{package.version}"':
                yield f"{package.name} is {package.version}, but {path.name} says {written}"


def _rewrite(package: Package, old: str, new: str) -> None:
    path = package.folder / "pyproject.toml"
    text = path.read_text()
    if text.count(old) != 1:
        raise ValueError(f"{path}: expected {old} once, found it {text.count(old)} times")
    path.write_text(text.replace(old, new))


def changed(packages: dict[str, Package], root: Path = ROOT) -> list[Package]:
    """Packages with commits since the release of their version; one that was never released has changed."""
    return [package for package in packages.values() if _commits_since(package, root) != "0"]


def tags(packages: dict[str, Package], root: Path = ROOT) -> dict[str, str]:
    """The tags that this clone lacks of the versions in the CHANGELOG.md files, with their commits."""
    lacking = [p for p in packages.values() if p.released == p.version and not _tagged(p, root)]
    return {package.tag: at for package in lacking if (at := _written_at(package, root))}


def _commits_since(package: Package, root: Path) -> str:
    release = _tagged(package, root) or _written_at(package, root)
    command = ("rev-list", "--count", f"{release}..HEAD", "--", str(package.folder))
    return _git(root, *command) if release else "never released"


def _tagged(package: Package, root: Path) -> str:
    """The commit of the tag of its version, or "" where this clone has none."""
    return _git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/{package.tag}^{{commit}}")


def _written_at(package: Package, root: Path) -> str:
    """The commit that wrote its version into its CHANGELOG.md, or "" if that is not known.

    The oldest commit of a shallow clone seems to have written everything.
    """
    if (
        package.released != package.version
        or _git(root, "rev-parse", "--is-shallow-repository") != "false"
    ):
        return ""
    path = str(package.folder / "CHANGELOG.md")
    found = _git(root, "log", "--format=%H", f"-S## {package.version} (", "--", path)
    return found.rpartition("\n")[2]


def _git(root: Path, *words: str) -> str:
    """What a command of git says in `root`, or "" where it fails."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def main(arguments: list[str]) -> int:
    layout = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("order", "check", "changed", "tags"):
        commands.add_parser(name)
    bumping = commands.add_parser("bump")
    bumping.add_argument("package", choices=sorted(load()))
    bumping.add_argument("part", choices=PARTS)
    chosen = parser.parse_args(arguments)
    packages = load()
    if chosen.command == "bump":
        print(chosen.package, bump(packages, chosen.package, chosen.part))
    elif chosen.command == "check":
        wrong = check(packages)
        facts.save()
        print("\n".join(wrong) or f"{len(packages)} packages: ranges, files and import layers hold")
        return bool(wrong)
    elif chosen.command == "tags":
        for tag, commit in tags(packages).items():
            print(f"git tag {tag} {commit}")
    else:
        listed = order(packages) if chosen.command == "order" else changed(packages)
        print("\n".join(package.name for package in listed))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
