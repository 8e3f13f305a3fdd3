"""Distances, similarities and normalisation of vectors."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda.nn import functional as F

A, B = (taeda.randn(4, 3) for _ in range(2))


def close(result, expected):
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_cosine_similarity():
    a, b = A.numpy(), B.numpy()
    expected = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    close(F.cosine_similarity(A, B), expected)
    assert F.cosine_similarity(taeda.zeros(1, 3), taeda.zeros(1, 3)).item() == 0
    assert F.cosine_similarity(A.unsqueeze(1), B.unsqueeze(0), dim=-1).shape == (4, 4)
    with pytest.raises(RuntimeError, match="floating point"):
        F.cosine_similarity(A.long(), B.long())


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_pairwise_distance(p):
    expected = (np.abs(A.numpy() - B.numpy() + 1e-6) ** p).sum(1) ** (1 / p)
    close(F.pairwise_distance(A, B, p), expected)
    assert F.pairwise_distance(A, B, p, keepdim=True).shape == (4, 1)


def test_pdist():
    a = A.numpy()
    expected = [np.linalg.norm(a[i] - a[j]) for i in range(4) for j in range(i + 1, 4)]
    close(F.pdist(A), expected)
    for given, text in ((A[0], "2D tensors, got: 1D"), (A.long(), "floating-point")):
        with pytest.raises(RuntimeError, match=text):
            F.pdist(given)
    with pytest.raises(RuntimeError, match="non-negative p values, got -1"):
        F.pdist(A, -1)


def test_normalize():
    close(F.normalize(A), A.numpy() / np.linalg.norm(A.numpy(), axis=1, keepdims=True))
    assert F.normalize(taeda.zeros(2, 2)).abs().max().item() == 0


def test_cosine_similarity_of_an_integer_and_a_float():
    whole = taeda.tensor([[3, 4]], dtype=taeda.int8)
    for pair in ((whole, whole.float()), (whole.float(), whole)):
        assert F.cosine_similarity(*pair).tolist() == [pytest.approx(1.0)]
    with pytest.raises(RuntimeError, match=r"yet common dtype is taeda\.int8"):
        F.cosine_similarity(whole, whole)
    with pytest.raises(ValueError, match="eps must not be negative"):
        F.cosine_similarity(whole.float(), whole.float(), eps=-1)
