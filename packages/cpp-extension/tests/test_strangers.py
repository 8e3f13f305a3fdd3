"""Kernels in C that give what their schema does not promise: for every form of result, a call gives
what fits, and refuses the rest by the operator's name. Nothing crashes.
"""

from __future__ import annotations

import itertools
import re

import pytest
from outcomes import DOCUMENTED

import taeda
from taeda.utils.cpp_extension import load

#: what a kernel does for one result, by its number in C
WAYS = (
    "new", "nothing", "on meta", "wordless failure", "failure behind a result", "unknown code",
    "words without a failure", "view of the input", "other dtype and shape", "endless words",
    "words that are no text", "negative code", "the input twice",
)  # fmt: skip
# form of an operator: its tensor arguments, its results
FORMS = {
    "one": ("Tensor x", ("Tensor",)),
    "maybe": ("Tensor x", ("Tensor?",)),
    "two": ("Tensor x", ("Tensor", "Tensor")),
    "one_maybe": ("Tensor x", ("Tensor", "Tensor?")),
    "view": ("Tensor(a) x", ("Tensor(a)",)),
    "written": ("Tensor(a!) x", ("Tensor(a!)",)),
    "written_and_new": ("Tensor(a!) x", ("Tensor(a!)", "Tensor")),
    "none": ("Tensor x", ()),
    "optional": ("Tensor x, Tensor? y", ("Tensor",)),
}
SOURCE = """
#include <string.h>
#include <taeda/abi.h>
static const taeda_api *api;
static int32_t fresh(const taeda_call *call, taeda_tensor **out, int32_t dtype, int32_t ndim, int on_cpu)
{
    taeda_facts facts = {.size = sizeof facts};
    int32_t code = api->empty(dtype, ndim, (int64_t[2]){3, 2}, on_cpu, out, call->error);
    if (code || !on_cpu) return code;
    api->facts(*out, &facts);
    memset(facts.data, 0, (size_t)(facts.numel * facts.itemsize));
    return 0;
}
static int32_t fill(const taeda_call *call, taeda_tensor **out, int64_t way)
{
    int on_cpu = call->device == TAEDA_CPU;
    switch (way) {
    case 0: return fresh(call, out, TAEDA_FLOAT32, 1, on_cpu);
    case 1: return 0;
    case 2: return fresh(call, out, TAEDA_FLOAT32, 1, 0);
    case 3: return TAEDA_RUNTIME_ERROR;
    case 4:
        fresh(call, out, TAEDA_FLOAT32, 1, on_cpu);
        return api->fail(call->error, TAEDA_VALUE_ERROR, "on purpose");
    case 5: return 12345;
    case 6:
        api->fail(call->error, TAEDA_TYPE_ERROR, "not meant");
        return fresh(call, out, TAEDA_FLOAT32, 1, on_cpu);
    case 7: return api->view(call->inputs[0], 1, (int64_t[1]){1}, (int64_t[1]){1}, 0, out, call->error);
    case 8: return fresh(call, out, TAEDA_INT64, 2, on_cpu);
    case 9: memset(call->error->message, 'x', sizeof call->error->message); return TAEDA_RUNTIME_ERROR;
    case 10: strcpy(call->error->message, "\\xff\\xfe\\x80"); return TAEDA_INDEX_ERROR;
    case 11: return -1;
    default: return api->contiguous(call->inputs[0], out, call->error);
    }
}
static int32_t anything(const taeda_call *call)
{
    const taeda_value *how = &call->args[call->arg_count - 1];
    taeda_tensor *spare[1] = {0};
    int32_t code = 0;
    if (!call->output_count && how->count) {
        code = fill(call, spare, how->as.integers[0]);
        api->release(spare[0]);
    }
    for (int32_t k = 0; k < call->output_count && !code; k++)
        code = fill(call, &call->outputs[k], how->as.integers[k]);
    return code;
}
static int32_t several(const taeda_call *call)
{
    const taeda_value *how = &call->args[call->arg_count - 1];
    const taeda_value *count = &call->args[call->arg_count - 2];
    taeda_tensor **out = NULL, **again = NULL;
    int64_t n = count->as.integer;
    if (n == -1) return 0; /* no room is asked for */
    int32_t code = api->list_outputs(call, n == -2 ? INT64_MAX : n == -3 ? -5 : n == -4 ? 2 : n, &out);
    if (n == -4 && !code) code = api->list_outputs(call, 2, &again);
    for (int64_t k = 0; k < how->count && k < n && !code; k++)
        code = fill(call, &out[k], how->as.integers[k]);
    return code;
}
static int32_t define(const char *schema, taeda_kernel kernel)
{
    taeda_error error = {0};
    taeda_op_def def = {.size = sizeof def, .schema = schema, .cpu = kernel, .meta = kernel, .doc = ""};
    return api->define_op(&def, &error);
}
uint32_t taeda_ext_abi(void) { return TAEDA_ABI; }
int32_t taeda_ext_init(const taeda_api *given)
{
    api = given;
    int32_t code = define("c_strangers::list(Tensor x, int count, int[] how) -> Tensor[]", several);
    if (!code) code = define("c_strangers::left_out(Tensor(a!)? x, int[] how) -> Tensor(a!)", anything);
    if (!code) code = define("c_strangers::list_maybe(Tensor x, int count, int[] how) -> Tensor?[]", several);
DEFINITIONS
    return code;
}
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    schemas = [
        f"c_strangers::{name}({given}, int[] how) -> ({', '.join(made)})"
        for name, (given, made) in FORMS.items()
    ]
    definitions = "\n".join(f'    if (!code) code = define("{s}", anything);' for s in schemas)
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("built")
        patch.setenv("TAEDA_EXTENSIONS_DIR", str(folder))
        (folder / "c_strangers.c").write_text(SOURCE.replace("DEFINITIONS", definitions))
        load("c_strangers", str(folder / "c_strangers.c"))
    return taeda.ops.c_strangers


def refused(call, name):
    """What was refused, by the operator's name; None if there is a result."""
    try:
        call()
    except DOCUMENTED as error:
        said = str(error)
        assert said.startswith(f"c_strangers::{name}: ") and len(said) < 600
        assert len(said) > len(f"c_strangers::{name}: "), "a sentence"
        return type(error)
    return None


