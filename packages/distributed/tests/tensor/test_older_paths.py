"""Paths that libraries import from give the objects of the newer ones."""

from __future__ import annotations

import importlib

import pytest

PATHS = {
    "_tensor": "tensor",
    "_tensor.placement_types": "tensor.placement_types",
    "_tensor.experimental": "tensor.experimental",
    "tensor.parallel.style": "tensor.parallel",
    "fsdp.fully_sharded_data_parallel": "fsdp",
}


@pytest.mark.parametrize("path", PATHS)
def test_older_paths(path):
    old, new = (
        importlib.import_module(f"taeda.distributed.{name}") for name in (path, PATHS[path])
    )
    names = {*old.__all__} - {"DeviceMesh", "init_device_mesh"}
    assert names and all(getattr(old, name) is getattr(new, name) for name in names)
