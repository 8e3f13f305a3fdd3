"""The wheel of compiled kernels: what pip wants of one, and the same bytes each time."""

from __future__ import annotations

import base64
import hashlib
import zipfile

import pytest

from taeda.cuda import _cubins, _cubins_wheel

IMAGES = {90: {"ab" * 20: b"symbol\nimage"}, 80: {"cd" * 20: b"s\n" + bytes(1000)}}


def test_files_are_recorded_and_the_same_kernels_are_the_same_wheel(tmp_path):
    path = _cubins_wheel.write(tmp_path, "1.2", IMAGES)
    assert path.name == "taeda_cuda_cubins-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    recorded = {}
    for line in files["taeda_cuda_cubins-1.2.dist-info/RECORD"].decode().splitlines():
        name, digest, size = line.split(",")
        recorded[name] = (digest, size)
    assert set(recorded) == set(files)
    for name, content in files.items():
        if name.endswith("RECORD"):
            assert recorded[name] == ("", "")
            continue
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert recorded[name] == (f"sha256={digest}", str(len(content)))
    metadata = files["taeda_cuda_cubins-1.2.dist-info/METADATA"].decode()
    assert "Name: taeda-cuda-cubins\n" in metadata and "Requires-Dist: taeda-core\n" in metadata
    before = path.read_bytes()
    assert _cubins_wheel.write(tmp_path, "1.2", IMAGES).read_bytes() == before


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "here").write_text("")
    with pytest.raises(OSError, match="here"):
        _cubins_wheel.write(tmp_path / "here", "1.2", IMAGES)


def test_it_is_read_where_it_is_unpacked(tmp_path, monkeypatch):
    """As an installer does it: `taeda` beside it is another folder with a part of the package."""
    place = tmp_path / "site"
    zipfile.ZipFile(_cubins_wheel.write(tmp_path, "1.2", IMAGES)).extractall(place)
    monkeypatch.syspath_prepend(str(place))
    _cubins._archive.cache_clear()
    try:
        assert _cubins.find("ab" * 20, 90) == b"symbol\nimage"
        assert _cubins.find("cd" * 20, 80) == b"s\n" + bytes(1000)
        assert _cubins.find("ab" * 20, 80) is None and _cubins.find("ab" * 20, 120) is None
    finally:
        _cubins._archive.cache_clear()
