"""A kernel runs once in each call of the program: in those that prove a graph, too."""

from __future__ import annotations

import itertools
import random

import pytest
from custom_operators import Kernel, defined, tripled

import taeda
from taeda.compiler._replay.memo import Memo, Unlike


def test_it_is_called_once_in_each_call(space):
    kernel = Kernel(tripled)
    op = defined(space, "count(Tensor x) -> Tensor", kernel, taeda.empty_like)
    fast = taeda.compile(lambda x: op(op(x) + 1) * 2, fullgraph=True)
    for number in range(1, 45):  # recorded, proved, used, audited, timed
        fast(taeda.ones(3) * number)
        assert kernel.calls == 2 * number


def test_it_is_called_although_nobody_reads_its_result(space):
    kernel = Kernel(tripled)
    op = defined(space, "idle(Tensor x) -> Tensor", kernel, taeda.empty_like)

    def f(x):
        op(x)
        return x + 1

    fast = taeda.compile(f, fullgraph=True)
    for number in range(1, 6):
        fast(taeda.ones(3))
        assert kernel.calls == number


def test_a_kernel_may_draw_and_count_by_itself(space):
    """In turns with numbers of the program itself, and with those of the default generator."""
    state = random.Random(0)
    count = itertools.count()

    def kernel(x):
        return x + state.random() + next(count) + taeda.rand(())

    op = defined(space, "drawn(Tensor x) -> Tensor", kernel, taeda.empty_like)

    def f(x):
        return op(x) + op(x * 2)

    def series(g):
        nonlocal state, count
        state, count = random.Random(5), itertools.count()
        taeda.manual_seed(1)
        return [g(taeda.ones(3)).tolist() for _ in range(40)], taeda.rand(3).tolist()

    expected = series(f)
    assert series(taeda.compile(f, fullgraph=True)) == expected


def test_draws_of_program_and_kernel_in_turns_are_those_of_eager(space):
    op = defined(space, "mixed(Tensor x) -> Tensor", lambda x: x + taeda.rand(()), taeda.empty_like)

    def f(x):
        return op(x + taeda.rand(3)) + taeda.rand(3)

    def series(g):
        taeda.manual_seed(1)
        return [g(taeda.ones(3)).tolist() for _ in range(8)], taeda.rand(3).tolist()

    assert series(taeda.compile(f)) == series(f)


def test_an_error_of_a_kernel_is_that_of_the_program(space):
    bad = [False]

    def kernel(x):
        if bad[0]:
            raise ValueError("no")
        return x * 2

    counted = Kernel(kernel)
    op = defined(space, "fails(Tensor x) -> Tensor", counted, taeda.empty_like)
    fast = taeda.compile(lambda x: op(x).exp(), fullgraph=True)
    for number in range(1, 9):
        bad[0] = number in (2, 5)
        before = counted.calls
        if bad[0]:
            with pytest.raises(ValueError, match="no"):
                fast(taeda.ones(2))
        else:
            fast(taeda.ones(2))
        assert counted.calls == before + 1


def test_a_function_as_backend_gets_a_node(space):
    kernel = Kernel(tripled)
    op = defined(space, "shown(Tensor x) -> Tensor", kernel, taeda.empty_like)
    targets = []

    def backend(module, examples):
        targets.extend(n.target for n in module.graph.nodes if n.op == "call_function")
        return module

    fast = taeda.compile(lambda x: op(x.sin()) + 1, backend=backend, fullgraph=True)
    for number in range(1, 6):
        x = taeda.randn(3)
        assert taeda.equal(fast(x), tripled(x.sin()) + 1)
        assert kernel.calls == number
    assert op.default in targets


def test_a_generator_that_a_kernel_is_given_draws_once(space):
    op = defined(
        space,
        "noisy(Tensor x, Generator? g=None) -> Tensor",
        lambda x, g: x + taeda.rand(x.shape, generator=g),
        lambda x, g: taeda.empty_like(x),
    )

    def series(compiled):
        own = taeda.Generator().manual_seed(3)
        taeda.manual_seed(4)

        def f(x):
            return op(x, own) + taeda.rand(x.shape, generator=own) + op(x)

        f = taeda.compile(f) if compiled else f
        return [f(taeda.ones(2)).tolist() for _ in range(6)], taeda.rand(2, generator=own).tolist()

    assert series(True) == series(False)


def test_a_kernel_that_calls_a_compiled_function_with_such_operators(space):
    inner = Kernel(tripled)
    low = defined(space, "low(Tensor x) -> Tensor", inner, taeda.empty_like)
    below = taeda.compile(lambda x: low(x) + 1, fullgraph=True)
    outer = Kernel(lambda x: below(x) * 1)
    high = defined(space, "high(Tensor x) -> Tensor", outer, taeda.empty_like)
    fast = taeda.compile(lambda x: high(x) + high(x * 2), fullgraph=True)
    for number in range(1, 14):
        x = taeda.ones(2) * number
        assert taeda.equal(fast(x), (x * 3 + 1) + (x * 6 + 1))
        assert (outer.calls, inner.calls) == (2 * number, 2 * number)
    assert taeda.compiler.explain(fast)(x).graph_count == 1


def _series(space, f, kernel, calls=14):
    """What `f(op)` gives for the same numbers, as it is and compiled."""
    found = []
    for number, change in enumerate((lambda g: g, taeda.compile)):
        op = defined(space, f"s{number}(Tensor x) -> Tensor", *kernel())
        g = change(f(op))
        taeda.manual_seed(0)
        found.append([[t.tolist() for t in g(taeda.rand(3))] for _ in range(calls)])
    return found


