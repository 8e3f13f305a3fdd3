"""Methods of pruning."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.utils import prune


@pytest.fixture
def layer():
    made = nn.Linear(4, 3)
    made.weight.data = taeda.arange(12.0).reshape(3, 4) - 5
    return made


def test_a_tensor_alone():
    kept = prune.L1Unstructured(0.5).prune(taeda.tensor([1.0, -2.0, 3.0, -4.0]))
    assert kept.abs().tolist() == [0, 0, 3, 4]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda m: prune.l1_unstructured(m, "weight", 100), ValueError, "parameters to prune=12"),
        (lambda m: prune.l1_unstructured(m, "weight", "a"), TypeError, "Invalid type for amount: a"),
        (lambda m: prune.ln_structured(m, "weight", 1, 2, 5), IndexError, "Invalid index 5"),
        (lambda m: prune.PruningContainer().add_pruning_method(3), TypeError, "not a BasePruningMethod"),
    ],
)  # fmt: skip
def test_pruning_refuses(layer, call, error, text):
    with pytest.raises(error, match=text):
        call(layer)


# ---- masks by definition ----

T = taeda.tensor([[1.0, -6.0, 3.0], [-4.0, 5.0, -2.0]])
ONES = taeda.ones(2, 3)


@pytest.mark.parametrize(("amount", "zeros"), [(0, 0), (2, 2), (0.5, 3), (1.0, 6), (0.1, 1)])
def test_the_smallest_go_by_number_or_by_share(amount, zeros):
    mask = prune.L1Unstructured(amount).compute_mask(T, ONES)
    gone = sorted(T.abs().flatten().tolist())[:zeros]
    assert sorted(T.abs()[mask == 0].tolist()) == gone


@pytest.mark.parametrize(
    ("n", "dim", "gone"), [(1, 0, [0]), (2, 1, [2]), (taeda.inf, 0, [1]), (1, -1, [0])]
)
def test_whole_channels_of_the_smallest_norm_go(n, dim, gone):
    mask = prune.LnStructured(1, n, dim).compute_mask(T, ONES)
    kept = mask.amax(1 - dim % 2)
    assert taeda.equal(kept, mask.amin(1 - dim % 2))
    assert (kept == 0).nonzero().flatten().tolist() == gone


def test_random_masks_remove_the_number_and_follow_the_seed():
    for method in (prune.RandomUnstructured(4), prune.RandomStructured(1, 1)):
        taeda.manual_seed(3)
        first = method.compute_mask(T, ONES)
        taeda.manual_seed(3)
        assert taeda.equal(first, method.compute_mask(T, ONES))
        assert (first == 0).sum().item() == (
            4 if isinstance(method, prune.RandomUnstructured) else 2
        )


def test_what_is_pruned_before_stays_pruned(layer):
    prune.l1_unstructured(layer, "weight", 2)
    prune.random_unstructured(layer, "weight", 3)
    [container] = layer._forward_pre_hooks.values()
    assert [type(m) for m in container] == [prune.L1Unstructured, prune.RandomUnstructured]
    assert (layer.weight_mask == 0).sum().item() == 5
    prune.custom_from_mask(layer, "weight", taeda.zeros(3, 4))
    assert not layer.weight.any() and len(container) == 3


def test_scores_of_ones_own():
    scores = taeda.arange(6.0).reshape(2, 3)
    made = prune.L1Unstructured(2).prune(T, importance_scores=scores)
    assert (made == 0).nonzero().tolist() == [[0, 0], [0, 1]]
    with pytest.raises(AssertionError, match="same shape as tensor t"):
        prune.L1Unstructured(2).prune(T, importance_scores=scores[0])


def test_a_mask_of_another_shape_is_refused(layer):
    with pytest.raises(AssertionError, match=r"shape|size"):
        prune.custom_from_mask(layer, "weight", taeda.ones(2, 2))
    assert isinstance(layer.weight, nn.Parameter) and not layer._forward_pre_hooks


def test_methods_of_other_names_are_not_put_together():
    container = prune.PruningContainer(prune.Identity.apply(nn.Linear(2, 2), "weight"))
    other = prune.Identity.apply(nn.Linear(2, 2), "bias")
    with pytest.raises(ValueError, match=r"bias|weight"):
        container.add_pruning_method(other)
