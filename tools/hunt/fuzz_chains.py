"""Random chains of elementwise operations, compiled as C and as they are: every bit, but for what a
NaN says besides that it is one.

    python tools/hunt/fuzz_chains.py --programs 2000 --seed 5000

A chain is a straight program over two or three tensors of one floating dtype, truth values, rows
that are broadcast, tensors of no dimension and numbers; some operations write in place. NaN,
infinities, zeros of both signs and subnormal numbers are among the values, some tensors lie in
another order. Each program runs as its graph, loop by loop, and then by functions that one run of
the compiler makes of the chains of many programs.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import taeda
import taeda.nn.functional as F
from taeda import Tensor
from taeda._core_api import chains
from taeda.compiler import config
from taeda.compiler._errors import NoText
from taeda.compiler._kernels import compiler as _compiler
from taeda.compiler._kernels.text import SYMBOL, of_chain

TOGETHER = 40  # programs whose chains are compiled at once
TAKEN = 3  # the state of a chain that runs as C
FAMILIES = [
    *(
        "unary",
        "unary_real",
        "binary",
        "binary_real",
        "ternary",
        "activation",
        "compare",
        "logical",
    ),
]
MACROS = (
    "STEP",
    *(f"{name}{end}" for name in ("LOAD", "STORE", "TRUTHS", "KEEP") for end in ("", "_REST")),
)
DTYPES = (taeda.float32, taeda.float32, taeda.float64, taeda.bfloat16, taeda.float16)
SHAPES = ((16384,), (20011,), (129, 131), (3, 41, 173), (130, 1, 127))
ODD = [0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 0.5, 1e-40, -1e-45, 6e-8]

ONE = (
    "sin tanh abs neg sigmoid square exp relu erf floor round sqrt rsqrt log1p reciprocal sign "
    "frac nan_to_num isnan isfinite isinf"
).split()
TWO = "add sub mul div maximum minimum fmax atan2 hypot remainder copysign".split()
TESTS = "lt le gt ge eq ne logical_and logical_xor".split()
MASKS = "bitwise_and bitwise_or bitwise_xor logical_or".split()
POWERS = (0, 1, 2, 3, 0.5, -0.5, -1, -2, 2.5, -3)
IN_PLACE = ("add", "sub", "mul", "sigmoid", "neg", "relu")


class Program:
    """Lines of Python over values, which are numbers (`reals`) or truths (`masks`)."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.reals = ["row", "dot", "y", "x"]
        self.masks = ["m"]
        self.full = {"x", "y", "m"}  # of the whole shape
        self.lines: list[str] = []
        for _ in range(chance.randint(3, 24)):
            self.step()

    def real(self) -> str:
        """One of the values, mostly of the last."""
        recent = self.chance.random() < 0.8
        return self.chance.choice(self.reals[-3:] if recent else self.reals)

    def operand(self) -> str:
        if self.chance.random() < 0.25:
            return self.chance.choice(["0.5", "2", "-1.5", "1e-3", "0"])
        return self.real()

    def made(self, text: str, *, truth: bool = False) -> None:
        names = self.masks if truth else self.reals
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        names.append(name)
        if self.full.intersection(re.findall(r"\w+", text)):
            self.full.add(name)

    def step(self) -> None:
        kind = self.chance.random()
        if kind < 0.25:
            name = self.chance.choice(ONE)
            self.made(f"taeda.{name}({self.real()})", truth=name.startswith("is"))
        elif kind < 0.5:
            name = self.chance.choice(TWO)
            second = "y" if name == "copysign" else self.real()  # a NaN that is made has any sign
            self.made(f"taeda.{name}({self.real()}, {second})")
        elif kind < 0.6:
            self.made(f"{self.real()} ** {self.chance.choice(POWERS)}")
        elif kind < 0.7:
            name = self.chance.choice(TESTS)
            second = self.real() if name.startswith("logical") else self.operand()
            self.made(f"taeda.{name}({self.real()}, {second})", truth=True)
        else:
            self.other()

    def mask(self) -> str:
        return self.chance.choice(self.masks[-3:])

    def other(self) -> None:
        c = self.chance
        kind = c.randint(0, 6)
        if kind == 0:
            self.made(f"taeda.where({self.mask()}, {self.real()}, {self.operand()})")
        elif kind == 1:
            self.made(f"{self.real()} * {self.mask()}")
        elif kind == 2:
            self.made(f"taeda.{c.choice(MASKS)}({self.mask()}, {self.mask()})", truth=True)
        elif kind == 3:
            self.made(f"~{self.mask()}", truth=True)
        elif kind == 4:
            bounds = c.choice(["-1, 0.5", "min=0.25", "max=0.25"])
            self.made(f"{self.real()}.clamp({bounds})")
        elif kind == 5:
            name = c.choice(["gelu", "silu", "elu", "leaky_relu", "hardtanh", "softplus"])
            self.made(f"F.{name}({self.real()})")
        else:
            self.in_place()

    def in_place(self) -> None:
        targets = [n for n in self.reals[4:] if n in self.full]
        if not targets:
            return self.made(f"{self.real()} * x")
        name = self.chance.choice(IN_PLACE)
        given = self.operand() if name in ("add", "sub", "mul") else ""
        self.lines.append(f"    {self.chance.choice(targets[-3:])}.{name}_({given})")
        return None

    def text(self) -> str:
        results = [*self.reals[-4:], *self.masks[-2:]]
        head = "def program(x, y, row, dot, m):\n"
        return head + "\n".join(self.lines) + f"\n    return {', '.join(results)}\n"


