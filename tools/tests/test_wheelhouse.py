"""The index of a folder of wheels, as pip reads it."""

from __future__ import annotations

import hashlib
import re
import subprocess
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest
from by_path import load

wheelhouse = load("tools/ship/wheelhouse.py")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of two projects, one of them from others."""
    for name in ("taeda_nn-0.1.0-py3-none-any.whl", "needs/typing_extensions-4.0-py3-none-any.whl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("name", name)
    (tmp_path / "taeda_nn-0.1.0.tar.gz").write_bytes(b"source")
    return tmp_path


def test_every_file_is_linked_with_its_sum(folder):
    simple = wheelhouse.index(folder)
    linked = []
    for page in simple.glob("*/index.html"):
        for place, digest in re.findall(r'href="([^#"]+)#sha256=(\w+)"', page.read_text()):
            file = (page.parent / unquote(place)).resolve()
            assert hashlib.sha256(file.read_bytes()).hexdigest() == digest
            linked.append(file)
    files = [path for path in folder.rglob("*") if path.suffix in (".whl", ".gz")]
    assert sorted(linked) == sorted(files) and len(files) == 3


def test_folder_for_find_links_has_every_file_beside_its_page(folder):
    (folder / "index").mkdir()
    (folder / "index" / "taeda_nn-0.0.9-py3-none-any.whl").write_bytes(b"of a release before")
    place = wheelhouse.find_links(folder)
    found = re.findall(r'href="([^#"]+)#sha256=(\w+)"', (place / "index.html").read_text())
    assert [name for name, _ in found] == [
        "taeda_nn-0.1.0-py3-none-any.whl",
        "taeda_nn-0.1.0.tar.gz",
    ]
    for name, digest in found:
        assert hashlib.sha256((place / name).read_bytes()).hexdigest() == digest
    assert {path.name for path in place.iterdir()} == {"index.html", *(name for name, _ in found)}


def test_projects_have_normalised_names(folder):
    simple = wheelhouse.index(folder)
    assert {page.parent.name for page in simple.glob("*/index.html")} == {
        "taeda-nn",
        "typing-extensions",
    }
    assert re.findall(r'href="([^"]+)"', (simple / "index.html").read_text()) == [
        "taeda-nn/",
        "typing-extensions/",
    ]


def test_current_builds_only_when_a_source_changed(tmp_path, monkeypatch):
    source = tmp_path / "root" / "packages" / "nn" / "layer.py"
    source.parent.mkdir(parents=True)
    source.write_text("a = 1\n")
    subprocess.run(["git", "init", "-q", str(tmp_path / "root")], check=True)
    into = tmp_path / "dist"
    into.mkdir()
    built = []

    def build(folder, root):
        built.append(sorted(folder.glob("*.whl")))
        (folder / f"taeda_nn-{len(built)}.whl").write_text("")

    monkeypatch.setattr(wheelhouse, "build", build)
    first = wheelhouse.current(into, tmp_path / "root")
    assert wheelhouse.current(into, tmp_path / "root") == first and len(built) == 1
    source.write_text("a = 2\n")
    assert wheelhouse.current(into, tmp_path / "root") != first
    assert built == [[], []]  # wheels of older sources are gone before new ones come
