"""Rehearse a release: everything but publishing it, on clones of the last commit, which stays as it is.

    release.py --into dist/release            all of it; compiles core twice
    release.py --into dist/release --once      builds once, so nothing is compared
    release.py --into dist/release --judge     builds nothing: from step 3 on, with what is there

1. Raises the minor version of every package that changed since its release, the patch version of one
   in which ranges of siblings alone moved, gathers the changelogs, commits and tags.
2. Builds wheels and source distributions in two clones, in two folders: the files must be the same
   byte for byte. auditwheel says for which Linux systems the wheel of core is.
3. Builds the packages without C from their source distributions: the same wheels must come out.
4. Looks at every file: its metadata by twine, its licence, and that it holds what it should and nothing else.
5. Installs the wheels into every Python that is here, and there checks, trains and tests them, and runs
   extensions that were compiled against each released header of the ABI.
6. Writes SHA256SUMS, NOTES.md and a bill of materials (CycloneDX), and names the licences of all
   that gets installed; and `index`, a folder that `pip install --find-links` understands.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import changelog
import wheelhouse

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "testing"))
from archives import unpack

import packages

ROOT = packages.ROOT
#: what is compiled in a wheel, by its name; in others nothing is
LIBRARIES = {
    "taeda_core": ["taeda/__init__.abi3.so", "taeda/_native/_core.abi3.so"],
    "taeda_vision_ops": ["taeda/vision_ops/lib/kernels.so"],
}
EXTENSIONS = Path("packages/core/tests/extensions")
OTHERS = ("PYTHONPATH", "VIRTUAL_ENV", "TAEDA_NATIVE")  # would bring what is not installed
DATE_OF_FILES = "1580601600"  # in archives, as hatchling has it
AUTHOR = ("-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost")


class Wrong(Exception):
    """What stops a release, in a sentence."""


def run(*command: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a command and return what it printed; its words are the error if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def clone(source: Path, target: Path) -> Path:
    run("git", "clone", "--quiet", source, target)
    return target


def bumped(root: Path, date: str) -> list[str]:
    """Raise versions and gather changelogs in a clone, commit and tag; the packages with a new version."""
    before = packages.load(root)
    changed = {package.name for package in packages.changed(before, root)}
    raised = []
    for name in [package.name for package in packages.order(before)]:  # each after what it needs
        now = packages.load(root)
        if not now[name].released:
            version = now[name].version  # the first release
        elif name in changed:
            version = packages.bump(now, name, "minor")
        elif now[name].siblings != before[name].siblings:
            version = packages.bump(now, name, "patch")
        else:
            continue
        changelog.gather(now[name].folder, version, date)
        raised.append(f"{name} {version}")
    if wrong := packages.check(packages.load(root)):
        raise Wrong("after the bump: " + "; ".join(wrong))
    tag(root, raised)
    return raised


def tag(root: Path, raised: list[str]) -> None:
    """Commit what was raised in a clone and tag every release; Wrong if a package still counts as changed."""
    run("git", "add", "--all", cwd=root)
    if raised:
        run("git", *AUTHOR, "commit", "--quiet", "--message", "release", cwd=root)
    now = packages.load(root)
    for name, commit in packages.tags(now, root).items():
        run("git", "tag", name, commit, cwd=root)
    if left := packages.changed(now, root):
        raise Wrong("changed since their tags: " + ", ".join(package.name for package in left))


def notes(root: Path) -> str:
    """The newest section of every package's CHANGELOG.md."""
    return "\n".join(
        f"# {package.name}\n\n{changelog.latest(package.folder)}"
        for package in packages.order(packages.load(root))
    )


def built(root: Path, into: Path) -> list[Path]:
    """Build a clone's wheels and source distributions, with the tags that auditwheel finds for libraries."""
    wheelhouse.build(into, sdists=True, root=root)
    for wheel in into.glob("*-linux_*.whl"):
        command = ("auditwheel", "repair", "--wheel-dir", into, wheel)
        run(*command, env={**os.environ, "SOURCE_DATE_EPOCH": DATE_OF_FILES})
        wheel.unlink()
    if left := [wheel.name for wheel in into.glob("*-linux_*.whl")]:
        raise Wrong(f"auditwheel found no manylinux tag for {', '.join(left)}")
    return products(into)


