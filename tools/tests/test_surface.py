"""Siblings use of core what is listed, in the real packages and in snippets made for the purpose."""

from __future__ import annotations

import by_path
import pytest

surface = by_path.load("tools/hold/surface.py")
workspace = by_path.load("tools/packages.py")

CORE = {
    "__init__.py": "",
    "_warnings.py": "",
    "_core_api/__init__.py": '__all__ = ["warn"]\nfrom taeda._warnings import warn, other\n',
    "_core_api/runtime.py": '__all__ = ["_set_mode", "run"]\n',
    "_core_api/_hidden.py": '__all__ = ["x"]\n',
    "_table/matmul.py": 'op("_fused_(Tensor self) -> Tensor")\nop(f"_step_{NAMES}")\n',
}


@pytest.fixture
def wrong(tmp_path):
    """What a sibling of this text does wrong, beside a small core."""
    core, sibling = tmp_path / "core", tmp_path / "nn"
    for name, text in CORE.items():
        path = core / "src" / "taeda" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(text, unused=False):
        path = sibling / "src" / "taeda" / "nn" / "module.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        known = [
            workspace.Package("taeda-core", core, "0.1.0", {}, ()),
            workspace.Package("taeda-nn", sibling, "0.1.0", {}, ()),
        ]
        found = surface.check(known)
        return found if unused else [x for x in found if "no sibling uses" not in x]

    return check


def test_the_packages_use_what_is_listed():
    assert surface.check(workspace.load().values()) == []


@pytest.mark.parametrize(
    "text",
    [
        "from taeda._warnings import warn",
        "import taeda._warnings",
        "from taeda import _warnings",
        "import taeda\ntaeda._warnings.warn()",
        "from .._warnings import warn",
        "try:\n    from taeda._warnings import warn\nexcept ImportError:\n    pass",
        "from taeda._warnings import warn  # upward: on purpose",
        'importlib.import_module("taeda._warnings")',
        'importlib.import_module(f"taeda._composite.{family}")',
        "from taeda._core_api import other",
        "from taeda._core_api.runtime import stop",
        "from taeda._core_api.missing import x",
        "import taeda\ntaeda._unknown_op(1)",
    ],
)
def test_what_is_not_listed_is_refused(wrong, text):
    assert len({sentence.partition(" uses ")[2] for sentence in wrong(text)}) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "from taeda import Tensor, linalg",
        "from taeda._core_api import warn, runtime as _core",
        "from taeda._core_api.runtime import _set_mode",
        "from ._hooks import run\nfrom taeda.nn._hooks import run",
        "import taeda\ntaeda._fused_(1)\ntaeda._step_(1)\ntaeda._assert(1)\ntaeda.__version__",
        "from taeda.__future__ import set_swap_module_params_on_conversion",
    ],
)
def test_what_is_listed_is_free(wrong, text):
    assert wrong(text) == []


def test_the_sentence_names_the_place(wrong):
    (sentence,) = wrong("\nfrom taeda._warnings import warn")
    assert "taeda-nn: src/taeda/nn/module.py:2 uses taeda._warnings.warn" in sentence


def test_a_listed_name_that_nobody_uses_is_no_promise(wrong):
    found = wrong("from taeda._core_api.runtime import run", unused=True)
    assert found == [
        "taeda._core_api lists warn, which no sibling uses",
        "taeda._core_api._hidden lists x, which no sibling uses",
        "taeda._core_api.runtime lists _set_mode, which no sibling uses",
    ]
