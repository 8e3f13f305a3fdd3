"""taeda for 64-bit Arm, built and tested on another processor: Debian's cross compiler and qemu-user.

    aarch64.py ready     install and fetch what is missing, where that can be done
    aarch64.py build     the library, build/aarch64/native/lib/_core.abi3.so, for Python 3.11
    aarch64.py c         the tests in C, and the bits of every loop against those of x86
    aarch64.py ops       a bounded part of core's tests of operations, under a Python for Arm
    aarch64.py           all three; each says how long it took
    aarch64.py --short   all three, for every change: one instruction set of x86, two
                                      minutes of operations

It needs `apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user`. Python for Arm comes
from Debian 12's packages, numpy and cffi from their wheels. Both are unpacked below build/aarch64 and
not installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/hunt"))
import c_tests  # noqa: E402 - our own tool, found through the line above

hatch_build = c_tests.hatch_build
cc = c_tests.cc

__all__ = [
    "differing",
    "digests",
    "get_ready",
    "may_differ",
    "python_command",
    "require",
    "timed",
]

BUILD = ROOT / "build" / "aarch64"
SYSROOT = BUILD / "sysroot"
SITE = BUILD / "site"
COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
ISAS = {"generic": ("-Wno-psabi",)}
#: what a check of every change compiles: the vectors that kernels are written in, in half of the time
SHORT_ISAS = {"generic": (*ISAS["generic"], "-O1")}
PACKAGES = ("python3.11", "libpython3.11-dev", "libstdc++6")
WHEELS = ("numpy", "cffi", "ml-dtypes", "scipy-openblas32", "hypothesis")
#: instruction sets that fuse products into sums, as Arm's does. The plain one of x86 does not: its
#: last bits differ.
FUSED = ("avx2", "avx512")
#: Loops that call the C library, whose last bits differ on another processor. Why `tan` differs is
#: not known yet.
LIBRARY_FUNCTIONS = frozenset(
    "_standard_gamma_grad bessel_j0 bessel_j1 bessel_y0 bessel_y1 igamma igammac lgamma tan".split()
)
#: files of packages/core/tests that run under the emulator, which takes twenty times as long
OPS = tuple(f"ops/test_{name}.py" for name in "promotion matmul softmax norm loss scan".split())
SHORT_OPS = ("ops/test_softmax.py", "ops/test_scan.py")
#: minutes for the tests of operations
MINUTES, SHORT_MINUTES = 20.0, 2.0
HEADERS = "/usr/aarch64-linux-gnu/include/stdio.h"
DEBIAN = {
    COMPILER: "gcc-aarch64-linux-gnu",
    HEADERS: "libc6-dev-arm64-cross",
    EMULATOR: "qemu-user",
}


def require() -> None:
    """Exit with a sentence that names the command to run, unless compiler and emulator are there."""
    if missing := _missing():
        sudo = "" if os.geteuid() == 0 else "sudo "
        packages = " ".join(DEBIAN[name] for name in missing)
        sys.exit(
            f"aarch64: {' and '.join(missing)} not found; "
            f"on Debian, run `{sudo}apt-get install {packages}`"
        )


def get_ready() -> None:
    """Install and fetch what is missing; exit with the reason where that cannot be done here."""
    if _missing() and os.geteuid() == 0 and shutil.which("apt-get"):
        packages = [DEBIAN[name] for name in _missing()]
        install = ["apt-get", "-q", "install", "-y", "--no-install-recommends", *packages]
        for command in (["apt-get", "-q", "update"], install):
            told = subprocess.run(command, capture_output=True, text=True, check=False)
            if told.returncode:
                sys.exit(f"aarch64: `{' '.join(command)}` failed: {_last_line(told.stderr)}")
    require()
    try:
        fetch()
    except subprocess.CalledProcessError as error:
        sys.exit(f"aarch64: a Python for Arm could not be fetched: {error}")


def _missing() -> list[str]:
    return [name for name in DEBIAN if not (shutil.which(name) or Path(name).is_file())]


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]


@contextmanager
def timed(part: str) -> Iterator[None]:
    """Print how long a part took, and how much of it processors were at work for it."""
    started, before = time.monotonic(), os.times()
    yield
    after = os.times()
    work = sum(after[:4]) - sum(before[:4])
    _tell(f"{part} took {time.monotonic() - started:.0f} s, {work:.0f} s of processors")


# ---- a Python for Arm ----


def fetch() -> None:
    """Unpack Debian's Python for Arm into SYSROOT and wheels into SITE, unless they are there."""
    if not (SYSROOT / "usr/bin/python3.11").exists():
        _fetch_debs()
    if not (SITE / WHEELS[-1]).exists():
        _fetch_wheels()