def compare(first: Path, second: Path) -> int:
    """Wrong unless the two folders hold the same files. How many there are."""
    sums = [{path.name: digest(path) for path in products(folder)} for folder in (first, second)]
    if sums[0] != sums[1]:
        different = sorted(name for name, _ in sums[0].items() ^ sums[1].items())
        raise Wrong(f"built twice, these differ: {', '.join(sorted({*different}))}")
    return len(sums[0])


def products(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rebuild(folder: Path, scratch: Path) -> int:
    """Wrong unless the wheels without C come out of their source distributions again. How many do."""
    wheels = [path for path in folder.glob("*.whl") if path.name.endswith("py3-none-any.whl")]
    for wheel in wheels:
        source = folder / ("-".join(wheel.name.split("-")[:2]) + ".tar.gz")
        unpack(source, scratch)
        place = scratch / source.name.removesuffix(".tar.gz")
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", scratch, cwd=place)
        if digest(scratch / wheel.name) != digest(wheel):
            raise Wrong(f"{source.name} gives another {wheel.name}")
    return len(wheels)


def contents(folder: Path) -> Iterator[str]:
    """A sentence for everything that a wheel lacks, or has too much."""
    for wheel in sorted(folder.glob("*.whl")):
        names = zipfile.ZipFile(wheel).namelist()
        inside = [name for name in names if ".dist-info/" not in name]
        if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
            yield f"{wheel.name} holds no licence"
        for name in inside:
            if not name.startswith("taeda/"):
                yield f"{wheel.name} holds {name}, which is outside of taeda"
            is_test = "/tests/" in name and not name.endswith(".in")  # a template is for users
            if is_test or name.endswith((".pyc", ".o", ".orig")):
                yield f"{wheel.name} holds {name}, which is not for users"
        libraries = [name for name in inside if name.endswith(".so")]
        if sorted(libraries) != LIBRARIES.get(wheel.name.partition("-")[0], []):
            yield f"{wheel.name} holds the libraries {libraries}"
        pure = inside and "taeda_core-" not in wheel.name
        if pure and not any(name.endswith("py.typed") for name in inside):
            yield f"{wheel.name} tells type checkers nothing: no py.typed"


def interpreters() -> dict[str, str]:
    """The Pythons that are here, by version."""
    candidates = {version: filter(_answers, _candidates(version)) for version in packages.PYTHONS}
    return {
        version: first
        for version, found in candidates.items()
        if (first := next(found, None)) is not None
    }


def _candidates(version: str) -> Iterator[str]:
    """Where a Python of this version may be: uv's and the system's, the search path, pyenv's folders."""
    if shutil.which("uv"):
        asked = ["uv", "python", "find", "--no-python-downloads", "--system", version]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        yield from filter(None, [done.stdout.strip()])
    yield from filter(None, [shutil.which(f"python{version}")])
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from map(str, sorted(versions.glob(f"{version}.*/bin/python{version}"), reverse=True))


def _answers(python: str) -> bool:
    """Whether this is a Python that runs, with what makes environments; a shim may be neither."""
    done = subprocess.run([python, "-c", "import ensurepip"], capture_output=True, check=False)
    return done.returncode == 0


def extensions(into: Path) -> list[Path]:
    """Compile an extension against every released header of the ABI, once for all Pythons."""
    into.mkdir()
    source = ROOT / EXTENSIONS / "scale.c"
    headers = sorted((ROOT / EXTENSIONS).glob("abi_*"))
    libraries = [into / f"{header.name}.so" for header in headers]
    for header, library in zip(headers, libraries, strict=True):
        run("cc", "-shared", "-fPIC", "-O1", f"-I{header}", source, "-o", library)
    return libraries


def installed(folder: Path, python: str, home: Path, libraries: list[Path]) -> Path:
    """Install the wheels in a new environment, check, train, test and load extensions there. Its Python."""
    run(python, "-m", "venv", home)
    own = home / "bin" / "python"
    env = {name: value for name, value in os.environ.items() if name not in OTHERS}
    wheels = sorted(folder.glob("*.whl"))
    run(own, "-m", "pip", "install", "--quiet", *wheels, env=env)
    run(own, "-m", "pip", "check", env=env)
    for command in (["smoke.py"], ["old_binaries.py", *libraries]):
        run(own, ROOT / "tools" / "ship" / command[0], *command[1:], cwd=home, env=env)
    run(own, "-m", "taeda", "--test", cwd=home, env=env)
    return own


def materials(python: Path, into: Path) -> dict[str, str]:
    """Write the bill of materials of an environment; the licence of each distribution in it."""
    options = ("--output-format", "JSON", "--output-reproducible", "--output-file", into)
    run("cyclonedx-py", "environment", *options, python)
    found = {}
    for component in json.loads(into.read_text())["components"]:
        names = [_licence(entry) for entry in component.get("licenses", [])]
        found[component["name"]] = " / ".join(sorted({*filter(None, names)}))
    if unknown := [name for name, licence in found.items() if not licence]:
        raise Wrong(f"these say no licence: {', '.join(unknown)}")
    return found


def _licence(entry: dict[str, object]) -> str:
    if "expression" in entry:
        return str(entry["expression"])
    licence = entry["license"]
    assert isinstance(licence, dict)
    return str(licence.get("id") or licence.get("name", "")).partition("\n")[0][:80]


def say(text: str) -> None:
    print(text, flush=True)


def make(into: Path, once: bool) -> None:
    """Bump, gather and build; what was built goes to `into`."""
    shutil.rmtree(into, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        first = clone(ROOT, scratch / "first")
        date = run("git", "log", "-1", "--format=%cs", cwd=first).strip()
        raised = bumped(first, date)
        say(f"new versions: {', '.join(raised) or 'none, the last commit is a release'}")
        files = built(first, into)
        (into / "NOTES.md").write_text(notes(first))
        say(f"built: {len(files)} files")
        if not once:
            built(clone(first, scratch / "second"), scratch / "again")
            count = compare(into, scratch / "again")
            say(f"built again elsewhere: {count} files, all the same bytes")


def judge(into: Path) -> None:
    """Look at the files in a folder, install them on every Python, and write what goes with them."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        count = rebuild(into, scratch / "unpacked")
        say(f"built from their source distributions: {count} wheels, the same bytes")
        if wrong := list(contents(into)):
            raise Wrong("; ".join(wrong))
        run("twine", "check", "--strict", *products(into))
        say("metadata, licences and contents of all files: in order")
        licences = materials(everywhere(into, scratch), into / "sbom.cdx.json")
        say("\n".join(f"  {name}: {licence}" for name, licence in sorted(licences.items())))
        sums = "".join(f"{digest(path)}  {path.name}\n" for path in products(into))
        (into / "SHA256SUMS").write_text(sums)
    wheelhouse.find_links(into)
    say(f"{into}: files, SHA256SUMS, NOTES.md, sbom.cdx.json, index")


def everywhere(into: Path, scratch: Path) -> Path:
    """Install the files into each Python, or say which is missing; the Python of the last environment."""
    found, libraries = interpreters(), extensions(scratch / "extensions")
    if not found:
        raise Wrong(f"none of the Pythons {', '.join(packages.PYTHONS)} is here")
    for version in packages.PYTHONS:
        if version not in found:
            say(
                f"Python {version}: skipped, there is none here; `uv python install {version}` brings it"
            )
            continue
        own = installed(into, found[version], scratch / version, libraries)
        say(
            f"Python {version}: installed, pip check, trained, self-test passed, {len(libraries)} older "
            "extensions run"
        )
    return own


def main(arguments: list[str] | None = None) -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--into", type=Path, default=ROOT / "dist" / "release")
    parser.add_argument("--once", action="store_true", help="do not build a second time")
    parser.add_argument("--judge", action="store_true", help="build nothing: judge what is there")
    options = parser.parse_args(arguments)
    try:
        if not options.judge:
            make(options.into.resolve(), options.once)
        judge(options.into.resolve())
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