def inputs(chance: random.Random, own: Any) -> tuple[Tensor, ...]:
    dtype, shape = chance.choice(DTYPES), chance.choice(SHAPES)

    def numbers(*sizes: int) -> Tensor:
        made = taeda.randn(sizes, generator=own) * chance.choice([1.0, 1.0, 30.0, 1e-3])
        flat = made.view(-1)
        for value in ODD:
            for _ in range(chance.randint(1, 3)):
                flat[chance.randrange(len(flat))] = value
        return made.to(dtype)

    x, y = numbers(*shape), numbers(*shape)
    if len(shape) > 1 and chance.random() < 0.2:  # in another order
        y = y.mT.contiguous().mT
    return x, y, numbers(shape[-1]), numbers(1)[0], taeda.rand(shape, generator=own) < 0.5


@dataclass
class Case:
    """One program, with what it gives and the chains of its graph."""

    seed: int
    text: str
    args: tuple[Tensor, ...]
    expected: tuple[Tensor, ...]
    graph: Any
    numbers: set[int] = field(default_factory=set)

    def found(self) -> tuple[Tensor, ...]:
        """The results by the graph."""
        made: tuple[Tensor, ...] = self.graph.run([*self.args])
        return made


def case(seed: int, folder: Path) -> Case:
    """A program that runs as its graph."""
    chance = random.Random(seed)
    text = Program(chance).text()
    args = inputs(chance, taeda.Generator().manual_seed(seed))
    path = folder / f"chain_{seed}.py"
    path.write_text(text)
    space: dict[str, Any] = {"taeda": taeda, "F": F}
    exec(compile(text, str(path), "exec"), space)
    program: Callable[..., Any] = space["program"]
    expected = program(*args)
    compiled = taeda.compile(program)
    for _ in range(5):
        compiled(*args)
    state = compiled.__taeda_compiled__
    traces = [t for found in state.traces.values() for t in found]
    if not traces:
        raise RuntimeError(f"seed {seed} has no graph: {state.reasons}\n{text}")
    made = Case(seed, text, args, expected, traces[0])
    made.numbers = {n for n in traces[0].program.chains() if n >= 0}
    return made


def same_bits(a: Tensor, b: Tensor) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride():
        return False
    if not a.is_floating_point():
        return a.equal(b)
    same = (a == b) & (a.signbit() == b.signbit())
    return bool((same | (a.isnan() & b.isnan())).all())


def give_functions(numbers: set[int], folder: Path) -> dict[str, int]:
    """Compile chains together and let them run as C; why others have no text, and how often."""
    texts: dict[int, str] = {}
    reasons: dict[str, int] = {}
    for number in sorted(numbers):
        loops, kept, state, *_ = chains.get_chain(number)
        try:
            if state != TAKEN:
                texts[number] = of_chain(loops, kept).own
        except NoText as why:
            reasons[str(why)] = reasons.get(str(why), 0) + 1
    library = compiled(texts, folder)
    for number in texts:
        address = ctypes.cast(getattr(library, f"chain_{number}"), ctypes.c_void_p).value
        chains.give_chain(number, address or 0, True)
    return reasons


def compiled(texts: dict[int, str], folder: Path) -> ctypes.CDLL:
    """One library of all chains, with a function for each."""
    compiler = _compiler.found()
    if compiler is None:
        raise RuntimeError("there is no C compiler (CC, cc, gcc or clang)")
    forget = "".join(f"#undef {name}\n" for name in MACROS)
    own = [forget + text.replace(SYMBOL, f"chain_{n}") for n, text in texts.items()]
    options = _compiler.flags(taeda.backends.cpu.get_cpu_capability())
    made = _compiler.compile_text(
        compiler, options, "\n".join([chains.expanded(FAMILIES), *own]), folder, [], 600.0
    )
    kept = made.rename(folder / f"chains_{min(texts, default=0)}.so")
    return ctypes.CDLL(str(kept))


def difference(made: Case, how: str) -> str:
    """Where a run of the graph differs from the program, in words; empty if it does not."""
    for n, (expected, found) in enumerate(zip(made.expected, made.found(), strict=True)):
        if not same_bits(expected, found):
            return f"seed {made.seed}, {how}: result {n} differs\n{made.text}"
    return ""


def batch(seeds: range, folder: Path) -> tuple[int, int, list[str], dict[str, int]]:
    """(programs, chains that run as C, what differs, reasons of chains without a text)"""
    cases = [case(seed, folder) for seed in seeds]
    wrong = [difference(c, "loop by loop") for c in cases]
    numbers = {n for c in cases for n in c.numbers}
    reasons = give_functions(numbers, folder)
    wrong += [difference(c, "as C") for c in cases]
    taken = sum(chains.get_chain(n)[2] == TAKEN for n in numbers)
    return len(cases), taken, [w for w in wrong if w], reasons


def main(count: int, first: int) -> int:
    config.chains = "off"  # functions come from here alone
    programs = taken = wrong = 0
    reasons: dict[str, int] = {}
    for begin in range(first, first + count, TOGETHER):
        with tempfile.TemporaryDirectory() as folder:
            seeds = range(begin, min(begin + TOGETHER, first + count))
            some, as_c, said, why = batch(seeds, Path(folder))
        programs, taken, wrong = programs + some, taken + as_c, wrong + len(said)
        for reason, times in why.items():
            reasons[reason] = reasons.get(reason, 0) + times
        for text in said:
            print(text, flush=True)
    print(f"{programs} programs, {taken} chains ran as C, {wrong} runs differ")
    for reason, times in sorted(reasons.items(), key=lambda entry: -entry[1]):
        print(f"{times} chains have no text: {reason}")
    return 1 if wrong else 0


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n\n")[0])
    parser.add_argument("--programs", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others follow")
    return parser.parse_args()


if __name__ == "__main__":
    asked = options()
    sys.exit(main(asked.programs, asked.seed))
