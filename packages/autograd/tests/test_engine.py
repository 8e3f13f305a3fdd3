"""The engine's promises: accumulation, freeing, partial walks, depth, threads."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import taeda


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


def test_create_graph_makes_a_new_gradient_object():
    x = leaf(2.0)
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    (x**3).sum().backward(create_graph=True)
    assert x.grad is not first
    assert x.grad.tolist() == [24.0]


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


def test_a_freed_graph_says_what_to_do():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()


def test_retain_graph_allows_a_second_walk():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]


def test_graph_without_saved_tensors_may_be_walked_twice():
    x = leaf(1.0)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: leaf(1.0, 2.0).backward(), "only for scalar outputs"),
        (lambda: taeda.ones(1).backward(), "does not require grad"),
        (lambda: (leaf(1.0) * 2).backward(taeda.ones(2)), "Mismatch in shape"),
        (lambda: taeda.autograd.grad(leaf(1.0).sum(), leaf(1.0)), "not have been used"),
        (lambda: taeda.autograd.backward(leaf(1.0).sum(), inputs=[]), "cannot be empty"),
        (lambda: taeda.tensor([1], requires_grad=True), "floating point"),
    ],
    ids=["not scalar", "no grad", "wrong shape", "unused", "no inputs", "integer leaf"],
)
def test_refusals(make, message):
    with pytest.raises(RuntimeError, match=message):
        make()


def test_grad_touches_no_leaf_and_handles_unused():
    x, z = leaf(1.0), leaf(1.0)
    assert taeda.autograd.grad((x * 3).sum(), [x, z], allow_unused=True)[1] is None
    zero = taeda.autograd.grad((x * 3).sum(), [x, z], materialize_grads=True)[1]
    assert zero.tolist() == [0.0]
    assert x.grad is None
    with pytest.raises(ValueError, match="materialize_grads"):
        taeda.autograd.grad((x * 3).sum(), x, allow_unused=False, materialize_grads=True)


def test_inputs_limit_accumulation():
    x, y = leaf(1.0), leaf(2.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [2.0]
    assert y.grad is None


def test_gradient_of_an_intermediate():
    x = leaf(1.0)
    middle = x * 2
    (found,) = taeda.autograd.grad((middle * middle).sum(), middle)
    assert found.tolist() == [4.0]


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


def _backward_of_a_root_at_minus_one(x: taeda.Tensor) -> None:
    y = (x.sqrt() * 0).sum()
    with pytest.raises(RuntimeError, match="SqrtBackward0' returned nan"):
        y.backward()


def test_anomaly_mode_names_the_function_and_the_forward_line():
    x = leaf(-1.0)
    with (
        pytest.warns(UserWarning, match=r"Traceback of forward call(.|\n)*x\.sqrt\(\)"),
        pytest.warns(UserWarning, match="has been enabled"),
        taeda.autograd.detect_anomaly(),
    ):
        _backward_of_a_root_at_minus_one(x)


def test_numpy_refuses_a_tensor_that_requires_grad():
    with pytest.raises(RuntimeError, match=r"detach\(\)\.numpy\(\)"):
        leaf(1.0).numpy()
