"""The compilers of this machine: which are used, what they are, and what is said when one is missing."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from taeda._core_api.building import NotReady

__all__ = [
    "CompilerVersion",
    "c_compiler",
    "check_compiler_is_gcc",
    "check_compiler_ok_for_platform",
    "cxx_compiler",
    "get_compiler_abi_compatibility_and_version",
    "get_cxx_compiler",
    "is_ninja_available",
    "jobs",
    "verify_ninja_availability",
]

#: The oldest compilers with C++17 in full.
OLDEST = {"gcc": (8, 0, 0), "clang": (7, 0, 0)}


class CompilerVersion(str):
    """A version such as "12.2.0" that compares by its numbers, with texts and with tuples.

    >>> CompilerVersion("12.2.0") > "9.4", CompilerVersion("12.2.0") >= (12, 2)
    (True, True)
    """

    __slots__ = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers, without trailing zeros."""
        return _numbers(self)

    def __lt__(self, other: object) -> bool:
        return self.numbers < _numbers(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str | tuple) and self.numbers == _numbers(other)

    # A text brings these of its own, which compare letters.
    def __le__(self, other: object) -> bool:
        return self.numbers <= _numbers(other)

    def __gt__(self, other: object) -> bool:
        return self.numbers > _numbers(other)

    def __ge__(self, other: object) -> bool:
        return self.numbers >= _numbers(other)

    def __hash__(self) -> int:
        return hash(self.numbers)


def _numbers(version: object) -> tuple[int, ...]:
    if isinstance(version, str):
        parts: Sequence[object] = str.split(version, ".")
    elif isinstance(version, tuple):
        parts = version
    else:
        raise TypeError(
            f"a compiler's version compares with a text or a tuple, not {type(version)}"
        )
    numbers = [int(str(part)) for part in parts]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def get_cxx_compiler() -> str:
    """The C++ compiler's command: $CXX, else `c++`.

    >>> import os
    >>> get_cxx_compiler() == os.environ.get("CXX", "c++")
    True
    """
    return os.environ.get("CXX") or "c++"


def cxx_compiler() -> tuple[str, ...]:
    """The words of the C++ compiler's command. NotReady if it is not installed."""
    return _found(get_cxx_compiler(), "CXX", "C++", ("g++", "clang++"))


def c_compiler() -> tuple[str, ...]:
    """The words of the C compiler's command: $CC, else `cc`. NotReady if it is not installed."""
    return _found(os.environ.get("CC") or "cc", "CC", "C", ("gcc", "clang"))


def _found(name: str, variable: str, language: str, others: tuple[str, ...]) -> tuple[str, ...]:
    candidates = [name] if os.environ.get(variable) else [name, *others]
    for candidate in candidates:
        command = tuple(shlex.split(candidate))
        if command and shutil.which(command[0]):
            return command
    looked = f"${variable} = {name!r}" if os.environ.get(variable) else ", ".join(candidates)
    raise NotReady(
        f"the extension is compiled from {language}, and there is no {language} compiler here "
        f"(looked for {looked}).\n"
        "Get one: `apt install g++` (Debian, Ubuntu), `dnf install gcc-c++` (Fedora), "
        "`xcode-select --install` (macOS).\n"
        f"Or name one that is installed elsewhere: {variable}=/path/to/compiler."
    )


def _defined(compiler: str) -> dict[str, str]:
    """What the compiler says of itself, by its predefined macros; empty if it cannot be run."""
    command = [*shlex.split(compiler), "-dM", "-E", "-x", "c", os.devnull]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    lines = [line.split(" ", 2) for line in done.stdout.splitlines() if line.startswith("#define ")]
    return {line[1]: line[2] for line in lines if len(line) == 3}


def _identity(compiler: str) -> tuple[str, tuple[int, ...]]:
    """("gcc", (12, 2, 0)), ("clang", …) or ("", ()) for what is neither."""
    macros = _defined(compiler)
    for family, names in {
        "clang": ("__clang_major__", "__clang_minor__", "__clang_patchlevel__"),
        "gcc": ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"),
    }.items():
        if all(name in macros for name in names):
            return family, tuple(int(macros[name]) for name in names)
    return "", ()


def check_compiler_is_gcc(compiler: str) -> bool:
    """Is `compiler` (a command) the GNU compiler?

    Args:
        compiler: its command or path

    >>> check_compiler_is_gcc("no-such-compiler")
    False
    """
    return _identity(compiler)[0] == "gcc"


def check_compiler_ok_for_platform(compiler: str) -> bool:
    """Is `compiler` (a command) one that extensions are built with: GCC or clang?

    Args:
        compiler: its command or path

    >>> check_compiler_ok_for_platform("no-such-compiler")
    False
    """
    return bool(_identity(compiler)[0])


def get_compiler_abi_compatibility_and_version(compiler: str) -> tuple[bool, CompilerVersion]:
    """Return (can extensions be built with `compiler`, its version).

    True says compatible. Extensions meet the core in C, so every GCC and clang that knows C++17 is.
    What is no compiler, or is none of these, gives (False, "0.0.0").

    Args:
        compiler: its command or path

    >>> get_compiler_abi_compatibility_and_version("no-such-compiler")
    (False, '0.0.0')
    """
    family, version = _identity(compiler)
    if not family:
        return False, CompilerVersion("0.0.0")
    return version >= OLDEST[family], CompilerVersion(".".join(map(str, version)))


def is_ninja_available() -> bool:
    """Is the build tool ninja installed? Nothing here needs it: taeda's own driver compiles.

    >>> is_ninja_available() in (True, False)
    True
    """
    beside = Path(sys.executable).parent / "ninja"
    return shutil.which("ninja") is not None or beside.is_file()


def verify_ninja_availability() -> None:
    """Raise RuntimeError unless ninja is installed.

    >>> if is_ninja_available():
    ...     verify_ninja_availability()
    """
    if not is_ninja_available():
        raise RuntimeError(
            "ninja is not installed (looked for `ninja` on the PATH). Get it: pip install ninja. "
            "Building taeda's extensions does not need it."
        )


def jobs() -> int | None:
    """How many compilers run at once: $MAX_JOBS, or None for as many as there are processors.
    ValueError if it is no number.
    """
    wanted = os.environ.get("MAX_JOBS")
    if wanted is None:
        return None
    if not wanted.isdecimal():
        raise ValueError(f"MAX_JOBS must be a whole number, 0 or more, got {wanted!r}")
    return max(1, int(wanted))
