"""The public names of transforms."""

import pickle

import pytest
from laws import t

from taeda import distributions as D
from taeda.distributions import transforms

NAMES = [name for name in transforms.__all__ if name.endswith("Transform")]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_a_transform(name):
    assert issubclass(getattr(transforms, name), transforms.Transform)
    assert getattr(transforms, name) is getattr(D, name)


def test_pickles_name_the_public_place_and_old_files_load():
    raw = pickle.dumps(transforms.ExpTransform(cache_size=1), 2)
    place = b"taeda.distributions.transforms\n"
    assert place in raw
    for written in (raw, raw.replace(place, b"taeda.distributions._pointwise_transforms\n")):
        assert type(pickle.loads(written)) is transforms.ExpTransform
    assert {getattr(transforms, name).__module__ for name in NAMES} == {transforms.__name__}


def test_the_identity_is_an_empty_chain():
    x = t([1.0, 2.0])
    assert transforms.identity_transform(x).tolist() == x.tolist()
    assert transforms.identity_transform.inv(x).tolist() == x.tolist()


def test_libraries_ask_whether_a_transform_is_an_inverse():
    forward = transforms.ExpTransform()
    assert isinstance(forward.inv, transforms._InverseTransform)
    assert not isinstance(forward, transforms._InverseTransform)
