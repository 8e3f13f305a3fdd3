"""Functions that want tensors say so by a TypeError, whatever else comes."""

import contextlib
import inspect

import pytest

import taeda

#: those whose Tensor arguments the C of the core does not look at first
PLACES = {
    "taeda": taeda,
    "sparse": taeda.sparse,
    "nested": taeda.nested,
    "masked": taeda.masked,
    "quantized.functional": taeda.ao.nn.quantized.functional,
}
DOCUMENTED = (TypeError, ValueError, RuntimeError, IndexError)


def wants_tensors():
    for place, module in PLACES.items():
        for name in getattr(module, "__all__", None) or dir(module):
            function = getattr(module, name)
            if name.startswith("__") or isinstance(function, type) or not callable(function):
                continue
            try:
                parameters = inspect.signature(function).parameters.values()
            except (TypeError, ValueError):  # written in C
                continue
            asked = [p for p in parameters if p.kind < p.VAR_POSITIONAL and p.default is p.empty]
            for at, parameter in enumerate(asked):
                if "Tensor" in str(parameter.annotation):
                    yield pytest.param(function, asked, at, id=f"{place}.{name}({parameter.name})")


@pytest.mark.parametrize(("function", "asked", "at"), list(wants_tensors()))
def test_what_is_no_tensor_is_refused_in_words(function, asked, at):
    for wrong in (None, "x", 3.5, object()):
        given = [taeda.rand(3, 3) if "Tensor" in str(p.annotation) else 1 for p in asked]
        given[at] = wrong
        with contextlib.suppress(*DOCUMENTED):  # any other type fails the test
            function(*given)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: taeda.conv_tbc(x, x, None),
        lambda x: taeda.embedding_bag(x, x, None),
        lambda x: taeda.sparse.mm(x.to_sparse(), None),
        lambda x: taeda.nested.to_padded_tensor(None, 0.0),
        lambda x: taeda.ao.nn.quantized.functional.celu(None, 1.0, 0),
    ],
)
def test_the_sentence_names_the_argument(call):
    with pytest.raises(TypeError, match=r"\(\): argument '\w+' must be Tensor, not NoneType"):
        call(taeda.rand(3, 3))


def test_a_search_for_eigenpairs_is_one_of_real_matrices():
    with pytest.raises(RuntimeError, match=r"complex128; use taeda\.linalg\.eigh"):
        taeda.lobpcg(taeda.eye(12, dtype=taeda.complex128), k=2)
