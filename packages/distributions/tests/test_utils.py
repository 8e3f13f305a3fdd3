"""What distributions share."""

import pytest
from laws import follows, t
from scipy import stats

import taeda
from taeda.distributions.utils import (
    _standard_normal,
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)


def test_triangles():
    v = taeda.arange(6.0)
    assert vec_to_tril_matrix(v).tolist() == [[0, 0, 0], [1, 2, 0], [3, 4, 5]]
    assert tril_matrix_to_vec(vec_to_tril_matrix(v)).tolist() == v.tolist()
    with pytest.raises(ValueError, match="5 numbers"):
        vec_to_tril_matrix(taeda.zeros(5))


def test_lazy_property_is_computed_once():
    class Counting:
        calls = 0

        @lazy_property
        def value(self):
            self.calls += 1
            return 3

    c = Counting()
    assert (c.value, c.value, c.calls) == (3, 3, 1)


def test_broadcasting():
    _, b = broadcast_all(t([1.0, 2.0]), 3)
    assert b.tolist() == [3.0, 3.0]
    assert b.dtype == taeda.float64
    assert broadcast_all(1, 2.0)[0].dtype == taeda.get_default_dtype()
    with pytest.raises(ValueError, match="numbers or tensors, got str"):
        broadcast_all("0", 1.0)


@pytest.mark.parametrize("binary", [True, False])
def test_probabilities_and_logits_are_inverse(binary):
    p = t([0.2, 0.5, 0.3])
    taeda.testing.assert_close(logits_to_probs(probs_to_logits(p, binary), binary), p)
    assert probs_to_logits(t([0.0, 1.0]), binary).isfinite().all()


def test_clamped_probabilities_are_inside():
    found = clamp_probs(t([0.0, 0.5, 1.0]))
    eps = taeda.finfo(taeda.float64).eps
    assert found.tolist() == [eps, 0.5, 1 - eps]


@pytest.mark.parametrize("diagonal", [-2, -1, 0])
def test_triangles_of_every_diagonal(diagonal):
    matrix = taeda.arange(1.0, 17.0).reshape(4, 4).tril(diagonal)
    vector = tril_matrix_to_vec(matrix, diagonal)
    assert vec_to_tril_matrix(vector, diagonal).tolist() == matrix.tolist()
    with pytest.raises(ValueError, match="outside of matrices"):
        tril_matrix_to_vec(matrix, 4)


def test_noise_of_a_shape_and_dtype():
    taeda.manual_seed(3)
    found = _standard_normal((200, 50), dtype=taeda.float64, device="cpu")
    assert (found.shape, found.dtype) == ((200, 50), taeda.float64)
    follows(found.numpy(), stats.norm.cdf)
