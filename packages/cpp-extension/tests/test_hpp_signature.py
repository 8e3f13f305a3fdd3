"""What the compiler knows of a bound function against its schema: a difference is refused when the
library loads.
"""

from __future__ import annotations

import itertools

import pytest

import taeda
from taeda.utils.cpp_extension import load_inline

#: C++ functions by name: arguments, result
FUNCTIONS = {
    "one": ("Tensor", "Tensor"),
    "maybe": ("std::optional<Tensor>", "Tensor"),
    "list": ("const std::vector<Tensor> &", "Tensor"),
    "real": ("double", "Tensor"),
    "real_maybe": ("std::optional<double>", "Tensor"),
    "whole": ("int64_t", "Tensor"),
    "yes": ("bool", "Tensor"),
    "text": ("const std::string &", "Tensor"),
    "ints": ("std::vector<int64_t>", "Tensor"),
    "reals": ("std::vector<double>", "Tensor"),
    "bools": ("std::vector<bool>", "Tensor"),
    "type": ("taeda::DType", "Tensor"),
    "random": ("taeda::Generator", "Tensor"),
    "nothing": ("Tensor", "void"),
    "number": ("Tensor", "double"),
    "two": ("Tensor", "std::tuple<Tensor, Tensor>"),
    "three": ("Tensor", "std::tuple<Tensor, Tensor, Tensor>"),
    "twelve": ("Tensor", f"std::tuple<{', '.join(['Tensor'] * 12)}>"),
    "pair": ("Tensor, double", "Tensor"),
    "none": ("", "Tensor"),
}
#: which functions take an argument of a type
TAKERS = {
    "Tensor": {"one", "maybe"},
    "Tensor?": {"maybe"},
    "Tensor(a!)": {"one", "maybe"},
    "Tensor(a!)?": {"maybe"},
    "Tensor[]": {"list"},
    "Tensor?[]": {"list"},
    "float": {"real", "real_maybe"},
    "float?": {"real_maybe"},
    "int": {"real", "real_maybe", "whole"},
    "int?": {"real_maybe"},
    "SymInt": {"real", "real_maybe", "whole"},
    "Scalar": {"real", "real_maybe", "whole", "yes"},
    "bool": {"real", "real_maybe", "whole", "yes"},
    "str": {"text"},
    "int[]": {"ints"},
    "int[2]": {"ints"},
    "float[]": {"reals"},
    "bool[]": {"bools"},
    "bool[3]": {"bools"},
    "ScalarType": {"type"},
    "Generator": {"random"},
    "Generator?": {"random"},
}
OF_ONE = [
    name
    for name, (arguments, result) in FUNCTIONS.items()
    if result == "Tensor" and arguments and "," not in arguments
]
#: how many results a function gives
GIVES = {"nothing": 0, "one": 1, "number": 1, "two": 2, "three": 3, "twelve": 12}

COMPARED = "\n".join(
    f'    if (name == "{name}") return taeda::detail::signature_of<{", ".join(filter(None, types))}>();'
    for name, (arguments, result) in FUNCTIONS.items()
    for types in ((result, arguments),)
)
SOURCE = f"""
using taeda::Tensor;
const taeda::detail::Signature &signature(const std::string &name)
{{
{COMPARED}
    throw taeda::ValueError(name);
}}
void compare(const std::string &schema, const std::string &name)
{{
    taeda::detail::compare("the C++ function", schema, signature(name));
}}
TAEDA_EXTENSION(m) {{ m.def("compare(str schema, str name) -> ()", compare); }}
"""


