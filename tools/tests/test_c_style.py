"""C has one form; what the formatter would misread is shown to it in other words."""

from __future__ import annotations

import shutil

import pytest
from by_path import load

c_style = load("tools/hold/c_style.py")
needs_formatter = pytest.mark.skipif(
    shutil.which("clang-format") is None,
    reason="clang-format comes with the session lint, which runs the tool",
)


def test_products_are_shown_as_quotients_and_put_back():
    text = "X(mul, 2, x * y, a / b, c & d, e % f, *p, &q) /* a * b / c */\n"
    shown, were = c_style.show(text)
    assert shown == "X(mul, 2, x / y, a / b, c % d, e % f, *p, &q) /* a / b / c */\n"
    assert c_style.put_back(shown, were) == text


def test_a_sign_that_is_lost_is_an_error():
    shown, were = c_style.show("x * y")
    with pytest.raises(ValueError, match="number of /"):
        c_style.put_back(shown.replace("/", ""), were)


def test_parts_of_a_string_are_joined_but_not_its_lines():
    assert c_style.joined('f("one "\n  "two");') == 'f("one two");'
    for kept in (
        'f("one\\n"\n  "two");',
        'f("\\x12"\n  "3");',
        '#define A "x"\n"y"',
        '// "x"\n"y"',
    ):
        assert c_style.joined(kept) == kept


def test_comments_that_make_a_line_too_long_go_above_it():
    code, comment = "    int64_t counted = 0;", "/* " + "c" * 90 + " */"
    assert c_style.lifted(f"{code} {comment}") == f"    {comment}\n{code}"
    for kept in (
        f"{code} /* short */",
        f"    }} {comment}",
        f"#define A \\\n{code} {comment}",
        f"a + {comment}",
    ):
        assert c_style.lifted(kept) == kept


def test_entries_of_a_list_get_a_line_each():
    text = "#define NAMES(X) \\\n    X(a) X(b, f(x)) \\\n    X(c)\nY(a) X(b)\n"
    made = "#define NAMES(X) \\\n    X(a) \\\n    X(b, f(x)) \\\n    X(c)\nY(a) X(b)\n"
    assert c_style.listed(text) == made
    short = "#define NAMES(X) \\\n    X(a) X(b)\n"
    assert c_style.listed(short) == short


def test_long_lines_are_told_but_not_drawings():
    text = "x" * 101 + "\n" + "x" * 100 + "\n *   " + "a  b" * 40 + "\n * " + "c" * 100
    assert list(c_style.too_long(text)) == [1, 4]


def test_headers_of_earlier_versions_are_left():
    names = c_style.sources()
    assert "packages/core/csrc/runtime/alloc.c" in names
    assert not [name for name in names if "abi_1_" in name or "special_cells" in name]


@needs_formatter
def test_the_form_is_a_fixed_point_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(c_style, "ROOT", tmp_path)
    shutil.copy(c_style.Path(c_style.__file__).parents[2] / ".clang-format", tmp_path)
    path = tmp_path / "a.h"
    path.write_text("ROWS(mul, 2, , x * y)\nint f( int x ){return x;}\n")
    assert c_style.faults("a.h", mend=False) == [
        "a.h: not in its form; `python tools/hold/c_style.py --fix` writes it"
    ]
    assert c_style.faults("a.h", mend=True) == []
    assert path.read_text() == "ROWS(mul, 2, , x * y)\nint f(int x) { return x; }\n"
    assert c_style.faults("a.h", mend=False) == []
