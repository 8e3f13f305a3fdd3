"""Kinds of value that are rare in checkpoints are written as Python itself reads them."""

from __future__ import annotations

import io
import pickle
import zipfile
from argparse import Namespace
from collections import deque
from pathlib import PosixPath, PurePosixPath
from types import SimpleNamespace

import numpy as np
import pytest

import taeda
from taeda._io.pt.others import writer_of

VALUES = [
    np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.float32(1.5), np.int8(-3),
    np.array([1 + 2j]), np.arange(3).astype(">i4"), deque([1, "a"], maxlen=5), deque(), range(1, 10, 3),
    Namespace(lr=0.1, layers=[1, 2]), SimpleNamespace(a=None), PosixPath("/a/b"),
]  # fmt: skip


def pickle_in(value):
    file = io.BytesIO()
    taeda.save(value, file, format="pt")
    with zipfile.ZipFile(file) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("data.pkl")]
        return archive.read(name)


def same(a, b):
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b) and a.dtype == b.dtype.newbyteorder("=")
    return a == b


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_python_reads_what_is_written(value):
    assert writer_of(value) is not None
    made = pickle.loads(pickle_in(value))
    assert type(made) is type(value) and same(made, value)
    if isinstance(value, deque):
        assert made.maxlen == value.maxlen


def test_one_object_stays_one():
    for value in (np.ones(2), deque([1]), SimpleNamespace(a=1)):
        first, second = pickle.loads(pickle_in([value, value]))
        assert first is second


def test_what_has_no_writer_here():
    assert writer_of(3) is None and writer_of([1]) is None and writer_of(PurePosixPath("a")) is None
    with pytest.raises(
        TypeError, match=r"an array of dtype <U1 in this form: convert it to numbers"
    ):
        pickle_in(np.array(["a"]))
