"""Statements in C++, compiled with the extension toolkit into a function that runs them a number of times."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import taeda

__all__ = ["CppTimer"]

# The asm keeps a compiler from lifting a statement without effects out of the loop.
_TEMPLATE = """
#include <chrono>
#include <cstdint>
{global_setup}

taeda::Tensor timeit(taeda::Tensor number) {{
    const int64_t runs = number.data<int64_t>()[0];
    {setup};
    auto start = std::chrono::steady_clock::now();
    for (int64_t run = 0; run < runs; run++) {{
        {stmt};
        __asm__ volatile("" ::: "memory");
    }}
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return taeda::full<double>({{}}, seconds.count());
}}
"""


class CppTimer:
    """What `timeit.Timer` is for Python: `timeit(number)` is the seconds of `number` runs after one setup.

    The compiled program reads the steady clock itself, unless the caller brought a clock of his own.
    """

    def __init__(
        self, stmt: str, setup: str, global_setup: str, clock: Callable[[], float] | None
    ) -> None:
        parts = {"stmt": stmt, "setup": "" if setup == "pass" else setup}
        self._source = _TEMPLATE.format(global_setup=global_setup, **parts)
        self._clock = clock
        self._module: Any = None

    def timeit(self, number: int) -> float:
        """Seconds of `number` runs. Compiles at the first call: RuntimeError with the compiler's
        words if that fails.
        """
        run, runs = self._compiled().timeit, taeda.tensor(number)
        if self._clock is None:
            return run(runs).item()
        start = self._clock()
        run(runs)
        return self._clock() - start

    def _compiled(self) -> Any:
        if self._module is None:
            self._module = _load(self._source)
        return self._module


def _load(source: str) -> Any:
    try:
        from taeda.utils.cpp_extension import load_inline
    except ImportError as error:
        from taeda._core_api import advice

        command = advice("taeda-cpp-extension")
        raise ImportError(f"a Timer of C++ needs the extension toolkit: {command}") from error
    name = "timer_" + hashlib.sha256(source.encode()).hexdigest()[:16]
    return load_inline(name, cpp_sources=source, functions=["timeit"], extra_cflags=["-O3"])
