"""Masked tensors as objects: made, copied, saved."""

from __future__ import annotations

import copy
import pickle

from masks import MASK, X, same_masked

import taeda
from taeda.masked import as_masked_tensor, is_masked_tensor, masked_tensor


def test_constructors_copy_and_keep():
    data = X.clone()
    copied, kept = masked_tensor(data, MASK), as_masked_tensor(data, MASK)
    data[0, 0] = 7
    assert copied.get_data()[0, 0] == X[0, 0] and kept.get_data()[0, 0] == 7
    assert is_masked_tensor(copied) and not is_masked_tensor(data)
    assert copied.layout is taeda.strided and copied.shape == X.shape


def test_copies_and_files(tmp_path):
    x = masked_tensor(X, MASK, requires_grad=True)
    taeda.save({"x": x, "again": x}, tmp_path / "f.pt")
    taeda.save({"x": x}, tmp_path / "g", format="safetensors")
    read = taeda.load(tmp_path / "f.pt")
    assert read["x"] is read["again"]
    for made in (
        copy.deepcopy(x), pickle.loads(pickle.dumps(x)), read["x"], taeda.load(tmp_path / "g")["x"],
    ):  # fmt: skip
        same_masked(made, X, MASK)
        assert made.requires_grad and made.is_leaf
