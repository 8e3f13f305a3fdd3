"""Random compositions of transforms, under random modes: `made(seed)` is one, `wrong` what comes of it
beside the same derivatives made of `autograd.grad` and loops alone, `smallest` what is left of one
that fails.

Layers (`transform_layers`) stack in any order, around pieces (`transform_pieces`) and under modes.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from transform_layers import LAYERS, LENGTH, Function
from transform_pieces import PIECES

__all__ = ["CUTTING", "FORMS", "MODES", "Program", "made", "smallest", "wrong"]

# ---- modes ----


@contextlib.contextmanager
def _deterministic(lib: Any) -> Iterator[None]:
    before = lib.are_deterministic_algorithms_enabled()
    lib.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        lib.use_deterministic_algorithms(before)


def _flops(lib: Any) -> Any:
    import importlib

    counter = importlib.import_module(f"{lib.__name__}.utils.flop_counter")
    return counter.FlopCounterMode(display=False)


def _functions_seen(lib: Any) -> Any:
    class Seen(lib.overrides.TorchFunctionMode):  # type: ignore[misc]  # of either
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func(*args, **(kwargs or {}))

    return Seen()


def _operators_seen(lib: Any) -> Any:
    import importlib

    home = importlib.import_module(f"{lib.__name__}.utils._python_dispatch")

    class Seen(home.TorchDispatchMode):  # type: ignore[misc]  # of either library
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func(*args, **(kwargs or {}))

    return Seen()


#: what changes no number
MODES: dict[str, Callable[[Any], Any]] = {
    "enable_grad": lambda lib: lib.enable_grad(),
    "anomaly": lambda lib: lib.autograd.detect_anomaly(),
    "deterministic": _deterministic,
    "autocast": lambda lib: lib.autocast(
        "cpu", dtype=lib.bfloat16
    ),  # which leaves float64 as it is
    "flops": _flops,
    "functions seen": _functions_seen,
    "operators seen": _operators_seen,
    "saved tensors": lambda lib: lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    "save_on_cpu": lambda lib: lib.autograd.graph.save_on_cpu(),
    "one thread": lambda lib: lib.autograd.set_multithreading_enabled(False),
    "profile": lambda lib: lib.profiler.profile(),
    "device": lambda lib: lib.device("cpu"),
}
#: switch off what users would differentiate, and no transform
CUTTING: dict[str, Callable[[Any], Any]] = {
    "no_grad": lambda lib: lib.no_grad(),
    "inference_mode": lambda lib: lib.inference_mode(),
}
#: ask the modes of their caller whether there is a derivative
HANDMADE = ("autograd.grad", "dual level", *(n for n in LAYERS if n.startswith("functional.")))
FORMS = ("plain", "leaf", "strided", "expanded", "inference", "parameter")


@dataclass(frozen=True)
class Program:
    """What is called: modes around layers, from the outermost to the innermost, of pieces."""

    modes: tuple[str, ...]
    layers: tuple[str, ...]  # of which some are modes around what follows
    pieces: tuple[str, ...]
    form: str

    def __str__(self) -> str:
        inner = f"[{', '.join(self.pieces)}]"
        return (
            f"{self.form} x under ({', '.join(self.modes)}): {' of '.join((*self.layers, inner))}"
        )


def made(seed: int) -> Program:
    """The program of a seed."""
    draw = random.Random(seed)
    pieces = tuple(draw.choice(list(PIECES)) for _ in range(draw.randint(1, 3)))
    layers: list[str] = []
    for _ in range(draw.choice((1, 2, 2, 3, 3, 4))):
        layers.append(draw.choice(list(LAYERS)))
        if draw.random() < 0.25:
            layers.append(draw.choice(list(MODES)))
    modes = [draw.choice(list(MODES)) for _ in range(draw.choice((0, 0, 1, 2)))]
    if draw.random() < 0.4 and not any(name in HANDMADE for name in layers):
        modes = [mode for mode in modes if mode != "enable_grad"]
        modes.insert(draw.randint(0, len(modes)), draw.choice(list(CUTTING)))
    return Program(tuple(modes), tuple(layers), pieces, draw.choice(FORMS))


def _base(lib: Any, program: Program) -> Function:
    def run(x: Any) -> Any:
        for name in program.pieces:
            x = PIECES[name](lib, x)
        return x

    return run


def _under(lib: Any, name: str, f: Function) -> Function:
    def run(x: Any) -> Any:
        with MODES[name](lib):
            return f(x)

    return run


def _built(lib: Any, program: Program, which: int) -> Function:
    """The function of a program; 0: of transforms and modes, 1: of plain steps."""
    f = _base(lib, program)
    for number, name in enumerate(reversed(program.layers)):
        c = lib.linspace(0.9, -0.6 - 0.1 * number, LENGTH, dtype=lib.float64)
        if name in LAYERS:
            f = LAYERS[name][which](lib, f, c)
        elif not which:
            f = _under(lib, name, f)
    return f


def _input(lib: Any, form: str) -> Any:
    x = lib.tensor([0.7, -0.4, 1.1], dtype=lib.float64)
    if form == "strided":
        return lib.stack([x, x + 1], 1)[:, 0]
    if form == "expanded":
        return x[:1].expand(LENGTH)
    if form == "inference":
        with lib.inference_mode():
            return x * 1
    if form == "parameter":
        return lib.nn.Parameter(x)
    return x.requires_grad_() if form == "leaf" else x


def _result(lib: Any, program: Program) -> Any:
    with contextlib.ExitStack() as stack:
        for name in program.modes:
            stack.enter_context((MODES | CUTTING)[name](lib))
        return _built(lib, program, 0)(_input(lib, program.form))


def wrong(lib: Any, program: Program) -> str:
    """What is wrong with a program: its numbers, its kind of result, a mode that stays; or what it raised."""
    before = _state(lib)
    try:
        found = _result(lib, program)
    except Exception as error:  # noqa: BLE001 - any refusal is looked at
        said = f"raised {type(error).__name__}: {str(error)[:300]}"
        return said if _state(lib) == before else f"{said}, and left a mode behind"
    if _state(lib) != before:
        return "left a mode behind"
    form = "leaf" if program.form in ("parameter", "inference") else program.form
    wanted = _built(lib, program, 1)(_input(lib, form)).detach()
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{found.dtype} of {tuple(found.shape)} where plain steps give {tuple(wanted.shape)}"
    cut = set(program.modes) & set(CUTTING) and "enable_grad" not in program.layers
    differs = program.form in ("leaf", "parameter") and not cut
    # they differentiate a leaf of their own
    by_hand = any(name in HANDMADE for name in program.layers)
    if found.requires_grad and not differs and not by_hand:
        return "requires a gradient, and its input does not"
    size = max(1.0, float(wanted.abs().max()))
    off = float((found.detach() - wanted).abs().max())
    if off <= 1e-8 * size or not size < 1e12 or _at_a_kink(lib, program, wanted, size):
        return ""
    return f"{found.tolist()} where plain steps give {wanted.tolist()}"


def _at_a_kink(lib: Any, program: Program, wanted: Any, size: float) -> bool:
    """Is rounding enough for other numbers? The slope of `std` among equal numbers is any."""
    x = _input(lib, "plain" if program.form != "expanded" else program.form).clone()
    x += lib.tensor([1e-12, -1e-12, 5e-13], dtype=x.dtype)
    near = _built(lib, program, 1)(x).detach()
    return not float((near - wanted).abs().max()) <= 1e-9 * size


def _state(lib: Any) -> tuple[Any, ...]:
    return (
        lib.is_grad_enabled(),
        lib.is_inference_mode_enabled(),
        lib.is_anomaly_enabled(),
        lib.are_deterministic_algorithms_enabled(),
        lib.is_autocast_enabled("cpu"),
        lib.get_default_dtype(),
    )


def smallest(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The program with all left out that a failure does not need."""
    for field in ("modes", "layers", "pieces"):
        number = 0
        while number < len(getattr(program, field)):
            now = getattr(program, field)
            less = replace(program, **{field: now[:number] + now[number + 1 :]})
            if (field != "pieces" or len(now) > 1) and fails(less):
                program = less
            else:
                number += 1
    plain = replace(program, form="plain")
    return plain if fails(plain) else program
