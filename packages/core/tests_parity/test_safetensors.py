"""Checkpoints and the safetensors package: each reads what the other wrote."""

from __future__ import annotations

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import taeda

NAMES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64
float8_e4m3fn float8_e5m2"""


@pytest.mark.parametrize("name", NAMES.split())
def test_they_read_ours(name, tmp_path):
    mine = taeda.tensor([[0, 1, 2], [3, 4, 1]]).to(getattr(taeda, name))
    taeda.save({"model": {"w": mine, "t": mine.t()}, "epoch": 3}, tmp_path / "a")
    theirs = load_file(tmp_path / "a")
    assert theirs["model.w"].dtype == getattr(torch, name)
    assert theirs["model.w"].double().tolist() == mine.double().tolist()


NEWER = ["complex64", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz"]


@pytest.mark.parametrize("name", NAMES.split() + NEWER)
@pytest.mark.parametrize("mmap", [False, True])
def test_we_read_theirs(name, mmap, tmp_path):
    theirs = torch.tensor([[0, 1, 2], [3, 4, 1]]).to(getattr(torch, name))
    save_file({"w": theirs, "empty": theirs[:0].clone()}, tmp_path / "a", {"who": "them"})
    mine = taeda.load(tmp_path / "a", mmap=mmap)
    assert mine["w"].dtype == getattr(taeda, name)
    numbers = taeda.view_as_real(mine["w"]) if mine["w"].is_complex() else mine["w"]
    wanted = torch.view_as_real(theirs) if theirs.is_complex() else theirs
    assert numbers.double().tolist() == wanted.double().tolist()
    assert mine["empty"].shape == (0, 3)


def test_they_read_a_module_and_the_words_beside_it(tmp_path):
    model = taeda.nn.Sequential(taeda.nn.Linear(3, 4), taeda.nn.BatchNorm1d(4))
    taeda.save(model.state_dict(), tmp_path / "a")
    theirs = load_file(tmp_path / "a")
    assert theirs.keys() == model.state_dict().keys()
    for name, tensor in model.state_dict().items():
        assert theirs[name].tolist() == tensor.tolist()
    with safe_open(tmp_path / "a", "pt") as file:
        assert file.metadata()["format"] == "taeda"
        assert file.metadata()["taeda.version"] == "1"


def test_complex_numbers_are_pairs_to_them(tmp_path):
    taeda.save({"z": taeda.tensor([1 + 2j])}, tmp_path / "a")
    assert load_file(tmp_path / "a")["z"].tolist() == [[1.0, 2.0]]
