"""Two runs of a script, and what they say."""

from __future__ import annotations

import cProfile
import io
import pstats
from collections.abc import Sequence

from taeda.profiler import profile
from taeda.profiler._script import Script
from taeda.utils.collect_env import get_pretty_env_info

__all__ = ["report"]

_RULE = "-" * 80


def report(path: str, args: Sequence[str]) -> int:
    """Print where the script runs, its functions and its operations; return its exit code. An
    exception of the script is printed, and what ran until then is reported.
    """
    script = Script.read(path, args)
    _say("Environment", get_pretty_env_info())
    functions = cProfile.Profile()
    functions.enable()
    try:
        code = script.run()
    finally:
        functions.disable()
    text = io.StringIO()
    pstats.Stats(functions, stream=text).sort_stats("tottime").print_stats(15)
    _say("Functions, by Python's profiler", text.getvalue())
    if code:
        return code  # a second run would fail too
    with profile() as operations:
        code = script.run()
    sums = operations.key_averages()
    _say("Operations, by taeda.profiler", sums.table(sort_by="self_cpu_time_total", row_limit=15))
    return code


def _say(title: str, text: str) -> None:
    print(_RULE, title, _RULE, text.strip(), "", sep="\n", flush=True)