@pytest.fixture(scope="module")
def ext(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signature")
    return load_inline(
        "hpp_signature", SOURCE, extra_cflags=["-O0", "-Wall", "-Werror"], build_directory=folder
    )


def test_kinds_of_arguments(ext):
    for (declared, takers), name in itertools.product(TAKERS.items(), OF_ONE):
        optional = "?" in declared.rpartition("]")[2] if "]" in declared else "?" in declared
        default = '="a, (b"' if declared == "str" else "=None" if optional else ""
        for schema in (f"f({declared} x) -> Tensor", f"f(*, {declared} x{default}) -> (Tensor y)"):
            if name in takers:
                ext.compare(schema, name)
                continue
            with pytest.raises(TypeError, match="cannot take argument 0") as caught:
                ext.compare(schema, name)
            assert schema in str(caught.value)
            assert declared.replace("(a!)", "").replace("SymInt", "int").partition("[")[0] in str(
                caught.value
            )


@pytest.mark.parametrize("name", GIVES)
def test_counts_of_results(ext, name):
    for count in range(7):
        results = ", ".join(["Tensor"] * count)
        schema = f"f(Tensor x) -> {results if count == 1 else f'({results})'}"
        if count == GIVES[name]:
            ext.compare(schema, name)
            continue
        with pytest.raises(
            TypeError, match=f"gives {GIVES[name]} results, and the schema has {count}"
        ):
            ext.compare(schema, name)
    written = "f(Tensor(a!) x) -> Tensor(a!)"
    if GIVES[name] < 2:  # who gives nothing has written
        ext.compare(written, name)
    else:
        with pytest.raises(TypeError, match="and the schema has 1"):
            ext.compare(written, name)


@pytest.mark.parametrize(
    ("name", "schema", "count"),
    [
        ("none", "f(Tensor x) -> Tensor", 0),
        ("one", "f() -> Tensor", 1),
        ("one", "f(Tensor x, *, int y=2) -> Tensor", 1),
        ("pair", "f(Tensor x) -> Tensor", 2),
    ],
)
def test_counts_of_arguments(ext, name, schema, count):
    with pytest.raises(TypeError, match=f"takes {count} arguments, and the schema has"):
        ext.compare(schema, name)


BODY = """
using taeda::Tensor;
static Tensor one(const Tensor &x) { return x + 1; }
static std::tuple<Tensor, Tensor> two(const Tensor &x) { return {x + 1, x + 2}; }
"""


@pytest.mark.parametrize(
    ("place", "binding"),
    [
        ("the C\\+\\+ function", 'm.def("wrong(Tensor x) -> Tensor", two);'),
        ("the function for meta", 'm.def("wrong(Tensor x) -> Tensor", one).meta(two);'),
        ("the function for cuda", 'm.def("wrong(Tensor x) -> Tensor", one).cuda(two);'),
        (
            "the C\\+\\+ function",
            """m.def("right(Tensor x) -> Tensor", one).derivative("wrong");
            m.def("wrong(Tensor grad) -> Tensor", two);""",
        ),
    ],
)
def test_a_library_whose_schema_differs_does_not_load(tmp_path, place, binding):
    source = f"{BODY} void used() {{ (void)one; }} TAEDA_EXTENSION(m) {{ {binding} }}"
    with pytest.raises(ImportError, match=f"{place} gives 2 results, and the schema has 1"):
        load_inline("hpp_refused", source, extra_cflags=["-O0"], build_directory=tmp_path)
    assert not hasattr(taeda.ops.hpp_refused, "wrong")


def test_another_tensor_than_the_written_one_is_refused(tmp_path):
    source = """
using taeda::Tensor;
static Tensor forgets_(Tensor x) { return x * 2; }
static Tensor writes_(Tensor x) { *x.mutable_data<float>() = 5; return x; }
static void gives_nothing_(Tensor x) { *x.mutable_data<float>() = 7; }
TAEDA_EXTENSION(m)
{
    m.def("forgets_(Tensor(a!) x) -> Tensor(a!)", forgets_);
    m.def("writes_(Tensor(a!) x) -> Tensor(a!)", writes_);
    m.def("gives_nothing_(Tensor(a!) x) -> Tensor(a!)", gives_nothing_);
}
"""
    ext = load_inline("hpp_written", source, extra_cflags=["-O0"], build_directory=tmp_path)
    x = taeda.ones(2)
    with pytest.raises(RuntimeError, match=r"forgets_: .* returned another tensor"):
        ext.forgets_(x)
    assert ext.writes_(x) is x
    assert ext.gives_nothing_(x) is x
    assert x.tolist() == [7, 1]
