"""Where windows of pooling lie."""

from __future__ import annotations

from taeda.quantization.rules._spans import adaptive, places, strided


def test_padding_counts_where_it_is_asked_to():
    how = ([3], [2], [1], False)
    axis = strided("avg_pool1d", [5], [3], (*how, True)).axes[0]
    assert axis == ((0, 2, 3, 1, 4, 3, 3, 5, 3), 3)
    assert strided("avg_pool1d", [5], [3], (*how, False)).axes[0].numbers[:3] == (0, 2, 2)


def test_dilated_windows_are_none():
    assert strided("max_pool2d", [9, 9], [3, 3], ([2, 2], [2, 2], [0, 0], [1, 2], False)) is None


def test_parts_of_nearly_equal_size():
    made = adaptive("adaptive_avg_pool2d", [5, 4], [2, 1], ())
    assert [axis.numbers for axis in made.axes] == [(0, 3, 3, 2, 5, 3), (0, 4, 4)]
    assert places(made.axes) == 12
    assert adaptive("adaptive_avg_pool2d", [5, 4], [0, 1], ()) is None
