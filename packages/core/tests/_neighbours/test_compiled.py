"""Compiled parts of other libraries, for which a package of ours stands."""

from pathlib import Path

import pytest

import taeda
from taeda._neighbours import compiled


def test_library_of_torchvision_is_not_loaded_but_brought(tmp_path):
    pytest.importorskip("taeda.vision_ops", reason="its operators are a package of their own")
    library = tmp_path / "torchvision" / "_C_stable.so"
    library.parent.mkdir()
    library.write_bytes(b"built against another core")
    taeda.ops.load_library(library)
    assert str(library.resolve()) in taeda.ops.loaded_libraries
    assert taeda.ops.torchvision.nms(taeda.ones(1, 4), taeda.ones(1), 0.5).tolist() == [0]


def test_other_libraries_are_not_brought():
    assert not compiled.brought(Path("/tmp/torchvision/video_reader.so"))
    assert not compiled.brought(Path("/tmp/mine/_C.so"))


def test_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(compiled.INSTEAD, ("torchvision", "_C"), "taeda.not_there")
    with pytest.raises(ImportError, match="not_there"):
        compiled.brought(Path("/tmp/torchvision/_C.so"))