def _fetch_debs() -> None:
    state = BUILD / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    settings = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "Dir::State": state,
        "Dir::State::Lists": state / "lists",
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
        "Debug::NoLocking": "true",
    }
    apt = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in settings.items())]
    print("fetching Python for Arm", flush=True)
    subprocess.run([*apt, "update"], check=True, stdout=subprocess.DEVNULL)
    wanted = ("install", "-y", "--no-install-recommends", "--download-only", *PACKAGES)
    subprocess.run([*apt, *wanted], check=True, stdout=subprocess.DEVNULL)
    for deb in sorted((state / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(deb), str(SYSROOT)], check=True)


def _fetch_wheels() -> None:
    platforms = [f"--platform=manylinux_2_{n}_aarch64" for n in (17, 27, 28)]
    where = ("--no-deps", "--only-binary=:all:", "--python-version=3.11", *platforms)
    print("fetching numpy and others for Arm", flush=True)
    pip = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else ["pip"]
    command = [*pip, "download", "-q", "-d", str(BUILD / "wheels"), *where]
    subprocess.run([*command, "--platform=manylinux2014_aarch64", *WHEELS], check=True)
    for wheel in (BUILD / "wheels").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(SITE)


def emulated(command: Sequence[str]) -> list[str]:
    """The command line that runs a program for Arm here."""
    root = SYSROOT if (SYSROOT / "lib").exists() else Path("/usr/aarch64-linux-gnu")
    return [EMULATOR, "-L", str(root), *command]


def python_command() -> list[str]:
    return emulated([str(SYSROOT / "usr/bin/python3.11")])


# ---- building ----


def build(kernels: dict[str, tuple[str, ...]]) -> Path:
    """Compile and link the library for Arm, with these flags of kernels; return it."""
    fetch()
    os.environ["TAEDA_SANITIZE"] = ""
    folder = BUILD / "native"
    include = SYSROOT / "usr" / "include"
    generated = hatch_build.generate(folder / "generated")
    headers = (include / "python3.11", include)
    units = hatch_build.units(generated, folder / "generated", kernels, headers)
    flags = hatch_build.CFLAGS
    out = folder / "lib" / hatch_build.LIBRARY
    entry = hatch_build.entry_units(headers)
    with cross_compiling():
        cc.build(entry, out.parent / hatch_build.ENTRY, folder, flags, (), progress=_tell)
        return cc.build(units, out, folder, flags, hatch_build.LDFLAGS, progress=_tell)


@contextmanager
def cross_compiling() -> Iterator[None]:
    """Name the cross compiler in CC, behind ccache where that was there; afterwards CC is as before."""
    given = os.environ.get("CC")
    cached = (given or "").split()[:1] == ["ccache"]
    os.environ["CC"] = f"ccache {COMPILER}" if cached else COMPILER
    try:
        yield
    finally:
        del os.environ["CC"]
        if given is not None:
            os.environ["CC"] = given


def _tell(line: str) -> None:
    print(f"aarch64: {line}", flush=True)


# ---- tests in C, and bits ----


