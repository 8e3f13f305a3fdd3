"""Spans of strided tensors, against counting their bytes one by one."""

from __future__ import annotations

import io
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

import taeda
from taeda._io.geometry import extent, is_dense, reached

GEOMETRIES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 7)), max_size=4)


def shown(tensor):
    """The bytes of its storage that a tensor shows, with repetitions."""
    item, places = tensor.element_size(), []
    for index in itertools.product(*map(range, tensor.shape)):
        element = tensor.storage_offset()
        element += sum(i * s for i, s in zip(index, tensor.stride(), strict=True))
        places += range(element * item, (element + 1) * item)
    return places


def view(geometry, offset):
    sizes = tuple(size for size, _ in geometry)
    strides = tuple(stride for _, stride in geometry)
    return taeda.arange(200, dtype=taeda.int16).as_strided(sizes, strides, offset)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(GEOMETRIES, st.integers(0, 9))
def test_against_counting(geometry, offset):
    tensor = view(geometry, offset)
    places = shown(tensor)
    begin, end = extent(tensor)
    assert (begin, end) == ((min(places), max(places) + 1) if places else (0, 0))
    if places:
        once = sorted(places) == list(range(begin, end))
        assert is_dense(tensor, end - begin) == once
        smaller = tensor.as_strided(reached(tensor), tensor.stride(), offset)
        assert set(shown(smaller)) == set(places)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(GEOMETRIES, st.integers(0, 9)), min_size=1, max_size=4))
def test_views_of_one_storage_come_back(described):
    base = taeda.arange(200, dtype=taeda.int16)
    views = [
        base.as_strided(tuple(n for n, _ in g), tuple(s for _, s in g), offset)
        for g, offset in described
    ]
    file = io.BytesIO()
    taeda.save(views, file)
    file.seek(0)
    made = taeda.load(file)
    assert [m.tolist() for m in made] == [v.tolist() for v in views]
    for a, b in itertools.combinations(range(len(views)), 2):
        overlap = set(shown(views[a])) & set(shown(views[b]))
        if overlap:
            assert made[a].untyped_storage() == made[b].untyped_storage()
