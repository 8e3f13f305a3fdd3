"""Hooks on tensors and nodes, retained gradients, hooks on saved tensors."""

from __future__ import annotations

import gc

import pytest

import taeda
from taeda._native import core
from taeda.autograd import graph


def ones(*shape: int) -> taeda.Tensor:
    return taeda.ones(*shape, requires_grad=True)


def test_tensor_hook_replaces_and_is_removed():
    x = ones(2)
    handle = x.register_hook(lambda g: g * 10)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [22.0, 22.0]


def test_hook_registered_before_a_write_sees_the_old_value():
    x = ones(1)
    y = x * 1
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    y.mul_(5)
    y.sum().backward()
    assert seen == [5.0]


def test_order_of_all_kinds_on_one_node():
    order = []
    x = ones(1)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: order.append("tensor"))
    y.grad_fn.register_prehook(lambda gs: order.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: order.append("post"))
    x.register_post_accumulate_grad_hook(lambda p: order.append("accumulated"))
    y.sum().backward()
    assert order == ["tensor", "pre", "post", "accumulated"]
    assert y.grad.tolist() == [1.0]


def test_retained_gradient_of_a_non_leaf():
    x = ones(2)
    y = x * 3
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [6.0, 6.0]
    assert y.retains_grad


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: taeda.ones(1).register_hook(print), RuntimeError, "doesn't require gradient"),
        (lambda: (ones(1) * 1).register_post_accumulate_grad_hook(print), RuntimeError, "non-leaf"),
        (lambda: taeda.ones(1).retain_grad(), RuntimeError, "requires_grad=False"),
    ],
    ids=["no grad", "non-leaf", "retain"],
)
def test_refusals(act, error, message):
    with pytest.raises(error, match=message):
        act()


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (3, TypeError),
        (taeda.ones(5), RuntimeError),
        (taeda.ones(2, dtype=taeda.float64), RuntimeError),
    ],
    ids=["no tensor", "other shape", "other dtype"],
)
def test_bad_hook_results(result, error):
    x = ones(2)
    x.register_hook(lambda g: result)
    with pytest.raises(error):
        (x * 2).sum().backward()


@pytest.mark.parametrize("register", ["register_prehook", "register_hook"])
@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        ((), RuntimeError, "0 instead of"),
        ((None,) * 3, RuntimeError, "3 instead of"),
        (5, TypeError, "None or a tuple, got int"),
        (taeda.ones(2), TypeError, "None or a tuple, got Tensor"),
        ([None], TypeError, "None or a tuple, got list"),
        ("like", TypeError, "Tensor, got int"),
        ("shape", RuntimeError, "changed the size"),
        ("dtype", RuntimeError, "changed the type"),
        ("more", RuntimeError, "must stay None"),
    ],
    ids=str,
)
def test_bad_results_of_node_hooks(register, result, error, message):
    replaced = {"like": 5, "shape": taeda.ones(5), "dtype": taeda.ones(2, dtype=taeda.float64)}
    if result == "more" and register == "register_prehook":
        y = taeda.linalg.eigh(taeda.eye(2).requires_grad_())[0]  # the other gradient is None
    else:
        y = ones(2) * 2

    def hook(gradients, came=None):
        if not isinstance(result, str):
            return result
        if result == "more":
            return (taeda.ones(2),) * len(gradients)
        return (replaced[result], *gradients[1:])

    getattr(y.grad_fn, register)(hook)
    with pytest.raises(error, match=message):
        y.sum().backward()


def test_node_hooks_replace_gradients_in_turn():
    x = ones(2)
    y = x * 2
    y.grad_fn.register_prehook(lambda came: (came[0] * 10,))
    y.grad_fn.register_prehook(lambda came: (came[0] + 1,))
    y.grad_fn.register_hook(lambda made, came: (made[0] - came[0], None))
    y.sum().backward()
    assert x.grad.tolist() == [11.0, 11.0]


