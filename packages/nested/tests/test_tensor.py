"""Nested tensors as objects: their facts, copies and files."""

from __future__ import annotations

import copy
import pickle

import pytest
from ragged import equal_pieces, nested_of, pieces_of

import taeda
from taeda import nested


def test_facts():
    pieces = pieces_of(6)
    x = nested.nested_tensor(pieces, layout=taeda.jagged, dtype=taeda.float32, requires_grad=True)
    assert x.layout is taeda.jagged and x.is_leaf and x.requires_grad and x.dtype is taeda.float32
    assert x.dim() == 3 and x.shape[0] == 4 and x.size(2) == 6 and str(x.shape[1]).startswith("j")
    assert x.offsets().tolist() == [0, 3, 4, 4, 9] and x.lengths() is None
    assert x.values().shape == (9, 6) and x.numel() == 54 and x.is_contiguous()
    assert not pieces[0].is_nested
    assert str(x) == (
        f"NestedTensor(size=(4, {x.shape[1]}, 6), offsets=tensor([0, 3, 4, 4, 9]), requires_grad=True, "
        "contiguous=True)"
    )


def test_copies_and_files(tmp_path):
    x = nested.nested_tensor(pieces_of(6), layout=taeda.jagged, requires_grad=True)
    taeda.save({"x": x}, tmp_path / "f.pt")
    taeda.save({"x": x}, tmp_path / "g", format="safetensors")
    for made in (
        copy.deepcopy(x), pickle.loads(pickle.dumps(x)), taeda.load(tmp_path / "f.pt")["x"],
        taeda.load(tmp_path / "g")["x"],
    ):  # fmt: skip
        equal_pieces(made, pieces_of(6))
        assert made.requires_grad and made.is_leaf


def test_numbers_of_the_batch():
    x = nested_of(pieces_of(2))
    assert (x.numel(), x.nbytes) == (18, 144)
    for call in (x.item, x.__bool__):
        with pytest.raises(RuntimeError, match="18"):
            call()
    one = taeda.nested.nested_tensor([taeda.ones(1), taeda.ones(0)], layout=taeda.jagged)
    assert one.item() == 1 and bool(one)


def test_other_dtypes_and_devices_keep_the_raggedness():
    x = nested_of(pieces_of(2))
    for y in (x.half(), x.to("meta"), x.to("cpu", taeda.float32), x.to(x)):
        assert y.shape == x.shape
    assert x.to("meta").device.type == "meta"
    assert (x.float() + x.to("cpu", taeda.float32)).dtype is taeda.float32


def test_comparisons_of_all_elements():
    x, y = nested_of(pieces_of(2)), nested_of(pieces_of(2))  # of their own offsets each
    assert taeda.equal(x, y) and taeda.allclose(x, y)
    assert not taeda.equal(x, x + 1)
    assert not taeda.equal(x, nested_of(pieces_of(2)[:2]))
