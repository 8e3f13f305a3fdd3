"""What a communication hook sees of a bucket."""

from __future__ import annotations

import pytest

import taeda
from taeda.distributed._bucket_view import GradBucket


@pytest.fixture
def bucket():
    params = [taeda.zeros(2, 3), taeda.zeros(4)]
    buffer = taeda.arange(10.0)
    return GradBucket(3, buffer, [], params, [6, 4], last=True)


def test_gradients_are_views_of_the_buffer_in_the_shapes_of_parameters(bucket):
    first, second = bucket.gradients()
    assert first.tolist() == [[0, 1, 2], [3, 4, 5]] and second.tolist() == [6, 7, 8, 9]
    second[0] = -1
    assert bucket.buffer()[6].item() == -1
    assert [tuple(p.shape) for p in bucket.parameters()] == [(2, 3), (4,)]
    assert bucket.index() == 3 and bucket.is_last()
    assert repr(bucket) == "GradBucket(3, 2 parameters, 10 of float32)"


def test_another_buffer_has_the_same_length(bucket):
    bucket.set_buffer(taeda.ones(2, 5, dtype=taeda.float64))
    assert bucket.gradients()[0].tolist() == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="has 10 values, not 3"):
        bucket.set_buffer(taeda.ones(3))
