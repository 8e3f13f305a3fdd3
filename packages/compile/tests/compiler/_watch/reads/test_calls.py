from __future__ import annotations

import functools

import pytest

import taeda


def scaled(x, by=2.0):
    return x * by


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by


@pytest.mark.parametrize(
    "function",
    [scaled, functools.partial(scaled, by=2.0), lambda x: Scale(2.0)(x), Scale(2.0)],
)
def test_code_of_the_program_runs_as_its_copy(watch, function):
    observer, result = watch(lambda x: function(x), taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 2)
    assert [step.op for step in observer.recorder.graph.steps] == ["mul.Tensor"]


def test_another_default_or_body_fails_the_guards(watch):
    def inner(x, by=2.0):
        return x * by

    observer, _ = watch(lambda x: inner(x), taeda.ones(1))
    holds, _ = observer.guards.compiled()
    assert holds()
    inner.__defaults__ = (3.0,)
    assert not holds()


def test_a_function_without_a_copy(watch):
    async def waits(x):
        return x

    observer, _ = watch(lambda x: waits(x).close(), taeda.ones(1))
    assert "waits has no copy" in observer.reason


def test_an_environment_variable_is_asked_again(watch, monkeypatch):
    import os

    monkeypatch.setenv("TAEDA_TEST_SCALE", "2")
    observer, result = watch(lambda x: x * float(os.environ["TAEDA_TEST_SCALE"]), taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 2)
    holds, failing = observer.guards.compiled()
    assert holds()
    monkeypatch.setenv("TAEDA_TEST_SCALE", "3")
    assert not holds()
    assert "TAEDA_TEST_SCALE" in failing()


def test_nodes_that_a_backward_went_through_are_known(watch):
    w = taeda.ones(1, requires_grad=True)

    def program(x):
        loss = (x * w).sum()
        loss.backward()
        return loss.detach()

    observer, _ = watch(program, taeda.ones(1))
    assert observer.touches_gradients
    assert len(observer.consumed) == 3


def test_types_of_the_library_are_not_made(watch):
    observer, _ = watch(lambda x: taeda.nn.Linear(1, 1)(x), taeda.ones(1))
    assert observer.reason == "it makes a Linear"


LENGTH = 12
CAP = 20.0


def _mask(kind):
    from taeda.nn.attention.flex_attention import create_block_mask

    mods = {"causal": lambda b, h, q, k: q >= k, "near": lambda b, h, q, k: (q - k).abs() < 3}
    return create_block_mask(mods[kind], None, None, LENGTH, LENGTH, BLOCK_SIZE=4)


@pytest.mark.parametrize("wants_gradients", [False, True])
@pytest.mark.parametrize("score", [None, "capped", "biased"])
@pytest.mark.parametrize("mask", [None, "causal", "near"])
def test_functions_of_flex_attention_are_in_the_graph(score, mask, wants_gradients, monkeypatch):
    """They are observed, and what they read is guarded."""
    from taeda.nn.attention.flex_attention import flex_attention

    slopes = taeda.tensor([0.5, -0.25])
    scores = {
        None: None,
        "capped": lambda s, b, h, q, k: taeda.tanh(s / CAP) * CAP,
        "biased": lambda s, b, h, q, k: s + slopes[h] * (q - k),
    }
    block_mask = None if mask is None else _mask(mask)

    def f(q, k, v):
        return flex_attention(q, k, v, score_mod=scores[score], block_mask=block_mask)

    compiled = taeda.compile(f, backend="aot_eager")
    for number in range(8):
        if number == 4:
            monkeypatch.setitem(globals(), "CAP", 3.0)
            slopes.mul_(2)
        given = [taeda.randn(2, 2, LENGTH, 4, requires_grad=wants_gradients) for _ in range(3)]
        found, expected = compiled(*given), f(*given)
        assert found.equal(expected)
        if wants_gradients:
            pairs = [taeda.autograd.grad(made.square().sum(), given) for made in (found, expected)]
            assert all(a.equal(b) for a, b in zip(*pairs, strict=True))
    state = compiled.__taeda_compiled__
    assert state.reasons == []
    assert len([t for ts in state.traces.values() for t in ts]) == 1 + (score == "capped")


