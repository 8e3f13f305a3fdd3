"""What the reference's pages promise of calls that are right: the engine of autograd, functions of
users, func. A function is a promise; its name says it. What bad input meets is in `test_promises.py`.
"""

from __future__ import annotations

import gc
import math
import threading
import warnings
import weakref

import pytest
from promises import keep, leaf, promises, raises

import taeda
from taeda import autograd, func, nn, ones

# ---- the engine ----


def every_write_counts_through_all_aliases():
    for write in (
        lambda y: y.add_(1),
        lambda y: y[0].mul_(2),
        lambda y: y.detach().zero_(),
        lambda y: y.view(-1).copy_(ones(3)),
        lambda y: y.__setitem__(0, 1.0),
        lambda y: y.index_put_((taeda.tensor([0]),), taeda.tensor(2.0)),
        lambda y: y.resize_(3) if not y.requires_grad else y.mul_(1),
    ):
        y = leaf().exp()
        before = y._version
        write(y)
        assert y._version > before
        raises(RuntimeError, lambda y=y: y.sum().backward(), "modified by an inplace")
    y = leaf().exp()
    y.data.add_(1)
    y.sum().backward()  # `.data` has a counter of its own


def a_write_into_a_view_rewrites_its_base():
    a = leaf(2, 2)
    b = a * 1
    b[0].mul_(2)
    b.sum().backward()
    assert a.grad.tolist() == [[2, 2], [1, 1]]
    raises(RuntimeError, lambda: (leaf(2, 2) * 1).unbind()[0].mul_(2))


def a_gradient_takes_the_strides_of_its_parameter():
    for p in (leaf(2, 3, 4, 4).detach().to(memory_format=taeda.channels_last), ones(2, 3).t()):
        p = p.requires_grad_()
        (p * 2).sum().backward()
        first, strides = p.grad, p.grad.stride()
        assert strides == p.stride()
        (p * 2).sum().backward()
        assert p.grad is first
        (p * p).sum().backward(create_graph=True)
        assert p.grad is not first
        assert p.grad.stride() == p.stride()


def nodes_without_saved_tensors_may_be_walked_twice():
    y = (leaf() + 1).sum()
    y.backward()
    y.backward()
    z = (leaf() ** 2).sum()
    z.backward()
    raises(RuntimeError, z.backward, "retain_graph")


def grad_leaves_grad_alone_and_knows_what_is_unused():
    x, u = leaf(), leaf()
    y = (x * 2).sum()
    assert autograd.grad(y, [x, u], allow_unused=True, retain_graph=True)[1] is None
    zeros = autograd.grad(y, [x, u], materialize_grads=True, retain_graph=True)[1]
    assert not zeros.any()
    assert x.grad is None
    raises(RuntimeError, lambda: autograd.grad(y, [x, u], retain_graph=True))
    raises(ValueError, lambda: autograd.grad(y, [x], allow_unused=False, materialize_grads=True))
    rows = autograd.grad(x * x, x, taeda.eye(3), is_grads_batched=True)[0]
    assert taeda.equal(rows, 2 * taeda.eye(3))
    edge = autograd.graph.get_gradient_edge(x)
    assert autograd.grad((x * 3).sum(), [edge])[0].tolist() == [3] * 3


def hooks_of_one_visit_come_in_order():
    seen, x = [], leaf()
    y = x * 1
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda g: seen.append("pre"))
    y.grad_fn.register_hook(lambda a, b: seen.append("post"))
    x.register_hook(lambda g: seen.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
    y.sum().backward()
    assert seen == ["tensor", "pre", "post", "leaf", "accumulated"]


def a_hook_sees_the_value_it_was_registered_for():
    x, seen = leaf(), []
    y = x * 1
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.mul_(5)
    y.sum().backward()
    assert seen == [[5, 5, 5]]


def later_hooks_see_what_earlier_ones_returned():
    x, seen = leaf(), []
    handle = x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: seen.append(g.sum().item()))
    x.sum().backward()
    handle.remove()
    x.sum().backward()
    assert seen == [6, 3]
    assert x.grad.tolist() == [3, 3, 3]


