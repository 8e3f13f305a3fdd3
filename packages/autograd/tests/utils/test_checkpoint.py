"""Checkpoints: the same gradients for less memory."""

from __future__ import annotations

import functools
import gc
import weakref

import pytest

import taeda
from taeda import Tensor
from taeda._native import core
from taeda.utils.checkpoint import (
    CheckpointError,
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

again = functools.partial(checkpoint, use_reentrant=False)
VARIANTS = [False, True]


def dropout(x, p=0.3):
    return taeda.native_dropout(x, p, True)[0]


def layers(x, w):
    for _ in range(6):
        x = dropout((x * w).sin().exp())
    return x


def leaves():
    taeda.manual_seed(3)
    return taeda.randn(50, requires_grad=True), taeda.randn(50, requires_grad=True)


def gradients(run):
    x, w = leaves()
    run(layers, x * 1, w).square().sum().backward()
    return x.grad, w.grad, taeda.rand(1)


def plainly(function, *args):
    return function(*args)


@pytest.mark.parametrize("reentrant", VARIANTS)
def test_gradients_are_those_of_the_plain_call_bit_for_bit(reentrant):
    run = functools.partial(checkpoint, use_reentrant=reentrant)
    for got, wanted in zip(gradients(run), gradients(plainly), strict=True):
        assert taeda.equal(got, wanted)


def test_random_numbers_may_be_left_alone():
    seen = []

    def noisy(x):
        seen.append(taeda.rand(1).item())
        return (x * x).exp()

    for preserve in (True, False):
        again(noisy, taeda.ones(1, requires_grad=True), preserve_rng_state=preserve).backward()
    assert seen[0] == seen[1] and seen[2] != seen[3]


def allocated():
    gc.collect()
    return core.memory_stats()["allocated"]


@pytest.mark.parametrize("reentrant", VARIANTS)
def test_only_inputs_and_outputs_stay(reentrant):
    x = taeda.zeros(10_000, requires_grad=True)
    w = taeda.ones(10_000, requires_grad=True)
    before = allocated()
    plain = layers(x, w)
    whole = allocated() - before
    del plain
    y = checkpoint(layers, x, w, use_reentrant=reentrant)
    assert allocated() - before < whole / 10
    y.sum().backward()
    del y
    x.grad = w.grad = None
    assert allocated() - before < 1000


def test_values_are_let_go_after_backward_that_keeps_the_graph():
    x, w = taeda.zeros(10_000, requires_grad=True), taeda.ones(10_000)
    y = again(layers, x, w).sum()
    before = allocated()
    y.backward(retain_graph=True)
    first, x.grad = x.grad, None
    y.backward()
    assert taeda.equal(first, x.grad)
    del first
    x.grad = None
    assert allocated() - before < 1000


def test_a_region_dies_with_its_graph():
    def function(x):
        return x.exp()

    watch = weakref.ref(function)
    y = again(function, taeda.ones(1, requires_grad=True))
    del function
    assert watch() is not None
    del y
    assert watch() is None


# ---- what the variant that records can do ----


def test_grad_and_second_derivatives():
    x = taeda.tensor([0.5], requires_grad=True, dtype=taeda.float64)
    y = again(lambda x: x.sin() * x, x)
    (g,) = taeda.autograd.grad(y, x, create_graph=True)
    (h,) = taeda.autograd.grad(g, x)
    (g2,) = taeda.autograd.grad(x.sin() * x, x, create_graph=True)
    assert g.item() == g2.item()
    assert h.item() == taeda.autograd.grad(g2, x)[0].item()


def test_keywords_and_nested_structures():
    x, y, z = (taeda.full((1,), v, requires_grad=True) for v in (1.0, 2.0, 3.0))

    def function(first, pair, *, last, times=1):
        return {"a": (first * pair[0]["y"]).exp() * times, "b": last.square()}

    made = again(function, x, [{"y": y}], last=z, times=2)
    (made["a"] + made["b"]).backward()
    e2 = taeda.tensor(2.0).exp()
    assert x.grad.item() == (2 * e2 * 2).item() and y.grad.item() == (2 * e2).item()
    assert z.grad.item() == 6


def test_parts_may_be_detached_or_constant():
    x = taeda.ones(2, requires_grad=True)
    a, b = again(lambda x: (x.exp(), x.detach() * 2), x)
    assert not b.requires_grad
    a.sum().backward()
    assert again(lambda x: x * 2, taeda.ones(1)).tolist() == [2]
    with taeda.no_grad():
        assert not again(taeda.exp, x).requires_grad


def test_checkpoints_nest():
    def inner(x, w):
        return (x * w).sin().exp()

    def outer(x, w):
        for _ in range(3):
            x = again(lambda x, w: again(inner, x, w) * x.cos(), x, w)
        return x

    def flat(x, w):
        for _ in range(3):
            x = inner(x, w) * x.cos()
        return x

    for got, wanted in zip(run_both(outer, flat), run_both(flat, flat), strict=True):
        assert taeda.equal(got, wanted)


def run_both(function, unused):
    x, w = leaves()
    again(function, x, w).sum().backward()
    return x.grad, w.grad


def test_what_is_nested_holds_no_more_than_the_outermost():
    x = taeda.zeros(10_000, requires_grad=True)

    def outer(x):
        for _ in range(5):
            x = again(lambda x: x.sin().exp(), x)
        return x

    before = allocated()
    y = again(outer, x)
    assert allocated() - before < 3 * 40_000
    y.sum().backward()


def test_inplace_operations_inside():
    def function(x):
        y = x * 2
        y.sin_()
        y.mul_(3)
        y.mul_(x)
        return y.exp()

    x = taeda.tensor([0.3, 0.7], requires_grad=True)
    again(function, x).sum().backward()
    got, x.grad = x.grad, None
    function(x).sum().backward()
    assert taeda.equal(got, x.grad)


@pytest.mark.parametrize("run", [plainly, again])
def test_writing_what_was_saved_is_an_error_inside_too(run):
    def function(x):
        y = x.exp()
        y.mul_(x)
        return y.sin()

    y = run(function, taeda.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_custom_function_may_ask_twice():
    class Cube(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            return grad * 3 * ctx.saved_tensors[0] * ctx.saved_tensors[0]

    runs = []
    x = taeda.full((1,), 2.0, requires_grad=True)
    again(lambda x: runs.append(1) or Cube.apply(x * 1), x).backward()
    assert x.grad.item() == 12 and len(runs) == 2


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


class Counts:
    def __init__(self):
        self.steps = 0

    def __call__(self, x):
        for _ in range(4):
            self.steps += 1
            x = x.exp()
        return x


def test_the_second_run_stops_when_all_is_there():
    """exp keeps its result: the last one is the last thing needed."""

    def function(x):
        y = counts(x)
        counts.steps += 100
        return y

    for early, wanted in ((True, 108), (False, 208)):
        counts = Counts()
        x = taeda.zeros(1, requires_grad=True)
        again(function, x, early_stop=early).backward()
        assert counts.steps == wanted
        counts = Counts()
        with set_checkpoint_early_stop(early):
            y = again(function, x, early_stop=not early)
        y.backward()
        assert counts.steps == wanted


def test_a_functions_own_handlers_do_not_take_the_end_for_an_error():
    caught = []

    def function(x):
        try:
            return x.exp()
        except Exception as error:
            caught.append(error)
            raise

    again(function, taeda.ones(1, requires_grad=True)).backward()
    assert caught == []


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


# ---- what goes wrong ----


def changing(first, second):
    state = []

    def function(x):
        state.append(1)
        return (first if len(state) == 1 else second)(x)

    return again, function


def backward_of(first, second, **options):
    run, function = changing(first, second)
    y = run(function, taeda.ones(4, requires_grad=True), **options)
    y.sum().backward()


def test_other_shapes_in_the_second_run():
    with pytest.raises(CheckpointError, match=r"position 0:\nsaved metadata: .*\[4\].*\n.*\[2\]"):
        backward_of(lambda x: x.exp(), lambda x: x[:2].exp())
    backward_of(lambda x: x.sin().exp(), lambda x: x.double().sin().exp(), determinism_check="none")


@pytest.mark.parametrize("early", [True, False])
def test_fewer_tensors_in_the_second_run(early):
    with pytest.raises(CheckpointError, match=r"forward: 2\n.*recomputation: 1"):
        backward_of(lambda x: x.exp().exp(), lambda x: x.exp(), early_stop=early)


def test_more_tensors_are_seen_without_early_stop():
    with pytest.raises(CheckpointError, match=r"forward: 1\n.*recomputation: 2"):
        backward_of(lambda x: x.exp(), lambda x: x.exp().exp(), early_stop=False)


def test_fewer_tensors_unchecked_still_say_what_is_missing():
    with pytest.raises(CheckpointError, match="no tensor number 1"):
        backward_of(lambda x: x.exp().exp(), lambda x: x.exp(), determinism_check="none")


def test_debug_lists_the_operations_of_both_runs():
    with pytest.raises(CheckpointError, match=r"(?s)original:\n +exp .*recomputation:\n +sin "):
        backward_of(lambda x: x.exp().exp(), lambda x: x.sin(), debug=True)
    with (
        set_checkpoint_debug_enabled(True),
        pytest.raises(CheckpointError, match="Operations executed"),
    ):
        backward_of(lambda x: x.exp().exp(), lambda x: x.exp())
    with pytest.raises(CheckpointError, match="Tip: with debug=True"):
        backward_of(lambda x: x.exp().exp(), lambda x: x.exp())


def test_inputs_that_were_written_in_between():
    x = taeda.ones(2, requires_grad=True) * 1
    y = again(taeda.sin, x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_an_error_in_the_second_run_arrives():
    def fails(x):
        raise KeyError("again")

    with pytest.raises(KeyError, match="again"):
        backward_of(lambda x: x.exp(), fails)
    x = taeda.rand(3)
    with pytest.raises(KeyError):
        backward_of(lambda x: x.exp(), fails)
    assert x.requires_grad is False and taeda.is_grad_enabled()


REFUSED = {
    "keywords": ({"use_reentrant": True, "scale": 2}, "Unexpected keyword arguments: scale"),
    "context": (
        {"use_reentrant": True, "context_fn": lambda: None},
        "only supported when use_reentrant=False",
    ),
    "debug": ({"use_reentrant": True, "debug": True}, "only supported when use_reentrant=False"),
    "check": (
        {"use_reentrant": False, "determinism_check": "all"},
        r"\('default', 'none'\), got 'all'",
    ),
}


@pytest.mark.parametrize(("options", "fact"), REFUSED.values(), ids=REFUSED)
def test_options_that_do_not_go_together(options, fact):
    with pytest.raises(ValueError, match=fact):
        checkpoint(taeda.exp, taeda.ones(1, requires_grad=True), **options)


# ---- the variant that runs backward inside backward ----


def test_without_a_word_the_reentrant_variant_warns():
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed") as seen:
        checkpoint(taeda.exp, taeda.ones(1, requires_grad=True))
    assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match="None of the inputs"):
        checkpoint(taeda.exp, taeda.ones(1), use_reentrant=True)


def test_reentrant_knows_backward_only():
    x = taeda.ones(1, requires_grad=True)
    for run in (
        lambda y: taeda.autograd.grad(y, x),
        lambda y: y.backward(inputs=[x]),
    ):
        with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\)"):
            run(checkpoint(taeda.exp, x, use_reentrant=True))


def test_reentrant_needs_an_output_with_a_gradient():
    x = taeda.ones(1, requires_grad=True)
    y = checkpoint(lambda x: x.detach() * 2, x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.backward()


def test_reentrant_with_several_inputs_and_outputs():
    x, w = taeda.ones(2, requires_grad=True), taeda.ones(2)
    a, b, c = checkpoint(lambda x, w, n: (x * w, w * n, x.exp()), x, w, 3, use_reentrant=True)
    (a.sum() + c.sum()).backward()
    assert taeda.allclose(x.grad, 1 + taeda.ones(2).exp()) and b.tolist() == [3, 3]


# ---- chains ----


@pytest.mark.parametrize("reentrant", VARIANTS)
@pytest.mark.parametrize("segments", [1, 2, 3, 5, 9])
def test_chains(segments, reentrant):
    chain = [taeda.sin, taeda.exp, dropout, taeda.cos, taeda.tanh]
    results = []
    for run in (plain_chain, checkpoint_sequential):
        taeda.manual_seed(1)
        x = taeda.linspace(0, 1, 20).requires_grad_()
        y = run(chain, segments, x, use_reentrant=reentrant)
        y.sum().backward()
        results.append((y, x.grad))
    assert taeda.equal(results[0][0], results[1][0])
    assert taeda.equal(results[0][1], results[1][1])


def plain_chain(chain, segments, x, use_reentrant):
    for function in chain:
        x = function(x)
    return x


def test_refused_chains():
    x = taeda.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: more"):
        checkpoint_sequential([taeda.sin], 1, x, use_reentrant=False, more=1)
    with pytest.raises(ValueError, match="at least one segment, got 0"):
        checkpoint_sequential([taeda.sin], 0, x, use_reentrant=False)
    with pytest.warns(UserWarning, match="checkpoint_sequential: the use_reentrant"):
        checkpoint_sequential([taeda.sin, taeda.cos], 2, x)


# ---- chosen operations are kept ----


def selective(policy, **options):
    return functools.partial(create_selective_checkpoint_contexts, policy, **options)


class Tracks:
    """Counts the kernels of a backward by name."""

    def __init__(self, run):
        from taeda.utils.op_trace import trace_ops

        with trace_ops() as trace:
            run()
        self.names = [call.op.split(".")[0] for call in trace.calls]


def product(x, w):
    return dropout((x @ w).sin()) @ w


def test_kept_results_are_not_computed_again():
    def run(context_fn):
        taeda.manual_seed(0)
        x, w = (taeda.randn(4, 4, requires_grad=True) for _ in range(2))
        options = {} if context_fn is None else {"context_fn": context_fn}
        y = again(product, x, w, **options)
        tracks = Tracks(y.square().sum().backward)
        return x.grad, w.grad, tracks.names.count("matmul"), tracks.names.count("native_dropout")

    ops = taeda.ops.aten
    plain = run(None)
    kept = run(selective([ops.matmul.default]))
    drops = run(selective([ops.native_dropout.default]))
    for other in (kept, drops):
        assert taeda.equal(plain[0], other[0]) and taeda.equal(plain[1], other[1])
    assert kept[2] < plain[2]
    assert (plain[3], kept[3], drops[3]) == (1, 1, 0)


def test_a_policy_sees_operation_arguments_and_result():
    seen = []

    def policy(context, op, *args, **kwargs):
        seen.append((context.is_recompute, str(op), args[0].shape, context.op_output.shape))
        return CheckpointPolicy.PREFER_SAVE

    x = taeda.ones(2, 3, requires_grad=True)
    y = again(lambda x: x.t().exp().sum(), x, context_fn=selective(policy))
    y.backward()
    assert seen == [
        (False, "aten.exp.default", (3, 2), (3, 2)),
        (False, "aten.sum.default", (3, 2), ()),
    ]
    assert taeda.allclose(x.grad, x.detach().exp())


def test_skipped_random_operations_do_not_move_the_later_ones():
    def function(x):
        return dropout(dropout(x.exp()).sin())

    grads = []
    for options in ({}, {"context_fn": selective(first_dropout_only())}):
        taeda.manual_seed(0)
        x = taeda.linspace(0, 1, 100).requires_grad_()
        again(function, x, **options).sum().backward()
        grads.append(x.grad)
    assert taeda.equal(*grads)


def first_dropout_only():
    seen = []

    def policy(context, op, *args, **kwargs):
        if "dropout" in str(op):
            seen.append(1)
        save = len(seen) == 1 and "dropout" in str(op)
        return CheckpointPolicy.MUST_SAVE if save else CheckpointPolicy.MUST_RECOMPUTE

    return policy


def test_kept_results_that_were_written():
    def function(x):
        return touch(x + 1).sin()

    ops = [taeda.ops.aten.add.Tensor]
    x = taeda.ones(2, requires_grad=True)
    y = again(function, x, context_fn=selective(ops))
    with pytest.raises(RuntimeError, match=r"has been mutated: a result of aten.add"):
        y.sum().backward()
    allowed = selective(ops, allow_cache_entry_mutation=True)
    again(function, x, context_fn=allowed).sum().backward()
    assert taeda.allclose(x.grad, taeda.full((2,), 8.0).cos())  # written by both runs


def touch(y):
    with taeda.no_grad():
        y.detach().mul_(2)
    return y


def test_refused_policies():
    x = taeda.ones(1, requires_grad=True)
    with pytest.raises(TypeError, match="returns a CheckpointPolicy, got True"):
        again(taeda.exp, x, context_fn=selective(lambda *a, **k: True))
    with pytest.raises(TypeError, match=r"overloads such as .*got 'exp'"):
        create_selective_checkpoint_contexts(["exp"])
