"""What all transforms have: a cache, an inverse, shapes."""

import copy
import pickle

import pytest
from laws import t

import taeda
from taeda.distributions import transforms


def test_a_cache_gives_the_very_argument_back():
    f = transforms.SigmoidTransform(cache_size=1)
    x = t(40.0)  # whose sigmoid is 1 to the last digit
    assert f.inv(f(x)) is x
    assert f.with_cache(0) is not f
    with pytest.raises(ValueError, match="cache_size is 0 or 1"):
        transforms.ExpTransform(cache_size=2)


def test_an_inverse_is_a_transform():
    f = transforms.ExpTransform()
    assert f.inv.domain is f.codomain
    assert f.inv.codomain is f.domain
    assert f.inv.bijective
    assert f.inv.sign == 1
    assert f.inv == transforms.ExpTransform().inv
    assert f.inv != f
    assert f.inv.inv is f
    assert "ExpTransform" in repr(f.inv)
    assert f.inv.with_cache(1).inv == f
    assert f.inv.forward_shape(taeda.Size((3,))) == (3,)


def test_a_transform_with_a_cache_is_copied_without_its_inverse():
    f = transforms.ExpTransform(cache_size=1)
    x = t([0.5])
    assert f.inv(f(x)) is x
    twin = pickle.loads(pickle.dumps(f))
    assert twin.inv(twin(x)).tolist() == x.tolist()
    assert copy.copy(f) == f


def test_a_cached_result_is_used_once_more():
    f = transforms.ExpTransform(cache_size=1)
    x = t([0.5])
    assert f(x) is f(x)
    y = t([2.0])
    assert f.inv(y) is f.inv(y)


def test_what_a_transform_does_not_say():
    empty = transforms.Transform()
    for ask in (empty, empty.inv):
        with pytest.raises(NotImplementedError, match="has no"):
            ask(t(1.0))
    with pytest.raises(NotImplementedError, match="log_abs_det_jacobian"):
        empty.log_abs_det_jacobian(t(1.0), t(1.0))
    with pytest.raises(ValueError, match="event_dim"):
        transforms.CorrCholeskyTransform().event_dim
