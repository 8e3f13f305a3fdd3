"""A vector and a function, for the tests of transforms."""

from __future__ import annotations

import taeda

DTYPE = taeda.float64


def values(*numbers):
    """A vector in double precision."""
    return taeda.tensor(numbers, dtype=DTYPE)


def close(found, expected):
    """A tensor has these numbers."""
    assert taeda.allclose(found, taeda.as_tensor(expected, dtype=DTYPE))


X = values(0.5, -1.0, 2.0)


def cube(x):
    """Its slope is 3 x², and that has the slope 6 x."""
    return x**3