def test_blocks_of_a_mask_are_left_out_of_a_graph_too(monkeypatch):
    """What is read from the lists of a mask is guarded by what they hold."""
    from taeda.nn.attention.flex_attention import _attention, flex_attention

    monkeypatch.setattr(_attention, "PLACES", 2 * 2 * LENGTH * 4)
    block_mask = _mask("near")
    given = [taeda.randn(2, 2, LENGTH, 4) for _ in range(3)]

    def f(q, k, v):
        return flex_attention(q, k, v, block_mask=block_mask)

    compiled = taeda.compile(f, backend="aot_eager")
    for number in range(8):
        if number == 4:
            block_mask.kv_num_blocks.clamp_(max=1)
        assert compiled(*given).equal(f(*given))
    state = compiled.__taeda_compiled__
    assert state.reasons == []
    assert [t.trusted for ts in state.traces.values() for t in ts] == [True, True]

    def writes(q, k, v):
        block_mask.kv_num_blocks.add_(0)  # what it holds then is not what it held at the call
        return flex_attention(q, k, v, block_mask=block_mask)

    compiled = taeda.compile(writes, backend="aot_eager")
    for _ in range(4):
        assert compiled(*given).equal(f(*given))
    assert "values are read" in compiled.__taeda_compiled__.reasons[0]


FACTOR = 2.0
NET = taeda.nn.Sequential(taeda.nn.Linear(3, 4), taeda.nn.Tanh(), taeda.nn.Linear(4, 2))


def energy(x):
    return (NET(x) * FACTOR).square().sum()


TRANSFORMS = {
    "vmap": lambda x: taeda.func.vmap(lambda row: row.sin() * FACTOR)(x),
    "grad": lambda x: taeda.func.grad(energy)(x),
    "grad_and_value": lambda x: taeda.func.grad_and_value(energy)(x),
    "per sample": lambda x: taeda.func.vmap(taeda.func.grad(energy))(x),
    "jacrev": lambda x: taeda.func.jacrev(lambda v: NET(v) * FACTOR)(x[0]),
    "jacfwd": lambda x: taeda.func.jacfwd(lambda v: NET(v) * FACTOR)(x[0]),
    "hessian": lambda x: taeda.func.hessian(energy)(x[0]),
    "jvp": lambda x: taeda.func.jvp(lambda v: NET(v) * FACTOR, (x,), (x.cos(),)),
    "vjp": lambda x: taeda.func.vjp(lambda v: NET(v) * FACTOR, x)[1](x[:, :2]),
    "functional_call": lambda x: taeda.func.grad(
        lambda given: (taeda.func.functional_call(NET, given, (x,)) * FACTOR).sum()
    )({name: p.detach() for name, p in NET.named_parameters()}),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_of_functions_of_the_user(name, monkeypatch):
    """What the functions read is guarded, as if they were called by the program itself."""
    program = TRANSFORMS[name]
    compiled = taeda.compile(program, backend="aot_eager")
    for call in range(6):
        if call == 3:
            monkeypatch.setitem(globals(), "FACTOR", 3.0)
        x = taeda.randn(5, 3)
        expected, found = (taeda.utils._pytree.tree_leaves(f(x)) for f in (program, compiled))
        for a, b in zip(expected, found, strict=True):
            assert a.equal(b) and a.stride() == b.stride()
    state = compiled.__taeda_compiled__
    assert sum(t.trusted for traces in state.traces.values() for t in traces) == 2, state.reasons


def test_a_transform_that_was_made_elsewhere_stays_as_it_is():
    slope = taeda.func.grad(energy)
    compiled = taeda.compile(lambda x: slope(x))
    x = taeda.randn(5, 3)
    assert compiled(x).equal(slope(x))
    assert "what it reads is not seen" in compiled.__taeda_compiled__.reasons[0]