@pytest.mark.filterwarnings("ignore:.*is not compiled any more")  # an audit sees it
@pytest.mark.parametrize("from_call", [1, 2, 5, 10, 11])
def test_a_kernel_that_changes_what_the_program_read_before_it(space, from_call):
    """The program runs first: it reads what was there before its kernels ran."""
    kept = [taeda.zeros(3)]

    def kernel():
        kept[0].zero_()
        calls = itertools.count(1)

        def changes(x):
            if next(calls) >= from_call:
                kept[0].add_(1)
            return x * 3

        return changes, taeda.empty_like

    def program(op):
        def f(x):
            before = kept[0] * 2
            made = op(x)
            return before, made, kept[0] * 2, kept[0].sum()

        return f

    expected, found = _series(space, program, kernel)
    assert found == expected


def test_results_that_a_program_writes_in_place(space):
    """With a derivative, in each call: what is given to a graph is no view of anything."""

    @taeda.library.custom_op(f"{space.ns}::written", mutates_args=())
    def op(x: taeda.Tensor) -> taeda.Tensor:
        return x * 2

    op.register_fake(taeda.empty_like)
    op.register_autograd(lambda ctx, g: g * 2)
    weight = taeda.ones(3, requires_grad=True)

    def step(x):
        weight.grad = None
        made = op(x * weight)
        made.mul_(3).add_(x)
        loss = made.sum()
        loss.backward()
        return loss

    fast = taeda.compile(step, fullgraph=True)
    for _ in range(14):
        x = taeda.rand(3)
        expected, gradient = step(x).item(), weight.grad.tolist()
        assert (fast(x).item(), weight.grad.tolist()) == (expected, gradient)


def test_a_graph_that_calls_in_another_way_is_not_given_anything(space):
    """Neither another operator, nor other arguments, nor more calls, nor fewer."""
    names = [space.define(f"{name}(Tensor x) -> Tensor") for name in ("one", "other")]
    names = [f"{space.ns}::{name.rpartition('::')[2]}" for name in names]
    memo = Memo(lambda: None, [])
    memo.take(names[0], (taeda.ones(2),), lambda: taeda.ones(2) * 3)
    for name, x in ((names[1], taeda.ones(2)), (names[0], taeda.zeros(2))):
        with pytest.raises(Unlike):
            memo.give(name, (x,))
    with pytest.raises(Unlike):
        memo.end()
    assert memo.give(names[0], (taeda.ones(2),)).results[0].tolist() == [3, 3]
    memo.end()
    with pytest.raises(Unlike):
        memo.give(names[0], (taeda.ones(2),))


def _plain(module, examples):
    return module


class _Scale:
    by = 1.0


@pytest.mark.parametrize("backend", ["inductor", _plain])
@pytest.mark.parametrize("place", ["item", "attribute", "cell", "module"])
@pytest.mark.parametrize("behind", [True, False])
def test_a_kernel_that_changes_what_python_reads(space, backend, place, behind):
    """Read before the call it is what it was; behind the call the graph refuses to go on."""
    table, held, by, calls = {"by": 1.0}, _Scale(), 1.0, itertools.count(1)
    layer = taeda.nn.Linear(3, 3, bias=False)

    def kernel(x):
        nonlocal by
        if next(calls) == 5:
            table["by"], held.by, by = 2.0, 2.0, 2.0
            layer.weight = taeda.nn.Parameter(taeda.eye(3))
        return x * 3

    op = defined(space, "changes(Tensor x) -> Tensor", kernel, taeda.empty_like)
    read = {
        "item": lambda x: x * table["by"],
        "attribute": lambda x: x * held.by,
        "cell": lambda x: x * by,
        "module": lambda x: layer(x),
    }[place]

    def f(x):
        return read(op(x)) if behind else op(read(x))

    fast = taeda.compile(f, backend=backend, fullgraph=True)
    x = taeda.ones(1, 3)
    with taeda.no_grad():
        first = f(x)
        found = [fast(x) for _ in range(3)]
        if behind:
            with pytest.raises(RuntimeError, match="changed what a compiled program reads behind"):
                fast(x)
        else:
            found.append(fast(x))
        assert all(taeda.equal(first, one) for one in found)
        assert taeda.equal(fast(x), x * 3 if place == "module" else x * 6)


def test_an_error_behind_a_write_by_a_function_as_backend(space):
    """The kernel ran, so nothing runs again, and what was written before it stays written."""
    calls = itertools.count(1)

    def kernel(x):
        if next(calls) % 3 == 0:
            raise ValueError("third")
        return x * 2

    counted = Kernel(kernel)
    op = defined(space, "third(Tensor x) -> Tensor", counted, taeda.empty_like)
    seen = taeda.zeros(2)

    def f(x):
        seen.add_(1)
        made = op(x)
        seen.mul_(2)
        return made + seen

    fast, expected = taeda.compile(f, backend=_plain, fullgraph=True), 0.0
    for number in range(1, 13):
        if number % 3 == 0:
            expected += 1
            with pytest.raises(ValueError, match="third"):
                fast(taeda.ones(2))
        else:
            expected = (expected + 1) * 2
            fast(taeda.ones(2))
        assert (seen.tolist(), counted.calls) == ([expected] * 2, number)
