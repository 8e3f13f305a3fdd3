"""Which sources start threads of their own, by what they include."""

from __future__ import annotations

import pytest

from taeda.utils.cpp_extension._build import Request, link_flags, units
from taeda.utils.cpp_extension._threads import starts_threads


@pytest.mark.parametrize(
    ("text", "header", "starts"),
    [
        ("#include <thread>\n", "", True),
        ("  #  include <future>\n", "", True),
        ('#include "own.h"\n', "#include <pthread.h>\n", True),
        ("#include <own.h>\n", "#include <execution>\n", True),
        ('#include "own.h"\n', '#include "own.h"\n', False),
        ("#include <mutex>\n#include <atomic>\n", "", False),
        ('// <thread>\nconst char *x = "#include <thread>";\n', "", False),
    ],
)
def test_what_a_source_includes_says_so(tmp_path, text, header, starts):
    source, folder = tmp_path / "a.cpp", tmp_path / "include"
    folder.mkdir()
    source.write_text(text)
    (folder / "own.h").write_text(header)
    assert starts_threads([source], [str(folder)]) is starts
    request = Request("a", (source,), tmp_path, include_paths=(str(folder),))
    assert ("-pthread" in units(request)[0].flags) is starts
    assert ("-pthread" in link_flags(request)) is starts


def test_a_flag_of_the_caller_is_not_given_twice(tmp_path):
    source = tmp_path / "a.cpp"
    source.write_text("#include <thread>\n")
    for flag in ("-pthread", "-fopenmp"):
        request = Request("a", (source,), tmp_path, cflags=(flag,))
        assert "-pthread" not in [f for f in units(request)[0].flags if f != flag]
