"""Archives are unpacked below one folder, by a Python with a filter and by one without."""

from __future__ import annotations

import io
import tarfile

import archives
import pytest


@pytest.fixture(params=["filter", "none"], autouse=True)
def python(request, monkeypatch):
    if request.param == "none":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


def packed(path, *members):
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def file(name):
    member = tarfile.TarInfo(name)
    member.size = 3
    return member


def link(name, target):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member


def test_files_come_out_as_they_went_in(tmp_path):
    archives.unpack(packed(tmp_path / "a.tar.gz", file("a/b.txt"), file("c")), tmp_path / "out")
    assert (tmp_path / "out/a/b.txt").read_text() == (tmp_path / "out/c").read_text() == "xxx"


@pytest.mark.parametrize(
    "members", [[file("../b")], [link("l", "/etc"), file("l/b")]], ids=["up", "link"]
)
def test_what_leads_elsewhere_is_refused(tmp_path, members):
    with pytest.raises(tarfile.TarError):
        archives.unpack(packed(tmp_path / "a.tar.gz", *members), tmp_path / "out")
    assert not (tmp_path / "b").exists()