@pytest.mark.parametrize("change", [lambda g: g.t_(), lambda g: g.unsqueeze_(0)])
def test_a_hook_may_not_give_its_gradient_another_shape_in_place(change):
    y = taeda.ones(2, 3, requires_grad=True).t()

    def hook(gradient):
        change(gradient)

    y.register_hook(hook)
    with pytest.raises(RuntimeError, match="another shape or dtype"):
        (y * taeda.ones(3, 2)).sum().backward()


def test_a_pack_hook_may_leave_its_own_context():
    context = graph.saved_tensors_hooks(
        lambda t: (context.__exit__(None, None, None), t)[1], lambda t: t * 10
    )
    x = taeda.full((2,), 3.0, requires_grad=True)
    context.__enter__()
    y = x * x  # the first argument is packed, the second one no more
    y.sum().backward()
    assert x.grad.tolist() == [33.0, 33.0]


def test_saved_tensor_hooks_pack_and_unpack():
    packed = []
    x = ones(2)
    with graph.saved_tensors_hooks(lambda t: packed.append(t) or (t * 0), lambda t: t + 7):
        y = x * x
    y.sum().backward()
    assert len(packed) == 2
    assert x.grad.tolist() == [14.0, 14.0]


def test_disabled_saved_tensor_hooks():
    with (
        graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        raise AssertionError("entered")


def test_multi_grad_hook_waits_for_all():
    a, b = ones(1), ones(1)
    seen = []
    graph.register_multi_grad_hook([a, b], lambda gs: seen.append([g.item() for g in gs]))
    (a * 2 + b * 3).sum().backward()
    assert seen == [[2.0, 3.0]]


def test_nodes_tell_their_story():
    x = ones(1)
    y = x * x
    node = y.grad_fn
    assert node.name() == "MulBackward0"
    assert node.next_functions[0][0].variable is x
    assert node._saved_self is x
    node.metadata["note"] = 1
    assert y.grad_fn.metadata["note"] == 1
    assert graph.get_gradient_edge(y).node is node


def test_a_packed_tensor_is_let_go():
    class Packed:
        pass

    def held():
        gc.collect()
        return core.memory_stats()["allocated"]

    x = taeda.ones(10_000, requires_grad=True)
    before = held()
    with graph.saved_tensors_hooks(lambda t: Packed(), lambda p: taeda.zeros(10_000)):
        y = (x * 2).exp().sum()
    assert held() - before < 1000
    y.backward()
    assert not x.grad.any()


def test_a_pack_hook_gets_the_value_before_the_write():
    packed = []
    x = taeda.full((2,), 2.0, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        y = (x * 1).sin_()
    assert packed[-1].tolist() == [2, 2]
    y.sum().backward()
    assert taeda.equal(x.grad, x.detach().cos())


def test_an_error_in_a_pack_hook_leaves_nothing_behind():
    def refuse(tensor):
        raise ValueError("no room")

    x = taeda.ones(10_000, requires_grad=True)
    gc.collect()
    before = core.memory_stats()["allocated"]
    for call in (x.exp, lambda: x * x, lambda: x.reshape(100, 100).max(0), lambda: (x * 1).relu_()):
        with (
            graph.saved_tensors_hooks(refuse, lambda t: t),
            pytest.raises(ValueError, match="no room"),
        ):
            call()
    gc.collect()
    assert core.memory_stats()["allocated"] - before < 1000


# ---- writing what was saved ----


def test_what_was_saved_may_be_written_inside_the_context():
    with graph.allow_mutation_on_saved_tensors():
        x = ones(3)
        y = x.clone()
        loss = (y**3).sum()
        y.zero_()
        (slope,) = taeda.autograd.grad(loss, x, create_graph=True)
        (bend,) = taeda.autograd.grad(slope.sum(), x)
        assert slope.tolist() == [3, 3, 3] and bend.tolist() == [6, 6, 6]


def test_outside_the_context_its_graphs_are_over():
    with graph.allow_mutation_on_saved_tensors() as context:
        loss, other = ((v := ones(2)) * v).sum(), ((w := ones(2)) * w).sum()
        context.clear()
        with pytest.raises(
            AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"
        ):
            other.backward()
    with pytest.raises(
        AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"
    ):
        loss.backward()


def test_contexts_that_allow_writes_do_not_nest():
    inner = graph.allow_mutation_on_saved_tensors()
    with (
        graph.allow_mutation_on_saved_tensors(),
        pytest.raises(RuntimeError, match="not be nested"),
    ):
        inner.__enter__()
    with graph.allow_mutation_on_saved_tensors():
        pass


# ---- a retained gradient is that of the tensor as it is ----


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.exp_(),
        lambda t: t[0].exp_(),
        lambda t: t.view(2, 1)[1:].mul_(5),
        lambda t: t.__setitem__(..., ones(2) * 3),
        lambda t: t.mul_(5).add_(1).mul_(2),
    ],
    ids=["self", "view", "view of a view", "setitem", "thrice"],
)
def test_a_retained_gradient_follows_writes_in_place(write):
    t = ones(2) * -1
    t.retain_grad()
    write(t)
    (t * 2).sum().backward()
    assert t.grad.tolist() == [2.0, 2.0]


