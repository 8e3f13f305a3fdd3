"""What docs/parity.md says of this side: a test for each of the rows that no package's tests hold."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn import functional as F


def test_tables_of_hooks_come_with_the_first_hook():
    layer = taeda.nn.Linear(2, 2)
    assert "_forward_hooks" not in vars(layer) and not layer._forward_hooks
    layer.register_forward_hook(lambda *_: None)
    assert len(vars(layer)["_forward_hooks"]) == 1


def test_a_grid_is_walked_back_twice_with_its_graph_kept():
    maps = taeda.ones(1, 2, 3, requires_grad=True)
    grid = F.affine_grid(maps, (1, 1, 3, 3), align_corners=False)
    grid.sum().backward(retain_graph=True)
    grid.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        grid.sum().backward()


def test_an_argument_that_would_be_written_for_every_direction_is_refused():
    def function(x, y):
        return y.copy_(x)

    x = taeda.tensor([1.0, 2.0])
    assert taeda.func.jacrev(function)(x, taeda.zeros(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(RuntimeError, match="copy_"):
        taeda.func.jacfwd(function)(x, taeda.zeros(2))


@pytest.mark.parametrize("name", ["take", "index_put", "searchsorted", "trapezoid"])
def test_rows_without_a_rule_for_samples_give_the_same_and_a_warning(name):
    places = taeda.tensor([0, 2])
    function = {
        "take": lambda x: x.take(places),
        "index_put": lambda x: x.index_put((places,), x[:2]),
        "searchsorted": lambda x: taeda.searchsorted(taeda.arange(3.0), x),
        "trapezoid": taeda.trapezoid,
    }[name]
    samples = taeda.arange(6.0).reshape(2, 3)
    with pytest.warns(UserWarning, match="sample"):
        made = taeda.func.vmap(function)(samples)
    assert made.tolist() == taeda.stack([function(x) for x in samples]).tolist()


def test_indexed_images_lie_row_by_row():
    images = taeda.randn(2, 4, 3, 3).to(memory_format=taeda.channels_last)
    made = images[taeda.tensor([1, 0])]
    assert made.is_contiguous() and made.tolist() == [images[1].tolist(), images[0].tolist()]


def test_the_last_value_is_written_with_deterministic_algorithms_too():
    places = taeda.zeros(50_000, dtype=taeda.int64)
    values = taeda.arange(50_000.0)
    taeda.use_deterministic_algorithms(True)
    try:
        made = taeda.zeros(2).put_(places, values)
        image, where = taeda.ones(1, 1, 1, 2), taeda.zeros(1, 1, 1, 2, dtype=taeda.int64)
        image[..., 1] = 7
        unpooled = F.max_unpool2d(image, where, 2)
    finally:
        taeda.use_deterministic_algorithms(False)
    assert made.tolist() == [49_999.0, 0.0]
    assert unpooled.flatten()[0] == 7


def test_nan_differs_from_every_number():
    x = taeda.tensor([[float("nan"), 1.0], [2.0, 3.0]])
    assert F.pdist(x, p=0).tolist() == [2.0]


def test_truth_values_are_clamped_by_what_says_it():
    mask, low = taeda.tensor([True, False]), taeda.tensor([False, True])
    with pytest.raises(NotImplementedError, match="clamp"):
        taeda.clamp(mask, min=low)
    assert taeda.clamp_min(mask, low).tolist() == (mask | low).tolist()


def test_near_rows_far_from_others_want_their_differences():
    rows = taeda.zeros(30, 2)
    rows[5:7, 0], rows[6, 1] = 1e4, 1e-2
    exact = taeda.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist")
    assert exact[5, 6].item() == pytest.approx(1e-2)
    assert abs(taeda.cdist(rows, rows)[5, 6].item() - 1e-2) > 1e-3


def test_near_rows_beside_far_ones_keep_their_digits():
    rows = taeda.zeros(30, 2)
    rows[0, 0], rows[6, 0] = 1e4, 1e-4
    assert taeda.cdist(rows, rows)[5, 6].item() == pytest.approx(1e-4)