#: what a call ends with whatever the form of its results, if one of them goes this way
FAILURES = {
    "wordless failure": RuntimeError, "failure behind a result": ValueError, "unknown code": RuntimeError,
    "endless words": RuntimeError, "words that are no text": IndexError, "negative code": RuntimeError,
}  # fmt: skip


def ending(form, ways, device):
    """The exception that a call ends with; None if it gives results."""
    for way in ways:  # a failure ends the kernel
        if way in FAILURES:
            return FAILURES[way]
    for result, way in zip(FORMS[form][1], ways, strict=False):
        own = way in ("view of the input", "the input twice")
        if result == "Tensor(a!)":
            fits = way == "nothing"
        elif way == "nothing":
            fits = result == "Tensor?"
        else:
            # meta has no memory to share
            fits = result == "Tensor(a)" or not own or device == "meta"
        if not fits:
            return RuntimeError
    return None


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("form", FORMS)
def test_what_fits_is_given_and_the_rest_refused(ops, form, device):
    count = max(len(FORMS[form][1]), 1)
    for ways in itertools.product(WAYS, repeat=count):
        args = (taeda.ones(5, device=device), *((None,) if form == "optional" else ()))
        how = [WAYS.index(way) for way in ways]
        made = refused(lambda args=args, how=how: getattr(ops, form)(*args, how), form)
        assert made is ending(form, ways, device), (form, ways, device)


@pytest.mark.parametrize("form", ["list", "list_maybe"])
def test_lists_have_the_room_that_was_asked_for(ops, form):
    def call(count, *ways):
        given = getattr(ops, form)(taeda.ones(5), count, [WAYS.index(way) for way in ways])
        return [None if t is None else t.tolist() for t in given]

    new = [0.0, 0.0, 0.0]
    assert call(0) == [] and call(2, "new", "new") == [new, new]
    holes = refused(lambda: call(2, "new", "nothing"), form)
    assert holes is (None if form == "list_maybe" else RuntimeError)
    for count in (-1, -2, -3, -4):  # no room, 2^63 - 1, a negative number, room twice
        assert refused(lambda count=count: call(count, "new"), form) is not None, count
    for way in ("view of the input", *FAILURES):
        assert refused(lambda way=way: call(2, "new", way), form) is not None, way


def test_gradients_and_maps_of_what_has_no_derivative(ops):
    x = taeda.ones(5, requires_grad=True)
    made = ops.one(x, [0])
    with pytest.raises(RuntimeError, match=re.escape("c_strangers::one")):
        made.sum().backward()
    assert ops.one(x.detach(), [0]).tolist() == [0, 0, 0]


def test_a_written_argument_that_was_left_out_is_no_result(ops):
    assert ops.left_out(None, [WAYS.index("nothing")]) is None
    x = taeda.ones(2)
    assert ops.left_out(x, [WAYS.index("nothing")]) is x
    for way in ("new", "wordless failure"):
        how = [WAYS.index(way)]
        assert refused(lambda how=how: ops.left_out(None, how), "left_out"), way
