"""Chains as Python sees them, and who is asked for their functions."""

from __future__ import annotations

import ctypes

import pytest

import taeda
from taeda._core_api import chains
from taeda.compiler import config
from taeda.compiler._kernels import any_pending

N = 20_000


@pytest.fixture(autouse=True)
def _nobody():
    """Who listens here is gone afterwards, and the compiler listens again."""
    from taeda.compiler import _kernels

    yield
    _kernels.start()


def program(f, x):
    g = taeda.compile(f)
    for _ in range(3):
        g(x)
    ((trace,),) = g.__taeda_compiled__.traces.values()
    return trace.program


def test_a_chain_says_what_it_is():
    made = program(lambda x: x.mul(2).add_(x, alpha=0.5).abs(), taeda.rand(N))
    assert len(set(made.chains())) == 1
    loops, kept, state, by_loops, by_function = chains.get_chain(made.chains()[0])
    assert [(name, dtype, same) for name, dtype, same, _, _ in loops] == [
        ("mul", 11, True), ("add", 11, True), ("abs", 11, True),
    ]  # fmt: skip
    ranges = [r for _, _, _, r, _ in loops]
    x, y, z = ranges[0][1], ranges[0][0], ranges[2][0]
    assert ranges == [(y, x, -1), (y, y, x), (z, y)]
    assert kept[z]
    assert not kept[y]
    assert loops[1][4][2] == (3, 0)  # a number that is not one
    assert state in (0, 1)
    assert by_loops == by_function == 1e9


def test_the_same_operations_are_one_chain_whatever_the_size_and_the_numbers():
    one = program(lambda x: (x * 2 + 1).sin(), taeda.rand(N))
    two = program(lambda x: (x * 3 - -4.5).sin(), taeda.rand(2, N))
    same = program(lambda x: (x * 5 + 7).sin(), taeda.rand(2, N))
    assert one.chains() == same.chains()
    assert one.chains() != two.chains()


def test_steps_outside_of_chains():
    made = program(lambda x: (x.exp() + 1).sum() * 2, taeda.rand(N))
    assert made.chains()[-2:] == (-1, -1)
    assert made.chains()[0] == made.chains()[1] >= 0


def test_somebody_is_asked_after_three_runs(monkeypatch):
    monkeypatch.setattr(config, "chains", "off")
    heard = []
    chains.listen_for_chains(lambda: heard.append(chains.get_asked_chains()))
    x = taeda.rand(N)
    made = program(lambda x: (x * 2 - x).tanh() * 0.25, x)
    number = made.chains()[0]
    assert heard == []
    for _ in range(4):
        made.run((x,))
    assert len(heard) == 1
    assert number in heard[0]
    chains.give_chain(number, 0, False)
    assert number not in chains.get_asked_chains()
    assert chains.get_chain(number)[2] == chains.chain_states["LEFT"]


def test_who_listens_and_fails_does_not_stop_the_program(monkeypatch):
    told = []
    monkeypatch.setattr("sys.unraisablehook", lambda u: told.append(type(u.exc_value)))
    chains.listen_for_chains(lambda: 1 / 0)
    x = taeda.rand(N)
    made = program(lambda x: (x * 2 - x).tanh() * 0.25 - x, x)
    for _ in range(4):
        (found,) = made.run((x,))
    assert found.equal((x * 2 - x).tanh() * 0.25 - x)
    assert told == [ZeroDivisionError]


def test_an_interrupt_is_no_failure_of_who_listens():
    def interrupt():
        raise KeyboardInterrupt

    chains.listen_for_chains(interrupt)
    x = taeda.rand(N)
    made = program(lambda x: (x * 2 - x).tanh().tanh() - x, x)
    with pytest.raises(KeyboardInterrupt):  # it is the third run
        made.run((x,))
    assert made.run((x,))[0].equal((x * 2 - x).tanh().tanh() - x)


def test_a_function_with_other_bits_is_not_used():
    x = taeda.rand(N)
    made = program(lambda x: (x * 2 - x).exp().tanh() - x, x)
    number = made.chains()[0]
    calls = []
    form = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)
    wrong = form(lambda *args: calls.append(args[3:]))  # it writes nothing
    chains.give_chain(number, ctypes.cast(wrong, ctypes.c_void_p).value, False)
    for _ in range(3):
        assert made.run((x,))[0].equal((x * 2 - x).exp().tanh() - x)
    assert calls == [(0, 1024)]
    assert chains.get_chain(number)[2] == chains.chain_states["WRONG"]


def test_what_is_pending(monkeypatch):
    x = taeda.rand(N)
    made = program(lambda x: (x * 2 - x).cos() * 0.25 - x, x)
    assert not any_pending(made)
    assert not any_pending(object())
    monkeypatch.setattr(config, "chains", "off")
    for _ in range(3):
        made.run((x,))
    assert chains.get_chain(made.chains()[0])[2] == chains.chain_states["ASKED"]
    assert not any_pending(made)
    monkeypatch.setattr(config, "chains", "background")
    assert any_pending(made)
    chains.give_chain(made.chains()[0], 0, False)
    assert not any_pending(made)


def test_refused():
    with pytest.raises(TypeError, match="listen_for_chains: wanted a function"):
        chains.listen_for_chains(3)
    with pytest.raises(IndexError, match="there is no chain -1"):
        chains.get_chain(-1)
    with pytest.raises(IndexError, match="there is no chain 100000"):
        chains.give_chain(100000, 0, False)
    with pytest.raises(TypeError):
        chains.get_chain("one")
