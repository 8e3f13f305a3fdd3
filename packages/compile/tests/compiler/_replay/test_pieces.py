from __future__ import annotations

import pytest

import taeda
from taeda.compiler._replay.pieces import Chain, stopped_at


def chain_of(program, x, calls=3):
    fast = taeda.compile(program, backend="aot_eager")
    for _ in range(calls):
        fast(x)
    ((trace,),) = fast.__taeda_compiled__.traces.values()
    return trace


def program(x):
    y = (x + 1).sin()
    z = taeda.cond(y.sum() > 0, lambda y: (y * 2, y.sum()), lambda y: (y * 3, y.mean()), (y,))
    return z[0] + z[1] + x


def test_pieces_one_after_the_other():
    trace = chain_of(program, taeda.ones(3))
    chain = trace.program
    assert isinstance(chain, Chain) and [p.program is None for p in chain.pieces] == [
        False,
        True,
        False,
    ]
    for x in (taeda.randn(3), -taeda.ones(3)):
        assert chain.run((x,))[0].equal(program(x))


@pytest.mark.parametrize("other", [taeda.ones(4), taeda.ones(3).double(), taeda.ones(6)[::2]])
def test_an_input_that_is_not_what_it_was(other):
    assert chain_of(program, taeda.ones(3)).program.run((other,)) is NotImplemented


@pytest.mark.parametrize(
    ("p", "i", "step"),
    [(True, [9], 1), (False, [9], 2), (True, [1], -1)],
    ids=["inside", "behind", "nowhere"],
)
def test_the_step_that_raised(p, i, step):
    table, other = taeda.arange(4.0), taeda.arange(8.0)

    def program(p, i):
        y = taeda.cond(p, lambda i: (table[i], i * 1), lambda i: (i * 1.0, i * 1), (i + 0,))
        return y[0] + other[y[1]]

    fast = taeda.compile(program, backend="aot_eager")
    for _ in range(3):
        fast(taeda.tensor(True), taeda.tensor([1]))
    ((trace,),) = fast.__taeda_compiled__.traces.values()
    inputs = trace.inputs([taeda.tensor(p), taeda.tensor(i)])
    if step >= 0:
        with pytest.raises(IndexError):
            trace.program.run(tuple(inputs))
    else:
        trace.program.run(tuple(inputs))
    assert stopped_at(trace.program) == step


def test_values_go_when_nobody_reads_them_any_more():
    """The memory of a run is what its pieces need, not all that they made."""
    trace = chain_of(program, taeda.ones(3))
    made = [s for p in trace.program.pieces for s in p.outs if s is not None]
    gone = [s for p in trace.program.pieces for s in p.ends]
    assert set(made) <= set(gone) | set(trace.program.outputs)
