"""What an extension costs: building it, finding it built, calling its operators.
Beside torch where torch and ninja are.

python benchmarks/extensions.py            the whole table; torch's builds take a minute
python benchmarks/extensions.py --alone    without torch
python benchmarks/extensions.py --hold     calls alone; the exit status is 1 where one is above its limit

Calls are measured in the thread's processor time, which other processes of a busy machine do not take.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

# The same ten lines for both: only the names of the library differ.
KERNEL = """
{ns}::Tensor minus(const {ns}::Tensor &x)
{{
    {ns}::Tensor y = {ns}::empty_like(x);
    const float *from = x.{read}<float>();
    float *to = y.{write}<float>();
    int64_t n = x.numel();
    for (int64_t i = 0; i < n; i++) to[i] = -from[i];
    return y;
}}
"""
WORDS = {
    "taeda": {"ns": "taeda", "read": "data", "write": "mutable_data"},
    "torch": {"ns": "torch", "read": "const_data_ptr", "write": "mutable_data_ptr"},
}
BUILD = """
import time, {library}
from {library}.utils.cpp_extension import load_inline
start = time.perf_counter()
load_inline("minus_{library}", {source!r}, functions=["minus"])
print(time.perf_counter() - start)
start = time.perf_counter()
load_inline("minus_{library}", {source!r}, functions=["minus"])
print(time.perf_counter() - start)
"""
REGISTERED = """
TORCH_LIBRARY(extension_bench, m) { m.def("minus(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(extension_bench, CPU, m) { m.impl("minus", minus); }
"""

#: nanoseconds of a call on 16 elements, where a built-in operation takes CALM or less
LIMITS = {"taeda C++ operator": 250, "taeda custom_op": 400}
CALM = 130


@contextmanager
def cache() -> Iterator[Path]:
    """An empty folder in which both libraries build."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("TAEDA_EXTENSIONS_DIR", "TORCH_EXTENSIONS_DIR"):
            os.environ[name] = folder
        yield Path(folder)


def seconds(library: str) -> list[float]:
    """Two calls of load_inline in a new process."""
    code = BUILD.format(library=library, source=KERNEL.format(**WORDS[library]))
    command = [sys.executable, "-W", "ignore", "-c", code]
    return [
        float(line)
        for line in subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL).split()
    ]


def builds(libraries: list[str], rounds: int) -> None:
    """Time to build from nothing, in a new process that finds it built, and in one that has it."""
    print(f"{'load_inline, ten lines':24} {'cold':>10} {'next process':>14} {'same process':>14}")
    for library in libraries:
        cold, found, again = [], [], []
        for _ in range(rounds if library == "taeda" else 1):
            with cache():
                cold.append(seconds(library)[0])
                first, second = seconds(library)
                found.append(first)
                again.append(second)
        print(
            f"{library:24} {median(cold):8.2f} s {1e3 * median(found):11.2f} ms "
            f"{1e3 * median(again):11.2f} ms"
        )


def processes() -> None:
    """Two builders at once; a builder that is killed."""
    body = BUILD.format(library="taeda", source=KERNEL.format(**WORDS["taeda"]))
    with cache() as folder:
        compiler = folder / "compiler"
        compiler.write_text(
            f'#!/bin/sh\ncase "$*" in *" -c "*) echo one >> {folder}/log;; esac\nexec c++ "$@"\n'
        )
        compiler.chmod(0o755)
        env = {**os.environ, "CXX": str(compiler)}
        start = [
            subprocess.Popen([sys.executable, "-c", body], env=env, stdout=subprocess.DEVNULL)
            for _ in range(2)
        ]
        statuses = [process.wait() for process in start]
        compiled = (folder / "log").read_text().count("one")
        print(f"two processes at once: statuses {statuses}, {compiled} compilation")
    with cache() as folder:
        killed = subprocess.Popen(
            [sys.executable, "-c", body], start_new_session=True, stdout=subprocess.DEVNULL
        )
        while not list(folder.glob("*/.main-*")):  # the compiler's unfinished output
            time.sleep(0.001)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        print(f"killed in the middle of a build: the next one takes {seconds('taeda')[0]:.2f} s")


def calls(libraries: list[str]) -> dict[str, float]:
    """Nanoseconds of a call on 16 elements, in turns, and over the library's own operator.

    Returns the least of each way: what a calm moment gives.
    """
    ways = {
        name: way for library in libraries for name, way in globals()[f"_{library}_calls"]().items()
    }
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(60):
        for name, (function, x) in ways.items():
            samples[name].append(_once(function, x))
    print(f"\n{'call on 16 elements':24} {'time':>10} {'over built-in':>16} {'least':>10}")
    for name in ways:
        own = median(samples[f"{name.split()[0]} built-in"])
        print(
            f"{name:24} {median(samples[name]):7.0f} ns {median(samples[name]) - own:13.0f} ns "
            f"{min(samples[name]):7.0f} ns"
        )
    return {name: min(times) for name, times in samples.items()}


def above(least: dict[str, float]) -> list[str]:
    """A sentence for each way of calling that costs more than its limit. On a slower or a busy machine, where
    other programs have the caches, limits grow as the built-in operation's time did.

    >>> above({"taeda built-in": 260, "taeda C++ operator": 480, "taeda custom_op": 900})
    ['taeda custom_op: 900 ns a call, and 800 is the limit where a built-in operation takes 260']
    """
    own = least["taeda built-in"]
    return [
        f"{name}: {least[name]:.0f} ns a call, and {limit * max(1.0, own / CALM):.0f} is the limit "
        f"where a built-in operation takes {own:.0f}"
        for name, limit in LIMITS.items()
        if least[name] > limit * max(1.0, own / CALM)
    ]


def _once(function: Callable[[Any], Any], x: Any) -> float:
    start = time.thread_time_ns()
    for _ in range(2000):
        function(x)
    return (time.thread_time_ns() - start) / 2000


def _taeda_calls() -> dict[str, Any]:
    import taeda
    from taeda import library
    from taeda.utils.cpp_extension import load, load_inline

    @library.custom_op("extension_bench::in_python", mutates_args=(), schema="(Tensor x) -> Tensor")
    def in_python(x: Any) -> Any:
        return -x

    here = Path(__file__).resolve().parent.parent / "packages/core/tests/extensions"
    module = load_inline("bench_minus", KERNEL.format(**WORDS["taeda"]), functions=["minus"])
    plain = load("bench_scale", str(here / "scale.c"))
    x = taeda.randn(16)
    assert (module.minus(x) == -x).all() and (plain.twice(x) == 2 * x).all()
    assert (in_python(x) == -x).all()
    return {
        "taeda built-in": (taeda.neg, x),
        "taeda C++ operator": (module.minus, x),
        "taeda C kernel of 1.0": (plain.twice, x),
        "taeda custom_op": (in_python, x),
    }


def _torch_calls() -> dict[str, Any]:
    import torch
    from torch import library
    from torch.utils.cpp_extension import load_inline

    load_inline("bench_torch", KERNEL.format(**WORDS["torch"]) + REGISTERED, is_python_module=False)
    x = torch.randn(16)

    @library.custom_op("extension_bench::in_python", mutates_args=(), schema="(Tensor x) -> Tensor")
    def in_python(x: Any) -> Any:
        return -x

    assert (torch.ops.extension_bench.minus(x) == -x).all() and (in_python(x) == -x).all()
    return {
        "torch built-in": (torch.neg, x),
        "torch C++ operator": (torch.ops.extension_bench.minus, x),
        "torch custom_op": (in_python, x),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--alone", action="store_true", help="without torch")
    parser.add_argument("--hold", action="store_true", help="calls alone, against their limits")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.hold:
        with cache():
            wrong = above(calls(["taeda"]))
        print("\n".join(wrong or ["every way is below its limit"]))
        return 1 if wrong else 0
    beside = not options.alone and importlib.util.find_spec("torch") and shutil.which("ninja")
    libraries = ["taeda", "torch"] if beside else ["taeda"]
    builds(libraries, options.rounds)
    processes()
    with cache():
        calls(libraries)
    return 0


if __name__ == "__main__":
    sys.exit(main())
