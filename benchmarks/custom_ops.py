"""What a custom operator costs: `python benchmarks/custom_ops.py` prints a table, with torch beside
it where it is installed.

Each row is one call on four numbers whose kernel copies them. The kernel's own time is the row "the
copy itself". An extension's operator is compiled for the run; the built-in beside it does the same
work.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import taeda
from taeda import library

SOURCE = """
#include <string.h>
#include "taeda/abi.h"
static const taeda_api *api;
static int32_t negate(const taeda_call *call)
{
    taeda_facts in = {sizeof in}, out = {sizeof out};
    api->facts(call->inputs[0], &in);
    int32_t code = api->empty(in.dtype, in.ndim, in.sizes, in.on_cpu, &call->outputs[0], call->error);
    if (code) return code;
    api->facts(call->outputs[0], &out);
    for (int64_t i = 0; i < in.numel; i++) ((float *)out.data)[i] = -((const float *)in.data)[i];
    return 0;
}
uint32_t taeda_ext_abi(void) { return TAEDA_ABI; }
int32_t taeda_ext_init(const taeda_api *given)
{
    taeda_error error = {0};
    taeda_op_def def = {sizeof def, 0, "bench::negate(Tensor x) -> Tensor", negate, 0, 0, 0, ""};
    api = given;
    return api->define_op(&def, &error);
}
"""


def python_op(lib: Any, library: Any, name: str) -> Any:
    """An operator whose kernel is one line of Python, made by the module `library` of `lib`."""

    def copy(x):
        return x.clone()

    copy.__annotations__ = {"x": lib.Tensor, "return": lib.Tensor}
    return library.custom_op(f"bench::{name}", copy, mutates_args=())


def with_gradient(lib: Any, library: Any, name: str) -> Any:
    """The same, with a derivative."""
    op = python_op(lib, library, name)
    op.register_autograd(lambda ctx, grad: grad)
    return op


def extension_op() -> Callable[[Any], Any]:
    """An operator of an extension in C."""
    folder = Path(tempfile.mkdtemp())
    (folder / "negate.c").write_text(SOURCE)
    include = Path(taeda.__file__).parent / "include"
    command = ["cc", "-shared", "-fPIC", "-O2", f"-I{include}", str(folder / "negate.c")]
    subprocess.run([*command, "-o", str(folder / "negate.so")], check=True)
    taeda.ops.load_library(folder / "negate.so")
    return taeda.ops.bench.negate


def rows(lib: Any, library: Any) -> dict[str, Callable[[], Any]]:
    """What is timed for a library."""
    x, wanting = lib.ones(4), lib.ones(4, requires_grad=True)
    op, recorded = python_op(lib, library, "copy"), with_gradient(lib, library, "recorded")
    by_name = lib.ops.bench.copy
    return {
        "the copy itself": lambda: x.clone(),
        "custom operator": lambda: op(x),
        "custom operator, by name": lambda: by_name(x),
        "custom operator, gradient recorded": lambda: recorded(wanting),
    }


def measured(
    actions: dict[Any, Callable[[], Any]], rounds: int = 15, calls: int = 4000
) -> dict[Any, float]:
    """Microseconds of one call: the median over rounds in which all take turns."""
    found: dict[Any, list[float]] = {key: [] for key in actions}
    for _ in range(rounds):
        for key, action in actions.items():
            start = time.thread_time()
            for _ in range(calls):
                action()
            found[key].append((time.thread_time() - start) / calls * 1e6)
    return {key: statistics.median(values) for key, values in found.items()}


def main() -> None:
    """Print the table."""
    negate, x = extension_op(), taeda.ones(4)
    own = {**rows(taeda, library), "built-in neg": x.neg, "extension's neg": lambda: negate(x)}
    actions = {("taeda", name): action for name, action in own.items()}
    try:
        import torch
        from torch import library as other
    except ImportError:
        print("torch is not installed: no column for it")
    else:
        actions |= {("torch", name): action for name, action in rows(torch, other).items()}
    times = measured(actions)
    print(f"{'one call':38}{'taeda us':>10}{'torch us':>10}{'ratio':>8}")
    for name in own:
        mine, theirs = times["taeda", name], times.get(("torch", name))
        beside = f"{theirs:10.2f}{mine / theirs:8.3f}" if theirs else ""
        print(f"{name:38}{mine:10.2f}{beside}")


if __name__ == "__main__":
    main()
