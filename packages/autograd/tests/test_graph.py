"""The graph: its nodes and edges, hooks on nodes and on saved tensors, hooks over several tensors."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable

import pytest

import taeda
from taeda._native import core
from taeda.autograd import Function, graph
from taeda.autograd.graph import Node


def ones(*shape: int) -> taeda.Tensor:
    return taeda.ones(*shape, requires_grad=True)


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


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.note = "kept"
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


def test_a_node_is_of_the_class_that_its_name_says():
    x = taeda.ones(3, requires_grad=True)
    total = (x * 2).sum()
    node = total.grad_fn
    assert type(node).__name__ == node.name() == "SumBackward0"
    ((product, _),) = node.next_functions
    (leaf, _), *_ = product.next_functions
    assert [type(n).__name__ for n in (product, leaf)] == ["MulBackward0", "AccumulateGrad"]
    assert all(isinstance(n, Node) for n in (node, product, leaf))
    assert type((x * 3).grad_fn) is type(product)


def test_the_node_of_a_custom_function_shows_its_context():
    node = Doubled.apply(taeda.ones(2, requires_grad=True)).grad_fn
    assert type(node).__name__ == "DoubledBackward"
    assert node.note == "kept"
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        node.other


def test_nodes_are_made_by_operations_only():
    class Mine(Node):
        pass

    for kind in (Node, Mine, type(taeda.ones(1, requires_grad=True).exp().grad_fn)):
        with pytest.raises(TypeError, match="cannot create"):
            kind()
        with pytest.raises(TypeError, match="not safe"):
            object.__new__(kind)


def test_a_renamed_node_is_collected():
    x = taeda.ones(2, requires_grad=True)
    before = sum(isinstance(o, Node) for o in gc.get_objects())
    for _ in range(10):
        assert x.exp().sum().grad_fn.next_functions
    gc.collect()
    assert sum(isinstance(o, Node) for o in gc.get_objects()) <= before + 1


def _with_hooks(kinds: tuple[str, ...], tensor: taeda.Tensor, node: graph.Node) -> list[str]:
    """What hooks of these kinds, registered in this order, will note down."""
    order: list[str] = []

    def noted(kind: str) -> Callable[..., None]:
        return lambda *_: order.append(kind)

    register = {
        "tensor": tensor.register_hook,
        "pre": node.register_prehook,
        "accumulated": getattr(tensor, "register_post_accumulate_grad_hook", None),
        "post": node.register_hook,
    }
    for kind in kinds:
        register[kind](noted(kind))
    return order


@pytest.mark.parametrize(
    "kinds", list(itertools.permutations(["tensor", "pre", "accumulated", "post"]))
)
def test_hooks_of_a_leaf_and_of_its_node_run_in_one_order(kinds):
    x = ones(2)
    node = graph.get_gradient_edge(x).node
    order = _with_hooks(kinds, x, node)
    (x * 2 + x).sum().backward()
    assert order == ["tensor", "pre", "accumulated", "post"]
    taeda.autograd.grad(x.sum(), x)  # the node does not run
    assert order[4:] == ["tensor"]
    x.sum().backward(inputs=[x])
    assert order[5:] == ["tensor", "pre", "accumulated", "post"]


@pytest.mark.parametrize("kinds", list(itertools.permutations(["tensor", "pre", "post"])))
def test_hooks_of_an_inner_node_run_in_one_order(kinds):
    x = ones(2)
    y = x * 2
    order = _with_hooks(kinds, y, y.grad_fn)
    taeda.autograd.grad(y.sum(), y, retain_graph=True)
    assert order == ["tensor"]
    y.sum().backward()
    assert order[1:] == ["tensor", "pre", "post"]


def test_hooks_of_the_node_of_a_leaf_see_its_gradient_and_change_it():
    x, seen = ones(2), []
    node = graph.get_gradient_edge(x).node
    node.register_prehook(lambda came: (came[0] * 10,))
    node.register_hook(lambda made, came: seen.append((made, came[0].mul_(7), x.grad.tolist())))
    (x * 2).sum().backward()
    ((made, came, gradient),) = seen
    assert (made, came.tolist(), gradient, x.grad.tolist()) == ((), [140, 140], [20, 20], [20, 20])
    node.register_hook(lambda made, came: (came[0],))
    with pytest.raises(RuntimeError, match="1 instead of 0"):
        x.sum().backward()


def test_a_kept_gradient_is_that_before_hooks_of_the_node():
    x = ones(1)
    y = x * 2
    y.register_hook(lambda g: g + 1)
    y.grad_fn.register_prehook(lambda came: (came[0] * 10,))
    y.retain_grad()
    y.backward()
    assert (y.grad.item(), x.grad.item()) == (2, 40)


class Nothing(Function):
    """Has no gradient, as functions whose gradient lands elsewhere do."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return None


def accumulator(leaf):
    return leaf.expand_as(leaf).grad_fn.next_functions[0][0]


def test_hooks_run_behind_a_function_that_has_no_gradient():
    leaf = taeda.ones(2, requires_grad=True)
    seen = []
    y = leaf * 1
    y.grad_fn.register_prehook(lambda came: seen.append(came))
    y.grad_fn.register_hook(lambda made, came: seen.append((made, came)))
    accumulator(leaf).register_hook(lambda made, came: seen.append((made, came)))
    leaf.register_post_accumulate_grad_hook(lambda t: seen.append("written"))
    y.register_hook(lambda g: seen.append("a gradient"))
    Nothing.apply(y).sum().backward()
    assert seen == [(None,), ((None, None), (None,)), ((), (None,))]
    assert leaf.grad is None


def test_a_walk_towards_an_input_runs_no_hooks_beside_the_way():
    leaf, other = (taeda.ones(2, requires_grad=True) for _ in range(2))
    seen = []
    accumulator(other).register_hook(lambda made, came: seen.append(came))
    y = leaf * Nothing.apply(other)
    taeda.autograd.grad(y.sum(), leaf)
    assert seen == []
