"""Masked tensors as objects: made, copied, saved."""

from __future__ import annotations

import copy
import pickle

import pytest
from every_kind import KINDS, refused
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


ONE_OF_TWO = taeda.tensor([True, False])
MADE_OF = {
    "data": lambda x: taeda.masked.masked_tensor(x, ONE_OF_TWO),
    "data as it is": lambda x: taeda.masked.as_masked_tensor(x, ONE_OF_TWO),
    "mask": lambda x: taeda.masked.masked_tensor(taeda.ones(2), x),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", MADE_OF)
def test_parts_are_plain_tensors(part, kind):
    sentence = refused(MADE_OF[part], kind)
    assert sentence.startswith(f"{part.split()[0]} must be ")
