"""The field's schema language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taeda._table import _schema
from taeda._table._schema import SchemaError, parse_schema, split_commas


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Tensor x", ("Tensor", False, None, False, False, "", False)),
        ("Tensor(a!) x", ("Tensor", False, None, False, False, "a", True)),
        ("Tensor(a -> *) x", ("Tensor", False, None, False, False, "a", False)),
        ("Tensor? x", ("Tensor", False, None, True, False, "", False)),
        ("Tensor?[] x", ("Tensor", True, None, False, True, "", False)),
        ("Tensor[]? x", ("Tensor", True, None, True, False, "", False)),
        ("Tensor[](a!) x", ("Tensor", True, None, False, False, "a", True)),
        ("Tensor(a!)[] x", ("Tensor", True, None, False, False, "a", True)),
        ("SymInt[2] x", ("int", True, 2, False, False, "", False)),
        ("int[]? x", ("int", True, None, True, False, "", False)),
        ("ScalarType? x", ("ScalarType", False, None, True, False, "", False)),
    ],
)
def test_types(text, facts):
    (a,) = parse_schema(f"f({text}) -> ()").arguments
    found = (a.base, a.is_list, a.length, a.optional, a.element_optional, a.alias, a.mutated)
    assert found == facts and a.declared == text.rpartition(" ")[0] and not a.has_default


@pytest.mark.parametrize(
    ("text", "value"),
    [("None", None), ("True", True), ("-1", -1), ("1.5e-3", 1.5e-3), ("Mean", 1), ("Sum", 2),
     ("[1,0]", [1, 0]),
     ("'a,b'", "a,b"), ('"linear"', "linear"), ("long", "int64"), ("strided", "strided"), ("[]", [])],
)  # fmt: skip
def test_defaults(text, value):
    (a,) = parse_schema(f"f(Scalar x={text}) -> ()").arguments
    assert a.default == value and type(a.default) is type(value) and a.has_default


def test_a_whole_schema():
    made = parse_schema("lib::f.out(Tensor a, *, int n=2, Tensor(b!) out) -> (Tensor(b!) y, Tensor[])")
    assert (made.namespace, made.name, made.overload, made.qualified) == ("lib", "f", "out", "f.out")
    assert [(a.name, a.keyword_only) for a in made.arguments] == [("a", False), ("n", True), ("out", True)]
    first, second = made.returns
    assert (first.base, first.name, first.alias, first.mutated) == ("Tensor", "y", "b", True)
    assert second.is_list and second.name == "" and repr(made.arguments[0].default) == "REQUIRED"
    assert parse_schema("f() -> ()").returns == () and parse_schema("f() -> ()").qualified == "f"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f", "not a schema: 'f'"),
        ("f(Tensor x)", "not a schema"),
        ("f(Tensor) -> ()", "argument 'Tensor' of .*wanted 'Type name'"),
        ("f(Tensor 3x) -> ()", "argument 'Tensor 3x'"),
        ("f(Tensr x) -> ()", "type 'Tensr' of .* is unknown; known: Device"),
        ("f(Tensor[ x) -> ()", "unknown"),
        ("f(int x=1+y) -> ()", r"default '1\+y' of .* is no constant"),
        ("f() -> Tensr", "type 'Tensr'"),
    ],
)
def test_refusals(text, words):
    with pytest.raises(SchemaError, match=words):
        parse_schema(text)


WORDS = st.text("ab(c)[],=* !?->.:\"' Tensorit0", max_size=40)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.one_of(WORDS, WORDS.map(lambda w: f"f({w}) -> Tensor"), WORDS.map(lambda w: f"f() -> {w}")))
def test_any_text_is_a_schema_or_a_schema_error(text):
    try:
        made = parse_schema(text)
    except SchemaError:
        return
    assert made.name.isidentifier() or made.name.isalnum()


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
TYPES = st.sampled_from(["Tensor", "Tensor(a!)", "int[2]", "Scalar?", "Tensor?[]", "str", "bool"])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(NAMES, st.lists(st.tuples(TYPES, NAMES), max_size=5), st.lists(TYPES, max_size=3))
def test_what_is_written_is_read(name, arguments, returns):
    text = f"{name}({', '.join(map(' '.join, arguments))}) -> ({', '.join(returns)})"
    made = parse_schema(text)
    assert made.name == name
    assert [(a.declared, a.name) for a in made.arguments] == arguments
    assert [r.declared for r in made.returns] == returns


def test_commas_within_brackets_and_quotes():
    assert split_commas("a, b[1, 2], 'c,d', (e, f)") == ["a", "b[1, 2]", "'c,d'", "(e, f)"]
    assert split_commas("") == [] and _schema.REQUIRED is _schema.REQUIRED
