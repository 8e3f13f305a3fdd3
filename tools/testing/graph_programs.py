"""Random programs of views, writes in place, modes, hooks and two derivatives, run by two libraries
side by side.

A program is a list of steps. A step takes its operands from a list of tensors by number (modulo its
length, so that any step may be left out) and appends what it makes. A step that both libraries
refuse is passed over; one that only one refuses is a difference.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Step", "difference", "draw", "shortened", "text"]


class Step(NamedTuple):
    op: str
    a: int
    b: int
    mode: str

    def __str__(self) -> str:
        return f"{self.op}(x[{self.a}], x[{self.b}]) in {self.mode}"


Op = Callable[[Any, Any, Any], Any]


def _constant(t: Any) -> Any:
    return (0.5 - 0.3j) if t.is_complex() else 0.7


def _as_complex(lib: Any, a: Any, b: Any) -> Any:
    return lib.view_as_complex(a if a.dim() and a.shape[-1] == 2 else a.reshape(-1, 2))


def _set_item(lib: Any, a: Any, b: Any) -> Any:
    a[..., :1] = 0.25
    return None


def _put(lib: Any, a: Any, b: Any) -> Any:
    a[:1] = _like(a, b).reshape(-1)[0]
    return None


def _like(a: Any, b: Any) -> Any:
    """Real or complex as `a` is: torch has no second derivative of a copy from the one to the other."""
    if b.is_complex() == a.is_complex():
        return b
    return b.abs() if b.is_complex() else b * (1 + 0.5j)


VIEWS: dict[str, Op] = {
    "select": lambda lib, a, b: a[0],
    "last": lambda lib, a, b: a[..., -1],
    "slice": lambda lib, a, b: a[1:],
    "alias": lambda lib, a, b: a[...],
    "t": lambda lib, a, b: a.t(),
    "flat": lambda lib, a, b: a.view(-1),
    "reshape": lambda lib, a, b: a.reshape(-1, 1),
    "unsqueeze": lambda lib, a, b: a.unsqueeze(0),
    "squeeze": lambda lib, a, b: a.squeeze(),
    "diagonal": lambda lib, a, b: a.diagonal(),
    "expand": lambda lib, a, b: a.expand(2, *a.shape),
    "as_strided": lambda lib, a, b: a.as_strided((2,), (1,), a.storage_offset()),
    "unbind": lambda lib, a, b: a.unbind()[0],
    "chunk": lambda lib, a, b: a.chunk(2)[0],
    "tensor_split": lambda lib, a, b: a.tensor_split(2)[0],
    "real": lambda lib, a, b: a.real,
    "imag": lambda lib, a, b: a.imag,
    "conj": lambda lib, a, b: a.conj(),
    "view_as_real": lambda lib, a, b: lib.view_as_real(a),
    "view_as_complex": _as_complex,
    "detach": lambda lib, a, b: a.detach(),
}
RESULTS: dict[str, Op] = {
    "mul": lambda lib, a, b: a * b,
    "add": lambda lib, a, b: a + b,
    "scaled": lambda lib, a, b: a * _constant(a),
    "square": lambda lib, a, b: a**2,
    "sin": lambda lib, a, b: a.sin(),
    "tanh": lambda lib, a, b: a.tanh(),
    "clone": lambda lib, a, b: a.clone(),
    "sum": lambda lib, a, b: a.sum(-1),
    "stack": lambda lib, a, b: lib.stack([a, a]),
    "abs": lambda lib, a, b: a.abs(),
}
WRITES: dict[str, Op] = {
    "mul_": lambda lib, a, b: a.mul_(_constant(a)),
    "add_": lambda lib, a, b: a.add_(0.1),
    "mul_tensor_": lambda lib, a, b: a.mul_(b.clone()),
    "add_tensor_": lambda lib, a, b: a.add_(b.clone()),
    "copy_": lambda lib, a, b: a.copy_(_like(a, b).clone()),
    "tanh_": lambda lib, a, b: a.tanh_(),
    "sin_": lambda lib, a, b: a.sin_(),
    "neg_": lambda lib, a, b: a.neg_(),
    "sigmoid_": lambda lib, a, b: a.sigmoid_(),
    "exp_": lambda lib, a, b: a.mul_(0.1).exp_(),
    "zero_": lambda lib, a, b: a.zero_(),
    "set_item": _set_item,
    "put": _put,
}


NO_HISTORY = "no gradient comes by here"


def _need_history(a: Any) -> None:
    """A view made without grad has none, though torch says that it requires grad, and ends the
    process for some hooks.
    """
    if a._is_view() and a.grad_fn is None:
        raise RuntimeError(NO_HISTORY)


def _retain(lib: Any, a: Any, b: Any) -> Any:
    """Needs history, too: a view of such a view requires no grad here."""
    _need_history(a)
    a.retain_grad()
    return None


def _scale_gradient(lib: Any, a: Any, b: Any) -> Any:
    _need_history(a)
    a.register_hook(lambda g: g * 2)
    return None


def _leaf(lib: Any, a: Any, b: Any) -> Any:
    if lib.is_inference_mode_enabled():
        raise RuntimeError(
            "torch cannot differentiate abs() of an inference tensor that requires grad"
        )
    return a.detach().clone().requires_grad_()


OTHERS: dict[str, Op] = {
    "retain_grad": _retain,
    "hook": _scale_gradient,
    "leaf": _leaf,
}
OPS = {**VIEWS, **RESULTS, **WRITES, **OTHERS}
MODES = {"grad": "enable_grad", "no_grad": "no_grad", "inference": "inference_mode"}

# Where a library refuses and ours has an answer, or the other way round, on purpose: docs/parity.md.
STRICTER_THERE = (
    ("created in no_grad "
    "mode"), "created in inference mode", "modified by an inplace operation", "has been modified inplace",
    ("appears to not have been "
    "used"), "refer to a single memory location", "refers to a single memory location",
)  # fmt: skip


def draw(seed: int) -> list[Step]:
    """The steps of program number `seed`."""
    rng = random.Random(seed)
    kinds = [(VIEWS, 0.4), (RESULTS, 0.2), (WRITES, 0.3), (OTHERS, 0.1)]
    steps = []
    for _ in range(rng.randint(3, 12)):
        (kind,) = rng.choices([k for k, _ in kinds], [w for _, w in kinds])
        (mode,) = rng.choices(list(MODES), [0.85, 0.1, 0.05])
        steps.append(Step(rng.choice(list(kind)), rng.randint(2, 9), rng.randint(0, 9), mode))
    return steps


class _Side:
    """One library's half of a run."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib
        first = [[0.6, -0.3], [0.4, 0.7]]
        second = [[0.5 + 0.2j, -0.1j], [0.3, -0.4 + 0.6j]]
        self.leaves = [
            lib.tensor(first, dtype=lib.float64, requires_grad=True),
            lib.tensor(second, dtype=lib.complex128, requires_grad=True),
        ]
        self.x = [*self.leaves, *(leaf * 1 for leaf in self.leaves)]

    def step(self, step: Step) -> BaseException | None:
        a, b = self.x[step.a % len(self.x)], self.x[step.b % len(self.x)]
        try:
            with getattr(self.lib, MODES[step.mode])():
                made = OPS[step.op](self.lib, a, b)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            return error
        if made is not None and made is not a:
            self.x.append(made)
        return None

    def loss(self) -> Any:
        total = 0
        for number, x in enumerate(self.x):
            if x.requires_grad and not (x._is_view() and x.grad_fn is None):
                total = total + (x.abs() ** 2 + 0.1 * (x.real if x.is_complex() else x)).sum() * (
                    1 + number / 7
                )
        return total

    def derivatives(self) -> list[Any]:
        """Gradients by each leaf, and the gradients of their squares; then retained ones, by a walk
        to all leaves.
        """
        found: list[Any] = []
        leaves = [x for x in self.x if x.is_leaf and x.requires_grad and not x._is_view()]
        with self.lib.enable_grad():
            first = self.lib.autograd.grad(
                self.loss(), leaves, create_graph=True, allow_unused=True
            )
            found += first
            again = sum(
                ((g.abs() ** 2).sum() for g in first if g is not None and g.requires_grad), start=0
            )
            if isinstance(again, self.lib.Tensor):
                found += self.lib.autograd.grad(again, leaves, allow_unused=True, retain_graph=True)
            self.loss().backward()
        return found + [x.grad if x.is_leaf or x.retains_grad else None for x in self.x]


