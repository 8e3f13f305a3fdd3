"""The engine's promises: accumulation, freeing, partial walks, depth, threads."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import ClassVar

import pytest

import taeda
from taeda._core_api import runtime as _core
from taeda.autograd import Function
from taeda.autograd.graph import saved_tensors_hooks
from taeda.func import vmap
from taeda.overrides import TorchFunctionMode


def leaf(*values: float) -> taeda.Tensor:
    return taeda.tensor(list(values), requires_grad=True)


def test_gradients_are_summed_over_uses_and_calls():
    x = leaf(2.0, 3.0)
    (x * x + x).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    first = x.grad
    (x * 2).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [7.0, 9.0]


def test_second_derivative():
    x = leaf(2.0)
    (slope,) = taeda.autograd.grad((x**3).sum(), x, create_graph=True)
    (curvature,) = taeda.autograd.grad(slope.sum(), x)
    assert slope.tolist() == [12.0]
    assert curvature.tolist() == [12.0]


def test_broadcast_gradients_are_summed_down():
    a, b = taeda.ones(3, 1, requires_grad=True), taeda.ones(4, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.shape == (3, 1)
    assert a.grad.tolist() == [[4.0]] * 3
    assert b.grad.tolist() == [3.0] * 4


def test_first_gradient_takes_the_strides_of_a_transposed_leaf():
    x = taeda.ones(2, 3).t().requires_grad_()
    (x * taeda.ones(3, 2)).sum().backward()
    assert x.grad.stride() == x.stride()


def test_backward_inside_backward():
    x = leaf(1.0)
    seen = []

    class Inner(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1

        @staticmethod
        def backward(ctx, grad):
            with taeda.enable_grad():
                y = leaf(3.0)
                (y * y).sum().backward()
            seen.append(y.grad.tolist())
            return grad

    Inner.apply(x).sum().backward()
    assert seen == [[6.0]]
    assert x.grad.tolist() == [1.0]


def test_deep_graph_runs_and_dies_without_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.sum().backward()
    assert x.grad.tolist() == [1.0]
    del y


def test_dropped_graph_frees_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0)
        middle = x * 2
        reference = weakref.ref(middle)
        y = (middle * middle).exp()
        del middle
        assert reference() is None
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_threads_run_backward_on_their_own_graphs():
    results = []

    def work() -> None:
        x = leaf(2.0)
        for _ in range(50):
            x.grad = None
            (x * x).sum().backward()
        results.append(x.grad.tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[4.0]] * 8


def test_numpy_refuses_a_tensor_that_requires_grad():
    with pytest.raises(RuntimeError, match=r"detach\(\)\.numpy\(\)"):
        leaf(1.0).numpy()


# ---- several threads, one leaf ----


def _in_threads(count: int, work) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_that_share_a_leaf_lose_no_gradient():
    x = taeda.zeros(1 << 18, requires_grad=True)  # so large that its sums let other threads run

    def work() -> None:
        for _ in range(20):
            (x * 1).sum().backward()

    _in_threads(4, work)
    assert x.grad.min() == x.grad.max() == 80


def test_a_gradient_may_be_cleared_while_another_thread_adds_to_it():
    x = taeda.zeros(1 << 18, requires_grad=True)
    running = threading.Event()
    running.set()

    def clear() -> None:
        while running.is_set():
            x.grad = None
            taeda.full((1 << 18,), 5.0)  # takes the memory that a freed gradient had

    cleaner = threading.Thread(target=clear)
    cleaner.start()
    try:
        for _ in range(100):
            (x * 2).sum().backward()
            kept = x.grad
            assert kept is None or kept.min() >= 2
    finally:
        running.clear()
        cleaner.join()


# ---- the order of nodes ----


def assert_edges_fall(root: taeda.autograd.graph.Node) -> None:
    """Every edge under `root` leads to a node with a lower number: the walk relies on it."""
    seen, waiting = {root}, [root]
    while waiting:
        node = waiting.pop()
        for below, _ in node.next_functions:
            if below is None:
                continue
            assert below._sequence_nr() < node._sequence_nr(), (node, below)
            if below not in seen:
                seen.add(below)
                waiting.append(below)


def test_edges_fall_where_a_view_is_renewed_while_its_user_is_recorded():
    x = leaf(1.0, 2.0)
    base = x * 1
    view = base[:1]
    base.mul_(3)
    y = view * x[0]  # the view gets its new node now
    assert_edges_fall(y.grad_fn)
    z = y + view * 2
    assert_edges_fall(z.grad_fn)
    seen = []
    view.register_hook(lambda g: seen.append(g.item()))
    z.sum().backward()
    assert seen == [3.0]  # once, with the gradients of both uses
    assert x.grad.tolist() == [3.0 * 1 + 3.0 + 6.0, 0.0]


@pytest.mark.parametrize("allocations", range(1, 12))
def test_edges_fall_when_the_collector_records_nodes_amid_a_record(allocations):
    other = leaf(1.0)

    class Finalized:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            for _ in range(3):
                _ = other * 2

    before = gc.get_threshold()
    try:
        gc.collect()
        gc.set_threshold(10**6)
        a, b = leaf(2.0), leaf(3.0)
        for _ in range(5):
            Finalized()
        gc.set_threshold(gc.get_count()[0] + allocations)
        y = a * b
        z = b * 10
    finally:
        gc.set_threshold(*before)
    assert_edges_fall(y.grad_fn)
    (slope,) = taeda.autograd.grad((y + z).sum(), [b])
    assert slope.tolist() == [12.0]


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_edges_fall_when_threads_record_at_once():
    shared = leaf(2.0)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work() -> None:
        for _ in range(100):
            a = leaf(3.0)
            y, z = shared * a, a * 10
            root = (y + z).sum()
            assert_edges_fall(root.grad_fn)
            slopes.append(taeda.autograd.grad(root, [a])[0].item())

    slopes: list[float] = []
    try:
        with taeda.autograd.detect_anomaly():  # it runs Python while a node is made
            _in_threads(4, work)
    finally:
        sys.setswitchinterval(before)
    assert slopes == [12.0] * 400


# ---- edges given by hand ----


@pytest.mark.parametrize("before", [1, 255, 256, 300])
def test_any_number_of_tensors_may_stand_before_an_argument(before):
    class Doubled(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            ctx.count = len(tensors)
            ctx.mark_dirty(tensors[-1])
            return tensors[-1].mul_(2)

        @staticmethod
        def backward(ctx, grad):
            return (None,) * (ctx.count - 1) + (grad * 2,)

    x = taeda.ones(4, requires_grad=True)
    base = x.clone()
    Doubled.apply(*[taeda.ones(1)] * before, base[:2])
    base.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 1.0, 1.0]


@pytest.mark.parametrize("link", ["gradients", "bases and gradients", "graphs"])
def test_long_chains_of_tensors_die_without_recursion(link):
    x = taeda.zeros(1)
    for _ in range(100_000):
        y = taeda.zeros(1, requires_grad=link == "graphs")
        y.grad = x * 1 if link == "graphs" else x
        x = y[:] if link == "bases and gradients" else y
    del x, y


def test_a_first_gradient_that_nobody_else_sees_is_kept_itself():
    x = leaf(1.0, 2.0)
    addresses = []

    class Passes(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1

        @staticmethod
        def backward(ctx, grad):
            made = grad * 2
            addresses.append(made.data_ptr())
            return made

    Passes.apply(x).sum().backward()
    assert x.grad.data_ptr() == addresses[0]


@pytest.mark.parametrize("shape", [(2, 5), (0, 5), (36,)])
@pytest.mark.parametrize(
    "step",
    [
        lambda n: n.reshape(-1), lambda n: n.flatten(), lambda n: n.unsqueeze(0), lambda n: n.squeeze(),
        lambda n: n.view(n.shape), lambda n: n.sum(), lambda n: n.mean(), lambda n: n.clone(),
        lambda n: n * 2,
    ],
)  # fmt: skip
def test_a_computed_tensor_that_got_another_shape_has_no_gradient(step, shape):
    x = taeda.ones(3, 4, 3, requires_grad=True)
    n = -x
    n.data = taeda.zeros(shape)
    y = step(n)
    with pytest.raises(RuntimeError, match="returned an invalid gradient at index 0"):
        y.backward(taeda.ones(y.shape))
    assert x.grad is None


@pytest.mark.parametrize("keep", [False, True])
def test_what_made_a_tensor_that_was_asked_for_neither_runs_nor_is_freed(keep):
    calls = []

    class Passes(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            calls.append(ctx.saved_tensors)
            return grad * 2

    x, w = taeda.ones(2, requires_grad=True), taeda.full((2,), 3.0, requires_grad=True)
    h = Passes.apply(x)
    grads = taeda.autograd.grad((h * w).sum(), [h, w], retain_graph=keep)
    assert [g.tolist() for g in grads] == [[3.0, 3.0], [2.0, 2.0]]
    assert not calls
    h.backward(grads[0])
    assert x.grad.tolist() == [6.0, 6.0] and len(calls) == 1
    other = taeda.autograd.grad((Passes.apply(x) * w).sum(), [x, w])
    assert other[0].tolist() == [6.0, 6.0] and len(calls) == 2


def test_a_tensor_on_the_way_to_another_one_is_passed():
    x = taeda.ones(2, requires_grad=True)
    h = x * 2
    y = (h * h).sum()
    first, second = taeda.autograd.grad(y, [h, x])
    assert first.tolist() == [4.0, 4.0] and second.tolist() == [8.0, 8.0]


def wide(x, w, b):
    return taeda.nn.functional.linear(x, w, b)


def written_through_a_view(x, w, b):
    base = x @ w
    base[1:] = base[1:].clone() * b
    return base


SEVERAL = {
    "fast rule": lambda x, w, b: x * w,
    "joint rule": lambda x, w, b: taeda.nn.functional.layer_norm(x, (3,), w[0], b),
    "product": wide,
    "list": lambda x, w, b: taeda.cat([x, w]),
    "slices": written_through_a_view,
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("case", SEVERAL)
def test_each_gradient_alone_is_the_one_among_all(case, create_graph):
    leaves = [taeda.randn(3, 3), taeda.randn(3, 3), taeda.randn(3)]
    for t in leaves:
        t.requires_grad_()
    y = SEVERAL[case](*leaves).pow(2).sum()
    options = {"allow_unused": True, "retain_graph": True, "create_graph": create_graph}
    for t, among in zip(leaves, taeda.autograd.grad(y, leaves, **options), strict=True):
        (alone,) = taeda.autograd.grad(y, t, **options)
        assert (alone is None) == (among is None)
        assert alone is None or taeda.equal(alone, among)


@pytest.mark.parametrize("wanted", range(3))
def test_a_rule_computes_only_what_leads_to_a_wanted_input(wanted):
    leaves = [t.requires_grad_() for t in (taeda.ones(4, 3), taeda.ones(2, 3), taeda.ones(2))]
    y = wide(*leaves)
    made = []
    y.grad_fn.register_hook(lambda after, before: made.append([g is not None for g in after]))
    taeda.autograd.grad(y.sum(), leaves[wanted], retain_graph=True)
    assert made.pop() == [k == wanted for k in range(3)]

    def another_walk(grad):
        with taeda.enable_grad():
            taeda.autograd.grad(wide(*leaves).sum(), leaves[0])

    leaves[1].register_hook(another_walk)
    y.register_hook(another_walk)
    taeda.autograd.backward(y.sum(), inputs=leaves[1:])
    assert made.pop() == [False, True, True]  # also with another walk inside


def test_a_call_at_the_end_of_the_outermost_backward_hears_how_it_went():
    heard = []

    class Inside(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            with taeda.enable_grad():
                z = taeda.ones(1, requires_grad=True) * 2
            z.register_hook(lambda _: _core.queue_outer_callback(heard.append))
            z.register_hook(lambda _: _core.queue_callback(lambda: heard.append("inner")))
            z.backward()
            heard.append("backward")
            return grad

    x = taeda.ones(1, requires_grad=True)
    Inside.apply(x).backward()
    assert heard == ["inner", "backward", True]
    heard.clear()
    y = Inside.apply(x * 1)

    def fails(_):
        raise ValueError("no")

    x.register_hook(fails)
    with pytest.raises(ValueError, match="no"):
        y.backward()
    assert heard == ["inner", "backward", False]
    with pytest.raises(RuntimeError, match="none runs in this thread"):
        _core.queue_outer_callback(print)


class Heard(taeda.Tensor):
    """Notes the functions that are called with it."""

    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Mode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        Heard.calls.append(f"mode {func.__name__}")
        return func(*args, **(kwargs or {}))


def _hears():
    value = taeda.ones(3, 2).as_subclass(Heard)
    Heard.calls.clear()
    assert value.shape == (3, 2)
    value + 1
    with Mode():
        taeda.ones(1) * 2
    assert Heard.calls == ["__get__", "add", "mode ones", "mode mul"]
    devices = []

    def mapped(x):
        devices.append(str(x.device))
        return x

    vmap(mapped)(taeda.ones(4, 2))
    return devices == ["cpu"]


def _tensor_hook(done):
    x = taeda.ones(2, requires_grad=True)
    x.register_hook(lambda g: done.append(_hears()))
    (x * 2).sum().backward()


def _node_hook(done):
    y = (taeda.ones(2, requires_grad=True) * 2).sum()
    y.grad_fn.register_hook(lambda new, came: done.append(_hears()))
    y.backward()


def _node_prehook(done):
    y = (taeda.ones(2, requires_grad=True) * 2).sum()
    y.grad_fn.register_prehook(lambda came: done.append(_hears()))
    y.backward()


def _leaf_hook(done):
    x = taeda.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: done.append(_hears()))
    (x * 2).sum().backward()


def _unpack_hook(done):
    def unpack(packed):
        done.append(_hears())
        return packed

    with saved_tensors_hooks(lambda x: x, unpack):
        y = taeda.ones(2, requires_grad=True).exp().sum()
    y.backward()


def _function(done):
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            done.append(_hears())
            return grad * 2

    Twice.apply(taeda.ones(2, requires_grad=True)).sum().backward()


def _queued(done):
    x = taeda.ones(2, requires_grad=True)
    queue = taeda.autograd.Variable._execution_engine.queue_callback
    x.register_hook(lambda g: queue(lambda: done.append(_hears())))
    (x * 2).sum().backward()


@pytest.mark.parametrize(
    "walk",
    [_tensor_hook, _node_hook, _node_prehook, _leaf_hook, _unpack_hook, _function, _queued],
    ids=lambda walk: walk.__name__,
)
def test_code_of_users_in_a_walk_sees_its_subclasses_modes_and_maps(walk):
    done = []
    walk(done)
    assert done == [True]
