"""Compile kernels before they are needed, into the folder where later processes find them.

    python -m taeda.cuda.warm                              all operators, float32, devices here
    python -m taeda.cuda.warm --ops add gelu matmul --dtypes float32 bfloat16
    python -m taeda.cuda.warm --arch 80 90                 on a machine without a device, for other machines
    python -m taeda.cuda.warm --list                       the names that --ops takes
    python -m taeda.cuda.warm --arch 80 90 --wheel dist    also as a package, for machines without NVRTC

It needs NVRTC and no device. What is there already is left alone, so it may be run again. The status
is 1 if a kernel could not be compiled or kept.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from taeda import __version__

from . import _catalogue, _cubins_wheel, _devices, _nvrtc, _programs

__all__ = ["main"]

#: as users write the first of `_programs.DTYPES`
NAMES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
)
MOST_LINES = 4  # of the compiler's words on a kernel
DTYPES = dict(zip(NAMES, _programs.DTYPES, strict=False))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; `arguments` are those of the process unless given. The exit status.

    Args:
        arguments: the words behind the command's name; None is those of the process.

    >>> import contextlib, io
    >>> with contextlib.redirect_stdout(io.StringIO()) as out:
    ...     status = main(["--list"])
    >>> "add" in out.getvalue().split()
    True
    """
    options = _parser().parse_args(arguments)
    if options.list:
        print("\n".join(_catalogue.groups()))
        return 0
    try:
        names, dtypes, arches = _chosen(options.ops, options.dtypes, options.arch)
        programs = _catalogue.programs(names, dtypes)
        failed = _warm(programs, arches, options.jobs)
        if options.wheel is not None and not failed:
            _write_wheel(options.wheel, programs, arches)
        return failed
    except MemoryError:
        raise
    except (ValueError, RuntimeError, OSError) as error:
        print(f"taeda.cuda.warm: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m taeda.cuda.warm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--ops", nargs="+", default=[], metavar="NAME", help="all unless given")
    parser.add_argument(
        "--dtypes", nargs="+", default=["float32"], metavar="DTYPE", help="float32 unless given"
    )
    parser.add_argument(
        "--arch", nargs="+", type=int, metavar="N", help="90 is compute capability 9.0"
    )
    parser.add_argument("--jobs", type=int, default=0, help="how many compile at once")
    parser.add_argument(
        "--wheel", type=Path, metavar="DIR", help="write the kernels into a wheel there"
    )
    parser.add_argument("--list", action="store_true", help="print the names that --ops takes")
    return parser


def _chosen(
    ops: list[str], dtypes: list[str], arches: list[int] | None
) -> tuple[list[str], list[str], list[int]]:
    known = _catalogue.groups()
    for given, all_of_them, what in ((ops, known, "--ops"), (dtypes, NAMES, "--dtypes")):
        for name in given:
            if name not in all_of_them:
                near = difflib.get_close_matches(name, all_of_them)
                hint = (
                    f"; did you mean {' or '.join(near)}?"
                    if near
                    else ", --list names the operators"
                )
                raise ValueError(f"{what}: there are no kernels called {name!r}{hint}")
    return ops or known, [DTYPES[name] for name in dtypes], arches or _arches_here()


def _arches_here() -> list[int]:
    capabilities = map(_devices.get_device_capability, range(_devices.device_count()))
    found = sorted({10 * major + minor for major, minor in capabilities})
    if not found:
        raise ValueError("there is no device here: name architectures, as in --arch 80 90")
    return found


def _warm(programs: list[_catalogue.Program], arches: list[int], jobs: int) -> int:
    _nvrtc.version()  # says what is missing before anything is counted
    if _programs.folder() is None:
        raise RuntimeError(f"kernels cannot be kept in {_programs.place()}")
    failed = [reason for arch in arches if (reason := _of_one(programs, arch, jobs))]
    for reason in failed:
        print(f"taeda.cuda.warm: {reason}", file=sys.stderr)
    return bool(failed)


def _of_one(programs: list[_catalogue.Program], arch: int, jobs: int) -> str:
    """Compile what is not there for an architecture; why not, if one failed: the rest is left then."""
    begin = time.perf_counter()
    missing = [p for p in programs if not _programs.is_kept(*p, arch)]
    bar = _Bar(f"sm_{arch}", len(missing))
    failed = ""
    with ThreadPoolExecutor(jobs or _cores()) as pool:
        waiting = {pool.submit(_compile, program, arch): program for program in missing}
        for done in as_completed(waiting):
            try:
                done.result()
            except MemoryError:
                raise
            except RuntimeError as error:
                failed = "\n".join(f"sm_{arch}: {error}".splitlines()[:MOST_LINES])
                pool.shutdown(wait=False, cancel_futures=True)
                break
            bar.advance(waiting[done])
    bar.close()
    if not failed:
        took, there = time.perf_counter() - begin, len(programs) - len(missing)
        print(
            f"sm_{arch}: {len(programs)} kernels, {len(missing)} compiled and {there} there before, "
            f"in {took:.1f} s: {_programs.place()}"
        )
    return failed


def _write_wheel(folder: Path, programs: list[_catalogue.Program], arches: list[int]) -> None:
    images = {
        arch: dict(_programs.entry(*program, arch) for program in programs) for arch in arches
    }
    path = _cubins_wheel.write(folder, __version__, images)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB; install it with pip")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _compile(program: _catalogue.Program, arch: int) -> None:
    kind, name, dtype, source, how = program
    numbers = _programs.DTYPES.index(dtype), _programs.DTYPES.index(source)
    _programs.program(kind, name, *numbers, how, arch)
    if not _programs.is_kept(*program, arch):
        raise RuntimeError(f"{name} {dtype} was compiled and could not be kept")


class _Bar:
    """`sm_90 [####......] 120 of 420, gelu F32`, over and over on one line of a terminal; elsewhere
    nothing.
    """

    WIDTH = 30

    def __init__(self, label: str, total: int) -> None:
        self.label, self.total, self.done = label, total, 0
        self.shown = sys.stderr.isatty() and total > 0

    def advance(self, program: _catalogue.Program) -> None:
        self.done += 1
        if self.shown:
            filled = self.WIDTH * self.done // self.total
            bar = "#" * filled + "." * (self.WIDTH - filled)
            last = f"{program.name} {program.dtype}"
            text = f"\r{self.label} [{bar}] {self.done} of {self.total}, {last:<24.24}"
            print(text, end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.shown:
            print(file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