def test_a_retained_gradient_of_a_view_follows_a_write_to_its_base():
    t = ones(2) * -1
    view = t[0]
    view.retain_grad()
    t.exp_()
    (view * 2).backward()
    assert view.grad.item() == 2.0


def test_hooks_stay_with_the_value_that_they_were_registered_for():
    t = ones(2) * -1
    t.retain_grad()
    t.register_hook(lambda g: g * 10)
    t.exp_()
    (t * 2).sum().backward()
    assert t.grad.tolist() == [2.0, 2.0]


# ---- several gradients at once ----


def test_a_multi_grad_hook_waits_for_those_that_the_backward_comes_by():
    seen = []
    x = ones(1)
    a, b = x * 2, x * 3
    graph.register_multi_grad_hook(
        [a, b, taeda.ones(1)], lambda gs: seen.append([g if g is None else g.item() for g in gs])
    )
    a.sum().backward(retain_graph=True)
    (a * 5 + b).sum().backward(retain_graph=True)
    b.sum().backward()
    assert seen == [[1, None, None], [5, 1, None], [None, 1, None]]


def test_a_multi_grad_hook_runs_before_what_comes_later():
    order = []
    x = ones(1)
    x.register_hook(lambda g: order.append("leaf"))
    a, b = x * 2, x * 3
    graph.register_multi_grad_hook([a, b], lambda gs: order.append("both"))
    (a + b).sum().backward()
    assert order == ["both", "leaf"]


def test_a_multi_grad_hook_sees_walks_towards_inputs():
    seen = []
    x, y = ones(1), ones(1)
    a, b = x * 2, y * 3
    graph.register_multi_grad_hook([a, b], lambda gs: seen.append([g is not None for g in gs]))
    taeda.autograd.grad((a * b).sum(), x, retain_graph=True)
    taeda.autograd.grad((a * b).sum(), [x, y])
    assert seen == [[True, False], [True, True]]


def test_a_multi_grad_hook_for_any_is_called_once_per_backward():
    seen = []
    x = ones(1)
    a, b = x * 2, x * 3
    graph.register_multi_grad_hook([a, b], lambda g: seen.append(g.item()), mode="any")
    (a * 5 + b * 7).sum().backward(retain_graph=True)
    a.sum().backward()
    assert len(seen) == 2 and seen[0] in (5, 7) and seen[1] == 1


def test_an_edge_may_be_a_root():
    x = ones(2)
    y = x * 2
    edge = graph.get_gradient_edge(y)
    taeda.autograd.backward(edge, taeda.tensor([3.0, 4.0]), retain_graph=True)
    assert x.grad.tolist() == [6.0, 8.0]
    total = graph.get_gradient_edge(y.sum())
    assert taeda.autograd.grad([total], [x])[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        taeda.autograd.grad(edge, [x])
