"""Cycles of imports are found. That ours have none is held by `tools/packages.py check`."""

from __future__ import annotations

import by_path
import pytest

cycles = by_path.load("tools/hold/cycles.py")


SOURCES = {
    "two modules": ({"__init__": "", "a": "from . import b", "b": "from .a import x"}, ["p.a", "p.b"]),
    "a package and its module": ({"__init__": "from .a import x", "a": "from p import y"}, ["p", "p.a"]),
    "a module of the package": ({"__init__": "from .a import x", "a": "from . import b", "b": ""}, []),
    "inside a "
    "function": ({"__init__": "", "a": "from . import b", "b": "def f():\n    from .a import x"}, []),
    "for type checkers": ({"__init__": "", "a": "import p.b", "b": "if TYPE_CHECKING:\n    import p.a"}, []),
    "behind a "
    "try": ({"__init__": "", "a": "import p.b", "b": "try:\n    import p.a\nexcept E: pass"}, ["p.a", "p.b"]),
}  # fmt: skip


@pytest.mark.parametrize(("sources", "wanted"), SOURCES.values(), ids=SOURCES)
def test_what_counts(tmp_path, sources, wanted):
    (tmp_path / "p").mkdir()
    for name, text in sources.items():
        (tmp_path / "p" / f"{name}.py").write_text(text)
    files = cycles.modules(tmp_path)
    found = cycles.cycles({n: cycles.imports(n, path, files) for n, path in files.items()})
    assert found == ([wanted] if wanted else [])


LATE = {
    "in a function": ("def f():\n    from .a import x", ["p.a", "p.b"]),
    "with a cause": ("def f():\n    from .a import x  # late: it needs b", []),
    "with a word alone": ("def f():\n    from .a import x  # late", ["p.a", "p.b"]),
    "for type checkers": ("if TYPE_CHECKING:\n    from .a import x", []),
}


@pytest.mark.parametrize(("text", "wanted"), LATE.values(), ids=LATE)
def test_imports_in_functions_count_unless_they_say_why(tmp_path, text, wanted):
    sources = {"__init__": "", "a": "from . import b", "b": text}
    (tmp_path / "p").mkdir()
    for name, source in sources.items():
        (tmp_path / "p" / f"{name}.py").write_text(source)
    files = cycles.modules(tmp_path)
    graph = {n: cycles.imports(n, path, files, late=True) for n, path in files.items()}
    assert cycles.cycles(graph) == ([wanted] if wanted else [])
