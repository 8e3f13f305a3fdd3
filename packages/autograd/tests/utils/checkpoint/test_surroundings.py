"""What surrounds the first run surrounds the second: random numbers, contexts."""

from __future__ import annotations

from checkpoint_programs import again

import taeda
from taeda import Tensor


def test_random_numbers_may_be_left_alone():
    seen = []

    def noisy(x):
        seen.append(taeda.rand(1).item())
        return (x * x).exp()

    for preserve in (True, False):
        again(noisy, taeda.ones(1, requires_grad=True), preserve_rng_state=preserve).backward()
    assert seen[0] == seen[1] and seen[2] != seen[3]


def test_subclasses_are_seen_in_both_runs():
    seen = []

    class Sees(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = taeda.ones(2, requires_grad=True)
    y = again(lambda x: x.as_subclass(Sees).exp().sin().as_subclass(Tensor), x)
    forward, seen[:] = list(seen), []
    y.sum().backward()
    assert "exp" in forward and "exp" in seen


def test_contexts_of_both_runs():
    seen = []

    class Names:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            seen.append(self.name)

        def __exit__(self, *unused):
            seen.append(f"/{self.name}")

    y = again(
        taeda.exp,
        taeda.ones(1, requires_grad=True),
        context_fn=lambda: (Names("first"), Names("again")),
    )
    assert seen == ["first", "/first"]
    y.backward()
    assert seen == ["first", "/first", "again", "/again"]
