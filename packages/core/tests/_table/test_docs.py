"""What help says of every operation is true: its signature takes the calls that work, and its
example runs.
"""

import ast
import doctest
import inspect
import subprocess
import sys

import pytest
import samples as table

import taeda
from taeda._native import core
from taeda._table import _docs
from taeda._table._row import op

FUNCTIONS = {
    f"{space}.{name}".strip("."): function
    for space, functions in core.functions.items()
    for name, function in functions.items()
}
METHODS = {
    name: value
    for name, value in vars(taeda.Tensor).items()
    if inspect.isroutine(value) and callable(value)  # names that are absent only say so
    and not name.startswith("_") and not hasattr(value, "__code__")
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_has_a_signature_and_says_what_it_does(name):
    function = FUNCTIONS[name]
    signature = inspect.signature(function)
    assert "self" not in signature.parameters
    first, _, rest = function.__doc__.partition("\n\n")
    assert first.startswith(f"{function.__name__}(")
    assert rest.strip()


def test_every_method_has_a_signature_that_begins_with_self():
    for name, method in METHODS.items():
        if isinstance(method, staticmethod):
            continue
        assert next(iter(inspect.signature(method).parameters)) == "self", name


def test_the_top_is_known_to_inspect():
    unknown = []
    for name in dir(taeda):
        value = vars(taeda).get(name)
        if inspect.isbuiltin(value) or value in (taeda.Generator, taeda.device, taeda.Tensor):
            try:
                inspect.signature(value)
            except ValueError:
                unknown.append(name)
    assert unknown == []


@pytest.mark.parametrize("name", sorted(table.ROWS))
def test_signatures_take_the_calls_that_work(name):
    row = table.ROWS[name]
    if not row.variants & {"function", "method"}:
        pytest.skip("reached through taeda.ops alone, whose schema says how")
    function = table.function(row)
    signature = inspect.signature(function)
    for sample in table.samples(row):
        words = {f"{k}_" if k in ("from", "lambda") else k: v for k, v in sample.kwargs.items()}
        words = {"input" if k == "self" else k: v for k, v in words.items()}
        signature.bind(*sample.args, **words)


@pytest.mark.parametrize("name", sorted(f"{space}.{name}".strip(".") for space, name in _docs._examples()))
def test_examples_run(name):
    test = doctest.DocTestParser().get_doctest(FUNCTIONS[name].__doc__, {"taeda": taeda}, name, None, 0)
    assert test.examples
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.failed == 0


CASES = [
    (["f(Tensor self, *, Scalar alpha=1) -> Tensor"], "(input, *, alpha=1)"),
    (["f(int[] size, *, ScalarType? dtype=None) -> Tensor"], "(*size, dtype=None)"),
    (["f(Tensor self) -> Tensor", "f.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"],
        "(input, dim=None, keepdim=False)"),
    (["f(Tensor self, Tensor other) -> Tensor", "f.dim(Tensor self, int dim) -> Tensor"],
        "(input, *args, **kwargs)"),
    (["f(Tensor self, float p=inf, int[2] s=1) -> Tensor"], "(input, p=1e999, s=1)"),
]  # fmt: skip


@pytest.mark.parametrize(("schemas", "wanted"), CASES)
def test_overloads_become_one_signature(schemas, wanted):
    from taeda._table._row import TABLE

    before = len(TABLE)
    for schema in schemas:
        op(schema, doc="What it does.", composite=True, variants="function")
    rows = TABLE[before:]
    del TABLE[before:]
    text = _docs.text("f", rows, method=False, inplace=False)
    assert text.partition("\n")[0] == f"f{wanted}"
    ast.parse(f"def f{wanted}: ...")
    assert text.count(") -> Tensor\n") == len(schemas)


def test_documentation_costs_nothing_at_import():
    code = (
        "import sys, taeda; assert 'taeda._table._docs' not in sys.modules and 'inspect' not in "
        "sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_layers_show_no_sentence_of_the_base_class():
    nn = pytest.importorskip("taeda.nn", reason="taeda-nn brings the layers")
    assert inspect.getdoc(nn.ReLU.__init__) != inspect.getdoc(nn.Linear)
    assert not nn.Module.__init__.__doc__
