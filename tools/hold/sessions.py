"""What sessions of the noxfile stand on: rows of commands, and environments with the packages in them."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import packages as workspace

if TYPE_CHECKING:  # nox has an environment of its own; tests read the rows without it
    import nox

__all__ = [
    "DEVICES",
    "NAMES",
    "PYTHONS",
    "ROOT",
    "Row",
    "check_lists",
    "declare",
    "groups",
    "install",
    "install_wheels",
    "oracle",
    "row",
    "sanitized",
    "skip_unless",
    "taken",
    "tests_on",
]

ROOT = workspace.ROOT
PYTHONS = workspace.PYTHONS
PACKAGES = workspace.load(ROOT)
NAMES = tuple(package.short for package in workspace.order(PACKAGES))
#: packages and devices of the matrix; only core has tests that bring the stand-in driver
DEVICES = (("core", "cuda-null"), *((name, device) for name in NAMES for device in ("cpu", "cuda")))
# what a package's tests need besides: an engine, a reader of its files
EXTRAS = {"distributed": "[mpi]", "profiler": "[tensorboard]"}


@dataclass(frozen=True)
class Row:
    """A session that is commands one after the other.

    In a command the word `{}` stands for the words behind `--`. `{tmp}`, `{bin}` and `{time}` are
    the session's folder, its programs and the seconds of the clock.
    """

    name: str
    doc: str
    commands: tuple[str, ...]
    needs: tuple[str, ...] = NAMES  # packages
    groups: tuple[str, ...] = ()  # dependency groups of the root's pyproject.toml
    extras: dict[str, str] = field(default_factory=dict)  # package -> "[extra]" beside EXTRAS
    env: dict[str, str] = field(default_factory=dict)
    wheels: bool = False  # all packages as wheels, in place of `needs`
    sanitizer: bool = False  # the library under the address and undefined behaviour sanitizers
    beside_torch: bool = False


def row(name: str, doc: str, *commands: str, **options: Any) -> Row:
    """A row, its commands one after the other; options are the other fields of `Row`."""
    return Row(name, doc, commands, **options)


def declare(given: Row) -> None:
    """Tell nox of the session of a row."""
    import nox

    def run(session: nox.Session) -> None:
        prepare(session, given)
        filled = {"tmp": session.create_tmp(), "bin": session.bin, "time": str(int(time.time()))}
        env = {key: value.format(**filled) for key, value in given.env.items()}
        if given.sanitizer:
            env |= sanitized(session)
        for command in given.commands:
            outside = command.startswith("bash ")  # every other program is the environment's
            session.run(*words(command, session.posargs, filled), env=env, external=outside)

    run.__doc__ = given.doc
    run.__name__ = given.name.replace("-", "_")
    # pip reads a configuration that may name an index of processor-only builds of torch
    nox.session(run, name=given.name, venv_backend="virtualenv" if given.beside_torch else None)


def prepare(session: nox.Session, given: Row) -> None:
    """The environment of a row."""
    if given.wheels:
        install_wheels(session, "meta", "cpu")
        session.install(*groups(*given.groups))
    elif given.beside_torch:
        oracle(session)
    elif given.needs:
        install(session, *given.needs, extra_groups=given.groups, extras=EXTRAS | given.extras)
    else:
        session.install(*groups(*given.groups))


def words(command: str, posargs: list[str], filled: dict[str, str]) -> Iterator[str]:
    """The words of a command, with what they stand for.

    >>> list(words("python x.py --out {tmp}/a {}", ["-v"], {"tmp": "/t"}))
    ['python', 'x.py', '--out', '/t/a', '-v']
    """
    for word in shlex.split(command):
        yield from posargs if word == "{}" else [word.format(**filled)]


def install(
    session: nox.Session,
    *names: str,
    extra_groups: tuple[str, ...] = (),
    extras: dict[str, str] = EXTRAS,
) -> None:
    """The packages `names` with the siblings they declare, editable, in one command; then the C, up to date.

    In one command, because a sibling left out would be looked up on the package index. As wheels that
    `editable.py` keeps, because an installer would build each folder again for each environment.
    """
    same_python(session)
    chosen = workspace.order(PACKAGES, [name_of(name) for name in names])
    stamp = Path(session.virtualenv.location) / "taeda-stamp"
    files = [ROOT / "pyproject.toml", *(package.folder / "pyproject.toml" for package in chosen)]
    content = b"".join(path.read_bytes() for path in files) + repr(extra_groups).encode()
    key = hashlib.sha256(content + repr(extras).encode()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != key:
        session.install(*groups("build", "test", *extra_groups))
        session.log("compiling and installing the packages; the first time takes a minute or two")
        shorts = [package.short for package in chosen]
        said = session.run("python", "tools/hold/editable.py", *shorts, silent=True)
        wheels = str(said).strip().splitlines()[-len(chosen) :]
        # Ours anew, since an older wheel has the same version; then what they need.
        session.install("--force-reinstall", "--no-deps", *wheels)
        pairs = zip(wheels, shorts, strict=True)
        session.install(*(f"{wheel}{extras.get(short, '')}" for wheel, short in pairs))
        stamp.write_text(key)
    # .ci/run sets it when its first line has compiled what all others use
    if not os.environ.get("TAEDA_COMPILED"):
        session.run("python", "packages/core/hatch_build.py", silent=True)


def same_python(session: nox.Session) -> None:
    """Stop, unless the environment's Python is the one that was asked for.

    Environments of sessions with parameters have no version in their name: one that was made for
    another Python is taken as it is.
    """
    asked = session.python or f"{sys.version_info[0]}.{sys.version_info[1]}"
    tell = "import sys; print('%d.%d' % sys.version_info[:2])"
    has = str(session.run("python", "-c", tell, silent=True)).strip()
    if has != asked:
        session.error(
            f"{session.virtualenv.location} has Python {has}, and {asked} was asked for. "
            f"`-R` made it, or another `-P`: `matrix-{asked}(nn, cpu)` has an environment of its own"
        )


def install_wheels(session: nox.Session, name: str, device: str) -> None:
    """A package and the siblings it declares from wheels, built once for every Python; on `cuda`, what a
    card needs and the wheel of compiled kernels too.
    """
    same_python(session)
    session.install(*groups("build", "test"))
    dist = ROOT / "dist" / "matrix"
    command = ("python", "tools/ship/wheelhouse.py", "current", str(dist))
    digest = str(session.run(*command, silent=True)).strip().splitlines()[-1]
    stamp = Path(session.virtualenv.location) / "taeda-wheels"
    if stamp.is_file() and stamp.read_text() == digest:
        return
    ours = [package.name for package in workspace.order(PACKAGES, [name_of(name)])]
    again = [word for each in ours for word in ("--reinstall-package", each)]
    wanted = [f"{name_of(name)}{EXTRAS.get(name, '')}"]
    wanted += ["taeda-core[cuda13]"] if device == "cuda" else []
    session.install("--find-links", str(dist), *again, *wanted)
    if device == "cuda":
        session.run("python", "-m", "taeda.cuda.warm", "--wheel", str(dist))
        session.install(
            "--find-links",
            str(dist),
            "--reinstall-package",
            "taeda-cuda-cubins",
            "taeda-cuda-cubins",
        )
    stamp.write_text(digest)


def tests_on(package: str, device: str) -> tuple[str, ...]:
    """pytest's words for a package's tests on one of DEVICES.

    >>> tests_on("nn", "cuda")
    ('-m', 'gpu', 'packages/nn/tests')
    """
    tests = f"packages/{package}/tests"
    if device == "cuda-null":
        return (f"{tests}/cuda", f"{tests}/_cuda")
    return ("-m", "gpu", tests) if device == "cuda" else (tests,)


def oracle(session: nox.Session) -> None:
    """All packages beside torch.

    pip installs it; its configuration may name an index of processor-only builds.
    """
    install(session, *NAMES)
    stamp = Path(session.virtualenv.location) / "oracle-stamp"
    wanted = " ".join(groups("oracle"))
    if not stamp.is_file() or stamp.read_text() != wanted:
        session.install(*groups("oracle"))
        stamp.write_text(wanted)


def groups(*names: str) -> tuple[str, ...]:
    """Requirements of the root's dependency groups."""
    import nox

    root = nox.project.load_toml(ROOT / "pyproject.toml")
    return tuple(nox.project.dependency_groups(root, *names))


