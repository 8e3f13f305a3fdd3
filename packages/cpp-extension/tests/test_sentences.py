"""A compiler's long text begins with the sentence of ours that it holds, the type and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from taeda.utils.cpp_extension import load_inline
from taeda.utils.cpp_extension._sentences import refused

OWN = """
using taeda::Tensor;
struct Q {{}};
static {result} f(const Tensor &x{argument}) {{ {body} }}
TAEDA_EXTENSION(m)
{{
    m.def("f", f); /* here */
}}
"""
TORCH = """
#include <torch/extension.h>
struct Q {{}};
static {result} f(const at::Tensor &x{argument}) {{ {body} }}
{block}
{{
    m.def("f", &f); /* here */
}}
"""
PYBIND, LIBRARY = "PYBIND11_MODULE(sentences, m)", "TORCH_LIBRARY(sentences, m)"
ARGUMENT = "this type cannot be an argument of a bound function: "
RESULT = "this type cannot be a result of a bound function: "
PART = "this type cannot be a part of a message: "
TEXTS = "std::vector<std::__cxx11::basic_string<char> >"


def own(result="Tensor", argument="", body="return x;"):
    return OWN.format(result=result, argument=argument, body=body)


def torch(block, result="at::Tensor", argument="", body="return x;"):
    return TORCH.format(result=result, argument=argument, body=body, block=block)


@pytest.mark.parametrize(
    ("source", "sentence", "kind"),
    [
        (own(argument=", Q q"), ARGUMENT, "Q"),
        (own(argument=", std::optional<std::vector<std::string>> q"), ARGUMENT, TEXTS),
        (own(result="Q", body="return {};"), RESULT, "Q"),
        (own(result="std::tuple<Tensor, double>", body="return {x, 1};"),
            "a std::tuple of results holds Tensors", "std::tuple<taeda::Tensor, double>"),
        (own(body='TAEDA_CHECK(false, "a", Q()); return x; /* here */'), PART, "Q"),
        (torch(PYBIND, argument=", Q q"), ARGUMENT, "Q"),
        (torch(LIBRARY, argument=", std::optional<Q> q"), ARGUMENT, "Q"),
        (torch(PYBIND, result="std::tuple<at::Tensor, Q>", body="return {x, Q()};"), RESULT, "Q"),
        (torch(LIBRARY, body='TORCH_CHECK(false, "a", Q()); return x; /* here */'), PART, "Q"),
    ],
)  # fmt: skip
def test_the_refusal_comes_first_and_little_behind_it(tmp_path, source, sentence, kind):
    with pytest.raises(RuntimeError) as caught:
        load_inline("sentences", source, extra_cflags=["-O0"], build_directory=tmp_path)
    lines = str(caught.value).splitlines()
    text = (tmp_path / "main.cpp").read_text().splitlines()
    places = [k for k, line in enumerate(text, 1) if "/* here */" in line]
    assert any(f"'sentences': main.cpp:{place}: {sentence}" in lines[0] for place in places)
    assert lines[0].endswith(f"({kind})")
    assert len(lines) < 40, "\n".join(lines)
    assert str(caught.value).count("error: ") == 1


def test_a_text_of_clang():
    said = "\n".join(
        [
            "argument.hpp:64:9: error: static assertion failed due to requirement 'sizeof(Q)': it is none",
            "binding.hpp:88:5: note: in instantiation of template class 'taeda::Argument<Q>' requested here",
            "/tmp/main.cpp:9:7: note: in instantiation of function template specialization requested here",
        ]
    )
    assert (
        refused(said, [Path("/tmp/other.cpp"), Path("/tmp/main.cpp")])
        == "main.cpp:9: it is none (Q)\n"
    )


def test_a_text_without_a_refusal():
    assert refused("main.cpp:1:1: error: static_assert expects a bool", [Path("main.cpp")]) == ""
