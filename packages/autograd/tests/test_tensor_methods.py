"""What autograd adds to tensors: hooks, retained gradients."""

from __future__ import annotations

import pytest

import taeda


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


class Told(taeda.autograd.Function):
    """The same values, and a word when backward comes by."""

    @staticmethod
    def forward(ctx, x, words, word):
        ctx.words, ctx.word = words, word
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        ctx.words.append(ctx.word)
        return gradient, None, None


@pytest.mark.parametrize("kept", [True, False])
def test_hooks_of_a_leaf_run_while_other_gradients_are_computed(kept):
    """In every step, also while the last one's graph is still there."""
    words, graphs = [], []
    leaves = [ones(2), ones(2)]
    for number, leaf in enumerate(leaves):
        leaf.register_post_accumulate_grad_hook(lambda p, n=number: words.append(n))
    for _ in range(3):
        x = ones(2) * 1
        for number, leaf in enumerate(leaves):
            x = Told.apply(x, words, f"op {number}") * leaf
        x.sum().backward()
        if kept:
            graphs.append(x)
        assert words == [1, "op 1", 0, "op 0"]
        words.clear()


def test_hooks_of_a_leaf_run_once_when_all_of_its_gradient_is_there():
    """Of uses in one graph, and in two that were made one after the other."""
    leaf, seen = ones(2), []
    leaf.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    for _ in range(2):
        leaf.grad = None
        ((leaf * 2) * leaf + leaf).sum().backward()
    assert seen == [[5.0, 5.0]] * 2
    leaf.grad, first = None, (leaf * 3).exp()
    second = (leaf * 4) * leaf
    (first.log() + second).sum().backward()
    assert seen[2] == pytest.approx([11.0, 11.0]) and len(seen) == 3
    leaf.grad, first = None, leaf * 3
    first.sum().backward(retain_graph=True)  # this one may be walked again
    (first + leaf * leaf).sum().backward()
    assert seen[3:] == [[3.0, 3.0], [8.0, 8.0]]


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


@pytest.mark.parametrize("change", [lambda g: g.t_(), lambda g: g.unsqueeze_(0)])
def test_a_hook_may_not_give_its_gradient_another_shape_in_place(change):
    y = taeda.ones(2, 3, requires_grad=True).t()

    def hook(gradient):
        change(gradient)

    y.register_hook(hook)
    with pytest.raises(RuntimeError, match="another shape or dtype"):
        (y * taeda.ones(3, 2)).sum().backward()


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


def test_a_notebook_shows_tensors_with_a_gradient():
    leaf = taeda.ones(2, requires_grad=True)
    for x in (leaf, leaf * 2):
        page = x._repr_html_()
        assert page.count("<div") == page.count("</div>")
        assert "[2]" in page
