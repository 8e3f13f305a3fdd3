"""What is said of a part that is not installed: how to get it from where this core came from, and
never from an index.
"""

from __future__ import annotations

import json
import shlex
from importlib import metadata

import pytest

import taeda
from taeda._parts import DISTRIBUTIONS, _sentence
from taeda._parts import advice as _advice

SOURCES = {
    "checkout": ("checkout", "/some where/taeda"),
    "repository": ("repository", "git+https://example.org/taeda@0123abc"),
    "folder": ("wheels", "/some where/wheels"),
    "unknown": ("wheels", ""),
}


@pytest.fixture
def alone(monkeypatch):
    """An environment that has core and no other part."""
    monkeypatch.setattr(_advice, "missing", lambda name: name != "taeda-core")


@pytest.mark.parametrize("name", _advice.NEEDS)
@pytest.mark.parametrize("source", SOURCES)
def test_no_name_of_ours_is_left_for_an_index_to_resolve(source, name, alone, monkeypatch):
    monkeypatch.setattr(_advice, "origin", lambda: SOURCES[source])
    words = shlex.split(_advice.advice(name))
    assert words[:2] == ["pip", "install"]
    bare = [word for word in words if word in _advice.NEEDS]
    assert not bare or "--no-index" in words, words
    for part in (*_advice.NEEDS[name], name):  # siblings too: pip would look for them
        short = part.removeprefix("taeda-")
        assert any(word == part or word.endswith(f"packages/{short}") for word in words), part


def test_what_is_here_already_is_not_installed_again(monkeypatch):
    monkeypatch.setattr(_advice, "origin", lambda: ("checkout", "/taeda"))
    monkeypatch.setattr(_advice, "missing", lambda name: name == "taeda-optim")
    assert _advice.advice("taeda-optim") == "pip install /taeda/packages/optim"


def test_every_part_has_an_advice_and_its_sentence_says_it(alone):
    assert {*DISTRIBUTIONS.values()} <= {*_advice.NEEDS}
    for sub, name in DISTRIBUTIONS.items():
        assert _sentence(sub).startswith(f"taeda.{sub} is not installed; it comes with {name}: pip")


class _Written:
    """A distribution with what pip writes down about its source."""

    def __init__(self, source):
        self.source = source

    def read_text(self, name):
        assert name == "direct_url.json"
        return json.dumps(self.source) if self.source else None


def _origin_of(source, monkeypatch):
    monkeypatch.setattr(metadata, "distribution", lambda name: _Written(source))
    monkeypatch.setattr(_advice, "__file__", "/nowhere/site-packages/taeda/_parts/advice.py")
    return _advice.origin()


def test_the_origin_is_read_from_what_pip_wrote(tmp_path, monkeypatch):
    wheels = tmp_path / "my wheels"
    wheels.mkdir()
    url = (wheels / "taeda_core-0.1.0-cp311-abi3-linux_x86_64.whl").as_uri()
    assert _origin_of({"url": url, "archive_info": {}}, monkeypatch) == ("wheels", str(wheels))
    git = {"url": "https://x/y", "vcs_info": {"vcs": "git", "commit_id": "ab12"}}
    assert _origin_of(git, monkeypatch) == ("repository", "git+https://x/y@ab12")
    assert _origin_of(None, monkeypatch) == ("wheels", "")


def test_a_folder_that_was_installed_from_is_a_checkout_while_it_is_there(tmp_path, monkeypatch):
    source = {"url": (tmp_path / "packages" / "core").as_uri(), "dir_info": {}}
    assert _origin_of(source, monkeypatch) == ("wheels", "")
    (tmp_path / "packages" / "autograd").mkdir(parents=True)
    (tmp_path / "packages" / "autograd" / "pyproject.toml").touch()
    assert _origin_of(source, monkeypatch) == ("checkout", str(tmp_path))


def test_sources_on_the_import_path_alone_are_a_checkout(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    kind, place = _advice.origin()
    assert kind == "checkout" or "site-packages" in taeda.__file__, place
