"""Chosen operations are kept."""

from __future__ import annotations

import functools

import pytest
from checkpoint_programs import again, dropout

import taeda
from taeda.utils.checkpoint import (
    CheckpointPolicy,
    create_selective_checkpoint_contexts,
)


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
