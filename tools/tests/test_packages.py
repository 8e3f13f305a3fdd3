"""The workspace tool on small workspaces made for the purpose, and on the real one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import by_path
import pytest
import workspaces
from workspaces import commit, git, make

workspace = by_path.load("tools/packages.py")


@pytest.fixture
def tree(tmp_path):
    """Two packages, the second of which needs the first."""
    return workspaces.two(tmp_path)


def test_every_package_stands_after_what_it_needs(tree):
    make(tree, "autograd", "taeda-autograd", "0.1.0", ["taeda-nn>=0.1,<0.2"])
    names = [package.short for package in workspace.order(workspace.load(tree))]
    assert names == ["core", "nn", "autograd"]


def test_order_of_one_package_brings_only_what_it_needs(tree):
    make(tree, "data", "taeda-data", "0.1.0", [])
    names = [package.short for package in workspace.order(workspace.load(tree), ["taeda-nn"])]
    assert names == ["core", "nn"]


def test_order_refuses_a_name_it_does_not_know(tree):
    with pytest.raises(ValueError, match=r"no package 'taeda-x'; there are taeda-core, taeda-nn"):
        workspace.order(workspace.load(tree), ["taeda-x"])


def test_a_sound_workspace_has_nothing_wrong(tree):
    assert workspace.check(workspace.load(tree)) == []


def test_a_circle_is_named(tree):
    make(tree, "a", "taeda-a", "0.1.0", ["taeda-b>=0.1,<0.2"])
    make(tree, "b", "taeda-b", "0.1.0", ["taeda-a>=0.1,<0.2"])
    (wrong,) = workspace.check(workspace.load(tree))
    assert "taeda-a -> taeda-b -> taeda-a" in wrong


@pytest.mark.parametrize("written", ["", ">=0.1", "==0.1.0", ">=0.2,<0.3", ">=0.1,<1"])
def test_a_range_of_another_form_is_named_with_the_right_one(tree, written):
    make(tree, "optim", "taeda-optim", "0.1.0", [f"taeda-core{written}"])
    (wrong,) = workspace.check(workspace.load(tree))
    assert f"taeda-optim needs taeda-core{written}, but" in wrong
    assert "write taeda-core>=0.1,<0.2" in wrong


def test_a_missing_or_different_licence_is_named(tree):
    (tree / "packages/nn/LICENSE").write_text("other words\n")
    (tree / "packages/core/README.md").unlink()
    wrong = workspace.check(workspace.load(tree))
    assert "taeda-core has no README.md" in wrong
    assert any(line.startswith("taeda-nn: LICENSE differs") for line in wrong)


@pytest.mark.parametrize(
    ("part", "version", "range_"),
    [
        ("patch", "0.1.1", ">=0.1,<0.2"),
        ("minor", "0.2.0", ">=0.2,<0.3"),
        ("major", "1.0.0", ">=1.0,<2"),
    ],
)
def test_bump_moves_the_version_and_every_range(tree, part, version, range_):
    assert workspace.bump(workspace.load(tree), "taeda-core", part) == version
    after = workspace.load(tree)
    assert after["taeda-core"].version == version
    assert after["taeda-nn"].siblings == {"taeda-core": range_}
    assert after["taeda-nn"].version == "0.1.0"
    assert workspace.check(after) == []


def changed(tree):
    return [package.short for package in workspace.changed(workspace.load(tree), tree)]


def test_changed_counts_commits_since_the_tag(tree):
    commit(tree)
    assert changed(tree) == ["core", "nn"]
    git(tree, "tag", "core-v0.1.0")
    git(tree, "tag", "nn-v0.1.0")
    assert changed(tree) == []
    (tree / "packages/nn/README.md").write_text("more")
    commit(tree)
    assert changed(tree) == ["nn"]


@pytest.fixture
def released(tree):
    return workspaces.released(tree)


def test_without_tags_the_commit_that_wrote_the_changelog_is_the_release(released):
    assert changed(released) == []
    (released / "packages/nn/README.md").write_text("more")
    commit(released)
    assert changed(released) == ["nn"]


def test_a_tag_counts_before_the_changelog(released):
    (released / "packages/nn/README.md").write_text("repaired before the tag")
    commit(released)
    git(released, "tag", "nn-v0.1.0")
    assert changed(released) == []


def test_a_shallow_clone_without_the_tag_does_not_know_and_says_changed(released, tmp_path):
    shallow = tmp_path / "shallow"
    git(released, "clone", "--quiet", "--depth", "1", released.as_uri(), str(shallow))
    assert changed(shallow) == ["core", "nn"]
    assert workspace.tags(workspace.load(shallow), shallow) == {}


def test_tags_that_a_clone_lacks_stand_at_the_commit_of_the_release(released):
    release = git(released, "rev-parse", "HEAD").strip()
    git(released, "tag", "core-v0.1.0")
    (released / "packages/nn/README.md").write_text("more")
    commit(released)
    assert workspace.tags(workspace.load(released), released) == {"nn-v0.1.0": release}


def test_a_version_that_the_changelog_does_not_tell_is_named(released):
    workspace.bump(workspace.load(released), "taeda-nn", "minor")
    (sentence,) = workspace.check(workspace.load(released))
    assert "taeda-nn is 0.2.0, and its CHANGELOG.md ends at 0.1.0" in sentence


def test_a_package_without_a_release_owes_no_fragments_but_what_it_brings(tree):
    folder = tree / "packages/nn/changelog.d"
    (folder / "first.added.md").write_text("Layers.")
    (folder / "sums.fixed.md").write_text("A fault that nobody had.")
    (sentence,) = workspace.check(workspace.load(tree))
    assert sentence == "taeda-nn was never released, so nobody misses sums.fixed.md: remove it"


def test_every_package_tells_of_its_release():
    for package in workspace.load().values():
        if package.released:
            assert package.released == package.version
            assert not [*(package.folder / "changelog.d").glob("first.*")]


NN_CODE = [
    ("import taeda.data", "taeda-data", "taeda.data"),
    ("from taeda import data", "taeda-data", "taeda.data"),
    ("from taeda.data import loader", "taeda-data", "taeda.data.loader"),
    ("from ..data import loader", "taeda-data", "taeda.data.loader"),
    ("import taeda\nx = taeda.data.loader", "taeda-data", "taeda.data.loader"),
    ("from taeda import no_grad", "taeda-autograd", "taeda.no_grad"),
    ("import taeda\nx = taeda.no_grad", "taeda-autograd", "taeda.no_grad"),
    ("import scipy.special", "scipy", "scipy"),
    ("def f():\n    import scipy", "scipy", "scipy"),
]


@pytest.mark.parametrize(("code", "owner", "name"), NN_CODE, ids=[case[0] for case in NN_CODE])
def test_an_undeclared_import_is_named(tmp_path, code, owner, name):
    tree = layered(tmp_path, code)
    wrong = workspace.check(workspace.load(tree))
    assert any(line.startswith(f"taeda-nn does not declare {owner}") for line in wrong), wrong
    assert any(name in line and "src/taeda/nn/__init__.py:" in line for line in wrong)


ALLOWED = [
    "import taeda",
    "from taeda import Tensor",
    "from . import layers",
    "import os, sys",
    "import numpy as np",
    "try:\n    import scipy\nexcept ImportError:\n    scipy = None",
    "import taeda\nx = taeda.data.loader  # upward: who has a loader has the package",
]


@pytest.mark.parametrize("code", ALLOWED)
def test_a_declared_or_optional_import_is_fine(tmp_path, code):
    assert workspace.check(workspace.load(layered(tmp_path, code))) == []


def layered(root: Path, code: str) -> Path:
    """A workspace whose `nn` holds `code` and declares core and numpy."""
    (root / "LICENSE").write_text("words\n")
    exports = '_EXPORTS: dict[str, str] = {"no_grad": "autograd"}\n'
    make(root, "core", "taeda-core", "0.1.0", [], exports)
    make(root, "autograd", "taeda-autograd", "0.1.0", ["taeda-core>=0.1,<0.2"])
    make(root, "data", "taeda-data", "0.1.0", ["taeda-core>=0.1,<0.2"])
    make(root, "nn", "taeda-nn", "0.1.0", ["taeda-core>=0.1,<0.2", "numpy"], code)
    return root


ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))


@pytest.mark.parametrize("name", NAMES)
def test_the_pages_name_every_package(name):
    assert f"| `packages/{name}` |" in (ROOT / "README.md").read_text()
    if name != "meta":
        row = f"| taeda-{name} |"
        assert row in (ROOT / "docs/architecture.md").read_text()
        assert row in (ROOT / "packages/meta/README.md").read_text()


def test_the_version_that_code_tells_is_the_package_s(tree):
    code = tree / "packages/core/src/taeda/__init__.py"
    code.write_text('__version__ = "0.1.0"\n')
    assert workspace.check(workspace.load(tree)) == []
    workspace.bump(workspace.load(tree), "taeda-core", "minor")
    assert code.read_text() == '__version__ = "0.2.0"\n'
    assert workspace.check(workspace.load(tree)) == []
    code.write_text('__version__ = "0.1.0"\n')
    (sentence,) = workspace.check(workspace.load(tree))
    assert "taeda-core is 0.2.0" in sentence and '"0.1.0"' in sentence


def test_a_package_has_a_file_beside_those_of_the_others(tree):
    assert workspace.check(workspace.load(tree)) == []
    (tree / "packages/nn/src/taeda/part-nn.txt").unlink()
    (sentence,) = workspace.check(workspace.load(tree))
    assert sentence.startswith("taeda-nn has no part-nn.txt in src/taeda")


def test_advice_names_the_siblings_that_are_declared(tree):
    place = tree / "packages/core/src/taeda/_parts/advice.py"
    place.parent.mkdir()
    make(tree, "optim", "taeda-optim", "0.1.0", ["taeda-core>=0.1,<0.2", "taeda-nn>=0.1,<0.2"])
    place.write_text('NEEDS: dict = {"taeda-nn": (), "taeda-optim": ("taeda-nn",)}\n')
    assert workspace.check(workspace.load(tree)) == []
    place.write_text('NEEDS: dict = {"taeda-nn": (), "taeda-optim": ()}\n')
    (sentence,) = workspace.check(workspace.load(tree))
    assert "taeda-optim needs ['taeda-nn']" in sentence and "advice.py says []" in sentence


def test_the_extras_for_devices_name_what_they_bring_and_nothing_else_needs_it():
    project = tomllib.loads((ROOT / "packages/core/pyproject.toml").read_text())["project"]
    for extra, names in (
        ("cuda12", {"cupy-cuda12x", "nvidia-cublas-cu12", "nvidia-cuda-nvrtc-cu12"}),
        ("cuda13", {"cupy-cuda13x", "nvidia-cublas", "nvidia-cuda-nvrtc"}),
    ):
        brought = {
            re.split(r"[\[><=]", item)[0] for item in project["optional-dependencies"][extra]
        }
        assert names <= brought
        assert f"core[{extra}]" in (ROOT / "docs/install.md").read_text()
    assert not [item for item in project["dependencies"] if re.match("cupy|nvidia", item)]