def a_complex_gradient_is_twice_the_conjugate_derivative():
    z = taeda.tensor([1 + 2j, -3j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    assert taeda.equal(z.grad, 2 * z.detach())
    x = leaf()
    (x.to(taeda.complex64) * 1j).abs().sum().backward()
    assert x.grad.dtype is taeda.float32


def deep_graphs_neither_run_nor_end_by_recursion():
    y = x = leaf(1)
    for _ in range(50_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1
    y = x
    for _ in range(50_000):
        y = y + 1
    del y


def a_dropped_graph_frees_what_it_saved():
    kept = ones(3)
    alive = weakref.ref(kept)
    gc.disable()
    try:
        y = leaf() * kept
        del kept
        y = None
        assert alive() is None
    finally:
        gc.enable()
    assert y is None


def modes_hold_where_their_block_is():
    @taeda.no_grad()
    def numbers():
        yield taeda.is_grad_enabled()
        yield taeda.is_grad_enabled()

    run = numbers()
    assert next(run) is False
    assert taeda.is_grad_enabled()
    assert next(run) is False
    with pytest.raises(KeyError), taeda.no_grad():
        raise KeyError
    assert taeda.is_grad_enabled()
    with taeda.inference_mode():
        y = ones(3)
    raises(RuntimeError, lambda: y.add_(1), "[Ii]nference")
    raises(RuntimeError, lambda: leaf() * y, "[Ii]nference")


def anomaly_mode_names_the_function():
    x = taeda.tensor([-1.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with autograd.detect_anomaly():
            y = (x.sqrt() * 0).sum()
            raises(RuntimeError, y.backward, "SqrtBackward")


def packed_tensors_are_unpacked_as_often_as_needed():
    packs, unpacks = [], []

    def pack(t):
        packs.append(1)
        return t.clone()

    def unpack(t):
        unpacks.append(1)
        return t

    with autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (leaf().exp() * 2).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(packs) >= 1
    assert len(unpacks) == 2 * len(packs)


def threads_walk_graphs_of_their_own_at_once():
    results = []

    def work(k):
        x = leaf(100)
        for _ in range(20):
            (x * k).sum().backward()
        results.append(x.grad[0].item() == 20 * k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == [True] * 5


# ---- functions of users ----


def needs_and_missing_gradients_are_told():
    seen = []

    class Both(autograd.Function):
        @staticmethod
        def forward(ctx, a, b, n):
            ctx.set_materialize_grads(False)
            return a * n, b * n

        @staticmethod
        def backward(ctx, ga, gb):
            seen.append((ctx.needs_input_grad, ga is None, gb is None))
            return ga, gb, None

    a, b = leaf(), ones(3)
    Both.apply(a, b, 2)[0].sum().backward()
    assert seen == [((True, False, False), False, True)]


def forward_mode_refuses_levels_within_levels():
    with autograd.forward_ad.dual_level():
        x = autograd.forward_ad.make_dual(ones(2), taeda.tensor([1.0, 2.0]))
        assert autograd.forward_ad.unpack_dual(x.exp() + x).tangent.allclose(
            taeda.tensor([1.0, 2.0]) * (math.e + 1)
        )
        raises(RuntimeError, lambda: autograd.forward_ad.dual_level().__enter__())


# ---- func ----


def tied_weights_move_together_in_functional_call():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    model, x = Tied(), ones(1, 2)
    new = taeda.eye(2) * 3
    assert func.functional_call(model, {"a.weight": new}, (x,)).tolist() == [[9, 9]]
    raises(
        ValueError, lambda: func.functional_call(model, {"a.weight": new, "b.weight": -new}, (x,))
    )
    before = model.a.weight
    raises(RuntimeError, lambda: func.functional_call(model, {"a.weight": ones(5, 5)}, (x,)))
    assert model.a.weight is before


def chunks_and_outputs_of_vmap():
    x = taeda.arange(12.0).reshape(4, 3)
    whole = func.vmap(lambda r: r.sin().sum())(x)
    assert taeda.equal(func.vmap(lambda r: r.sin().sum(), chunk_size=3)(x), whole)
    made = func.vmap(lambda r, s: {"a": r * s, "b": r}, in_dims=(0, None), out_dims=1)(x, ones(3))
    assert made["a"].shape == (3, 4)


def inner_no_grad_counts_and_outer_does_not():
    def inner(x):
        with taeda.no_grad():
            shift = x.sin().sum()
        return x.sum() + shift

    assert func.grad(inner)(ones(2)).tolist() == [1, 1]
    with taeda.no_grad():
        assert func.grad(lambda x: (x * x).sum())(ones(2)).tolist() == [2, 2]


KEPT = promises(globals())


@pytest.mark.parametrize("promise", sorted(KEPT))
def test_it_is_kept(promise):
    keep(KEPT[promise])