def test_c(isas: Sequence[str], kernels: dict[str, tuple[str, ...]]) -> int:
    """Run the tests in C under the emulator; compare the bits of every loop with x86's `isas`.
    Return how many failed.
    """
    here = c_tests.program("none", files=(), loops=True)
    with cross_compiling():
        there = c_tests.program("none", isas=kernels, folder=BUILD / "native", link=("-static",))
    files = sorted({file for file, _ in c_tests.discover()})
    failed = c_tests.run(emulated([str(there)]), files, {"HARNESS_EMULATED": "1"})
    ours = digests(emulated([str(there)]), {})
    for isa in isas:
        theirs = digests([str(here)], {"TAEDA_ISA": isa})
        told = differing(ours, theirs)
        print(f"bits of {len(ours)} loops on Arm against {isa}: {len(told)} differ")
        unexpected = [name for name in told if not may_differ(name)]
        if isa in FUSED and unexpected:
            print("these should not:", *unexpected)
            failed += 1
    return failed


def may_differ(name: str) -> bool:
    """Whether the last bits of a loop, "op dtype", may differ on Arm: complex functions, and those
    of the C library.
    """
    op, dtype = name.split(" ")
    return dtype.startswith("complex") or op in LIBRARY_FUNCTIONS


def digests(command: Sequence[str], environment: dict[str, str]) -> dict[str, str]:
    """A sum of the bits of every loop's results on the same operands, by "op dtype"; NaN counts as
    one number.
    """
    done = subprocess.run(
        [*command, "--digests"],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


def differing(ours: dict[str, str], theirs: dict[str, str]) -> list[str]:
    """Names with other bits, or that only one side has."""
    return sorted(name for name in ours | theirs if ours.get(name) != theirs.get(name))


# ---- operations ----


def test_ops(minutes: float, files: Sequence[str]) -> int:
    """Run tests of operations under a Python for Arm, as many files as fit into the time; return
    how many failed.
    """
    fetch()
    view = BUILD / "view"
    _borrow(view)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (SITE, view, ROOT / "packages/autograd/src"))),
        "TAEDA_NATIVE": str(BUILD / "native" / "lib"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "2",
    }
    facts = "import platform, taeda; print(platform.machine(), taeda.arange(3).exp().sum().item())"
    subprocess.run([*python_command(), "-c", facts], env=environment, check=True)
    tests = [str(ROOT / "packages" / "core" / "tests" / file) for file in files]
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-x", *tests]
    try:
        done = subprocess.run(
            [*python_command(), *words], env=environment, timeout=60 * minutes, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"stopped after {minutes} minutes; nothing had failed")
        return 0
    return done.returncode


def _borrow(view: Path) -> None:
    """Make links to core's Python and to pytest, with the package that was compiled for Arm."""
    shutil.rmtree(view, ignore_errors=True)
    (view / "taeda").mkdir(parents=True)
    for source in (ROOT / "packages" / "core" / "src" / "taeda").iterdir():
        if source.name != hatch_build.ENTRY:
            (view / "taeda" / source.name).symlink_to(source)
    (view / "taeda" / hatch_build.ENTRY).symlink_to(BUILD / "native" / "lib" / hatch_build.ENTRY)
    names = "pytest _pytest py.py pluggy iniconfig packaging pygments sortedcontainers"
    for name in names.split():
        for source in (found for folder in sys.path for found in Path(folder).glob(name)):
            if not (view / source.name).exists():
                (view / source.name).symlink_to(source)


def main() -> int:
    """Do what is asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "what", nargs="?", choices=("ready", "build", "c", "ops", "all"), default="all"
    )
    parser.add_argument(
        "--short", action="store_true", help="what fits into a check of every change"
    )
    parser.add_argument("--minutes", type=float, help="for the tests of operations")
    parser.add_argument("--tests", nargs="+", help="below packages/core/tests")
    options = parser.parse_args()
    if options.what == "ready":
        get_ready()
        return 0
    require()
    kernels = SHORT_ISAS if options.short else ISAS
    minutes = options.minutes or (SHORT_MINUTES if options.short else MINUTES)
    tests = options.tests or (SHORT_OPS if options.short else OPS)
    failed = 0
    if options.what != "c":
        with timed("build"):
            print(build(kernels))
    if options.what in ("c", "all"):
        with timed("c"):
            failed += test_c(FUSED[:1] if options.short else tuple(hatch_build.ISA_FLAGS), kernels)
    if options.what in ("ops", "all"):
        with timed("ops"):
            failed += test_ops(minutes, tests)
    print("failed" if failed else "Arm: all as it should be")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
