"""The folder of compiled chains: what is not as it was written, or not ours, is not opened."""

from __future__ import annotations

import logging
import os

import pytest

from taeda.compiler._kernels import folder as _folder

CODE = bytes(range(256)) * 40


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setenv("TAEDA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_folder, "_told", set())
    path = tmp_path / "made.so"
    path.write_bytes(CODE)
    return path


def test_kept_and_found(library):
    assert _folder.find("a" * 40) is None
    assert not _folder.place().exists()
    path = _folder.keep("a" * 40, library)
    assert path == _folder.place() / f"{'a' * 40}.so"
    assert _folder.find("a" * 40) == path
    assert path.read_bytes().startswith(CODE)
    assert _folder.place().stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in _folder.place().iterdir()] == [path.name]


def test_a_name_says_all():
    assert _folder.digest("a", "b") == _folder.digest("a", "b")
    assert _folder.digest("a", "b") != _folder.digest("ab", "")


@pytest.mark.parametrize("change", ["cut", "flipped", "empty", "renamed", "longer"])
def test_other_content_is_not_used(library, caplog, change):
    path = _folder.keep("b" * 40, library)
    content = path.read_bytes()
    name = "c" * 40 if change == "renamed" else "b" * 40
    other = {
        "cut": content[:-1], "flipped": content[:9] + b"!" + content[10:], "empty": b"",
        "renamed": content, "longer": content + b" ",
    }[change]  # fmt: skip
    path.with_name(f"{name}.so").write_bytes(other)
    os.chmod(path.with_name(f"{name}.so"), 0o600)
    with caplog.at_level(logging.WARNING, "taeda.compiler.choice"):
        assert _folder.find(name) is None
        assert _folder.find(name) is None
    assert [r.message.partition(" is not used: ")[2] for r in caplog.records] == [
        "its content is not what was written"
    ]
    assert _folder.find(_folder.keep(name, library).stem)


def test_files_and_folders_that_others_may_write(library, caplog):
    path = _folder.keep("d" * 40, library)
    path.chmod(0o620)
    assert _folder.find("d" * 40) is None
    assert "others may write it" in caplog.text
    path.chmod(0o600)
    _folder.place().chmod(0o770)
    assert _folder.find("d" * 40) is None
    assert _folder.keep("e" * 40, library) is None
    assert "compiled chains are not kept in" in caplog.text


def test_what_belongs_to_another_user(library, caplog, monkeypatch):
    _folder.keep("d" * 40, library)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert _folder.find("d" * 40) is None
    assert _folder.keep("e" * 40, library) is None
    assert f"it belongs to user {os.getuid()}" in caplog.text


def test_links_and_odd_files(library):
    path = _folder.keep("f" * 40, library)
    moved = path.rename(library.with_name("elsewhere.so"))
    path.symlink_to(moved)
    assert _folder.find("f" * 40) is None
    path.unlink()
    os.mkfifo(path)
    assert _folder.find("f" * 40) is None
    path.unlink()
    path.mkdir()
    assert _folder.find("f" * 40) is None


def test_a_folder_behind_a_link(library, tmp_path, caplog):
    (tmp_path / "other").mkdir(mode=0o700)
    _folder.place().parent.mkdir()
    _folder.place().symlink_to(tmp_path / "other")
    assert _folder.keep("a" * 40, library) is None
    assert "it is no folder" in caplog.text
    assert list((tmp_path / "other").iterdir()) == []


def test_where_nothing_can_be_kept(library, monkeypatch, caplog):
    _folder.place().parent.write_text("a file")
    assert _folder.find("a" * 40) is None
    assert _folder.keep("a" * 40, library) is None
    assert "compiled chains are not kept" in caplog.text


def test_a_full_disk(library, monkeypatch, caplog):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_folder, "atomic_write", full)
    assert _folder.keep("a" * 40, library) is None
    assert "No space left on device" in caplog.text


def test_the_oldest_go(library, monkeypatch):
    monkeypatch.setattr(_folder, "MOST_BYTES", 4 * len(CODE))
    for age, letter in enumerate("abc"):
        path = _folder.keep(letter * 40, library)
        os.utime(path, (age + 1, age + 1))
    _folder.keep("d" * 40, library)
    assert sorted(p.name[0] for p in _folder.place().iterdir()) == ["d"]