def name_of(short: str) -> str:
    return next(package.name for package in PACKAGES.values() if package.short == short)


def sanitized(session: nox.Session) -> dict[str, str | None]:
    """Build the library under address and undefined behaviour sanitizers; the environment it needs."""
    env = {"TAEDA_SANITIZE": "address,undefined"}
    folder = session.run("python", "packages/core/hatch_build.py", env=env, silent=True)
    preload = [compiler_file(session, name) for name in ("libasan.so", "libubsan.so")]
    return {
        "TAEDA_NATIVE": str(folder).strip().splitlines()[-1],
        "LD_PRELOAD": " ".join(preload),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # the interpreter leaks by design
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }


def compiler_file(session: nox.Session, name: str) -> str:
    command = [*shlex.split(os.environ.get("CC", "cc")), f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(path).is_absolute():
        session.error(f"the compiler has no {name} (Debian: `apt install libasan8 libubsan1`)")
    return path


def taken(words: Sequence[str], option: str, values: int = 0) -> tuple[list[str], list[str]]:
    """An option with its values as they stand among the words, [] where it does not; and the other words.

    >>> taken(["--calls", "7", "--part", "0/4"], "--part", 1)
    (['--part', '0/4'], ['--calls', '7'])
    """
    if option not in words:
        return [], [*words]
    at = words.index(option)
    end = at + 1 + values
    return [*words[at:end]], [*words[:at], *words[end:]]


def skip_unless(session: nox.Session, *command: str) -> None:
    """Skip the session unless the command, a script and its words, ends well; the reason is what it says."""
    run = [str(Path(session.bin) / "python"), *command]
    told = subprocess.run(run, stderr=subprocess.PIPE, text=True, check=False)
    if told.returncode:
        session.skip(told.stderr.strip())


def check_lists(session: nox.Session, words: list[str]) -> None:
    """The lists of `tools/try/check_lists`, in an environment with the libraries that these name."""
    install(session, *NAMES, extra_groups=("neighbours", "demo"))
    lists, run = "tools/try/check_lists", ("python", "tools/try/libraries.py")
    apart = {"bitsandbytes", "deepspeed", "torchao", "torchaudio"}
    chosen = {word for word in words if not word.startswith("-")}
    options = [word for word in words if word.startswith("-")]
    session.install("--no-deps", "-r", f"{lists}/libraries.txt")  # each would bring torch
    if not chosen or chosen - apart:
        session.run(*run, *options, *sorted(chosen - apart))
    if not chosen or chosen & apart:
        session.install("--no-deps", "-r", f"{lists}/apart.txt")
        session.run(*run, *options, *sorted(chosen & apart or apart))