def _numbers(x: Any) -> Any:
    return None if x is None else x.detach().resolve_conj().resolve_neg().numpy()


def _differs(ours: Any, theirs: Any) -> bool:
    """Zeros and nothing are the same gradient."""
    a, b = _numbers(ours), _numbers(theirs)
    if a is None or b is None:
        return any(x is not None and np.abs(x).max(initial=0) > 1e-12 for x in (a, b))
    return a.shape != b.shape or not np.allclose(a, b, rtol=1e-8, atol=1e-10, equal_nan=True)


def _on_purpose(error: BaseException) -> bool:
    return any(words in str(error) for words in STRICTER_THERE)


def difference(steps: list[Step], ours: Any, theirs: Any) -> str | None:
    """What differs when both libraries run the program; None if nothing does."""
    us, them = _Side(ours), _Side(theirs)
    for number, step in enumerate(steps):
        there, here = them.step(step), us.step(step)
        if (here is None) != (there is None):
            if (there is not None and _on_purpose(there)) or step.op in ("retain_grad", "hook"):
                return None  # another program from here on
            return f"step {number}, {step}: {there!r} there, {here!r} here"
        if here is not None and step.op in WRITES:
            return None  # refused before it was done, or after
    for place, (a, b) in enumerate(zip(us.x, them.x, strict=True)):
        if _differs(a, b):
            return f"the values of x[{place}] differ:\n{_numbers(b)}\nthere\n{_numbers(a)}\nhere"
    try:
        found = them.derivatives()
    except RuntimeError as error:
        if _on_purpose(error):
            return None
        try:
            us.derivatives()
        except RuntimeError:
            return None
        return f"derivatives: {error!r} there, none here"
    try:
        answers = us.derivatives()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the difference
        return f"derivatives: {error!r} here, none there"
    if len(found) != len(answers):
        return f"derivatives: {len(found)} there, {len(answers)} here"
    for number, (a, b) in enumerate(zip(answers, found, strict=True)):
        if _differs(a, b):
            return f"derivative {number}:\n{_numbers(b)}\nthere\n{_numbers(a)}\nhere"
    return None


def shortened(steps: list[Step], fails: Callable[[list[Step]], Any]) -> list[Step]:
    """The program without every step that it fails without."""
    place = 0
    while place < len(steps):
        rest = steps[:place] + steps[place + 1 :]
        if fails(rest):
            steps, place = rest, 0
        else:
            place += 1
    return steps


def text(steps: list[Step]) -> str:
    """A line per step."""
    return "\n".join(map(str, steps))
