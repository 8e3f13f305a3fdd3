"""One operator, swiglu(gate, up) = gate * sigmoid(gate) * up, in C, in C++ and in CUDA: built,
checked, measured.

python examples/custom_op/swiglu.py        build all, compare them with the formula, print their times
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import taeda
from taeda import Tensor
from taeda.utils.benchmark import Timer
from taeda.utils.cpp_extension import load

HERE = Path(__file__).parent
# For this machine's vector unit. Fast math lets the compiler call exp for many elements at a time;
# it also lets it assume that there is no NaN, so a kernel that promises something for NaN goes
# without.
FAST = ["-march=native", "-ffast-math"]


def formula(gate: Tensor, up: Tensor) -> Tensor:
    """What the kernels compute in one pass, from operations that take one pass each."""
    return gate * taeda.sigmoid(gate) * up


def build() -> dict[str, ModuleType]:
    """The extension in every language that can be compiled here."""
    made = {
        "C": load("swiglu_c", str(HERE / "swiglu.c"), extra_cflags=FAST),
        "C++": load("swiglu_cpp", str(HERE / "swiglu.cpp"), extra_cflags=FAST),
    }
    if shutil.which("nvcc"):
        made["CUDA"] = load("swiglu_cuda", str(HERE / "swiglu.cu"))
    return made


def training_step(swiglu: Callable[[Tensor, Tensor], Tensor], gate: Tensor, up: Tensor) -> None:
    """Forward and backward."""
    swiglu(gate, up).sum().backward()
    gate.grad = up.grad = None


def measure(modules: dict[str, ModuleType]) -> None:
    """Microseconds of a call and of a training step, beside the formula's."""
    gates = {n: taeda.randn(n, requires_grad=True) for n in (16, 2**20)}
    ways = {"formula": formula, **{name: m.swiglu for name, m in modules.items() if name != "CUDA"}}
    print(
        f"{'microseconds':10} {'call of 16':>12} {'of 2**20':>12} {'step of 16':>12} {'of 2**20':>12}"
    )
    for name, swiglu in ways.items():
        times = []
        for statement in ("f(gate.detach(), gate.detach())", "step(f, gate, gate)"):
            for gate in gates.values():
                names = {"f": swiglu, "gate": gate, "step": training_step}
                times.append(
                    1e6 * Timer(statement, globals=names).blocked_autorange(min_run_time=0.3).median
                )
        print(f"{name:12} " + " ".join(f"{t:12.1f}" for t in times))


def main() -> None:
    taeda.manual_seed(0)
    modules = build()
    gate, up = taeda.randn(2, 3, 1000).unbind()
    for name, module in modules.items():
        if name == "CUDA" and not module.available():
            print("CUDA: compiled, and not run: there is no NVIDIA device here")
            continue
        taeda.testing.assert_close(module.swiglu(gate, up), formula(gate, up))
        print(f"{name}: equals the formula")
    measure(modules)


if __name__ == "__main__":
    main()
