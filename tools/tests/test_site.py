"""Links of the site lead somewhere, and its archive has the same bytes twice."""

from __future__ import annotations

import io
import subprocess
import tarfile

import pytest
from by_path import load

site = load("tools/ship/site.py")
GOOD = '<a href="b.html#here">b</a><img src="x.png"><a href="https://example.org/none">out</a>'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(GOOD)
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="#here">up</a><a href="sub/">c</a>')
    (tmp_path / "sub" / "index.html").write_text('<a href="../a.html">a</a>')
    (tmp_path / "x.png").write_bytes(b"x")
    (tmp_path / ".doctrees").mkdir()
    (tmp_path / ".doctrees" / "a").write_text("kept for Sphinx")
    return tmp_path


def test_a_whole_site_has_no_fault(folder):
    assert list(site.broken(folder, site.read(folder))) == []


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("c.html", "is no file of the site"),
        ("b.html#there", "is no place of that page"),
        ("#there", "is no place of that page"),
        ("../../etc/passwd", "is no file of the site"),
    ],
)
def test_a_link_that_leads_nowhere_is_told(folder, link, fault):
    (folder / "a.html").write_text(f'<a href="{link}">x</a>')
    assert list(site.broken(folder, site.read(folder))) == [f"a.html: {link} {fault}"]


def test_the_archive_holds_the_pages_alone_and_has_the_same_bytes_twice(folder):
    data = site.packed(folder, "1.2.3")
    assert data == site.packed(folder, "1.2.3")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        names = [name.removeprefix("taeda-site/") for name in archive.getnames()]
        assert archive.extractfile("taeda-site/VERSION").read() == b"1.2.3\n"
    assert names == ["VERSION", "a.html", "b.html", "sub/index.html", "x.png"]


@pytest.fixture
def source(tmp_path):
    """Pages to be built by Sphinx."""
    pytest.importorskip("sphinx", reason="builds the pages")
    here = tmp_path / "source"
    here.mkdir()
    (here / "conf.py").write_text("html_theme = 'basic'\n")
    (here / "index.rst").write_text("Title\n=====\n")
    return here


def test_pages_of_an_earlier_build_are_not_taken_for_the_site(tmp_path):
    (tmp_path / "stale.html").write_text("<p>was a page once</p>")
    with pytest.raises(FileExistsError, match="is not empty"):
        site.build(tmp_path)


def test_what_is_built_is_checked_and_packed(source, tmp_path):
    site.build(folder := tmp_path / "made", source)
    assert site.check_and_pack(folder, tmp_path / "dist" / "site.tar.gz") == 0
    assert tarfile.is_tarfile(tmp_path / "dist" / "site.tar.gz")


def test_a_warning_of_sphinx_is_an_error(source, tmp_path):
    (source / "lost.rst").write_text("Nobody leads here\n=================\n")
    with pytest.raises(subprocess.CalledProcessError):
        site.build(tmp_path / "made", source)
