"""Files that fsspec reaches."""

from __future__ import annotations

import pathlib
import sys

import fsspec
import pytest

import taeda

VALUE = {"w": taeda.arange(5.0), "n": [1, "x"]}


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()


def test_through_a_file_system_in_memory(memory):
    taeda.save(VALUE, "memory://folder/model.safetensors")
    assert memory.exists("/folder/model.safetensors")
    made = taeda.load("memory://folder/model.safetensors", map_location="cpu")
    assert made["w"].tolist() == VALUE["w"].tolist()
    assert made["n"] == [1, "x"]


def test_a_failed_save_puts_nothing_there(memory):
    taeda.save(VALUE, "memory://model")
    with pytest.raises(TypeError, match="cannot save"):
        taeda.save({"w": object()}, "memory://model")

    class Broken(Exception):
        pass

    def stop(done, total):
        raise Broken

    with pytest.raises(Broken):
        taeda.save({"w": taeda.zeros(9)}, "memory://model", progress=stop)
    assert taeda.load("memory://model")["w"].tolist() == VALUE["w"].tolist()


def test_a_file_url_is_a_path(tmp_path):
    path = tmp_path / "model"
    taeda.save(VALUE, f"file://{path}")
    assert taeda.load(f"file://{path}", mmap=True)["n"] == [1, "x"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_a_url_cannot_be_mapped():
    with pytest.raises(ValueError, match="cannot be mapped"):
        taeda.load("memory://model", mmap=True)


def test_without_fsspec_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for action in (lambda: taeda.save(1, "s3://bucket/x"), lambda: taeda.load("s3://bucket/x")):
        with pytest.raises(ModuleNotFoundError, match="pip install fsspec"):
            action()


def test_what_looks_like_a_url_may_be_given_as_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    taeda.save(1, pathlib.Path("s3://x"))
    assert taeda.load(pathlib.Path("s3:/x")) == 1
