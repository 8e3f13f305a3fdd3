"""The signature: names of state, values of constants, its text."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from taeda.export.graph_signature import (
    ConstantArgument,
    CustomObjArgument,
    ExportBackwardSignature,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
    TokenArgument,
)

SIGNATURE = ExportGraphSignature(
    [
        InputSpec(InputKind.PARAMETER, TensorArgument("p_w"), "a.w"),
        InputSpec(InputKind.BUFFER, TensorArgument("b_m"), "a.m", True),
        InputSpec(InputKind.BUFFER, TensorArgument("b_t"), "a.t", False),
        InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument("c_0"), "lifted_0"),
        InputSpec(InputKind.USER_INPUT, TensorArgument("x"), None),
        InputSpec(InputKind.USER_INPUT, ConstantArgument("k", 3), None),
    ],
    [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument("add"))],
)


def test_names_by_kind():
    assert SIGNATURE.parameters == ("a.w",) and SIGNATURE.buffers == ("a.m", "a.t")
    assert SIGNATURE.non_persistent_buffers == ("a.t",)
    assert SIGNATURE.lifted_tensor_constants == ("lifted_0",)
    assert SIGNATURE.inputs_to_parameters == {"p_w": "a.w"}
    assert SIGNATURE.inputs_to_buffers == {"b_m": "a.m", "b_t": "a.t"}
    assert SIGNATURE.user_inputs == ("x", 3) and SIGNATURE.user_outputs == ("add",)


def test_text():
    lines = str(SIGNATURE).splitlines()
    assert "b_t: BUFFER target='a.t' persistent=False" in lines and "add: USER_OUTPUT" in lines


def test_names_are_replaced_in_inputs_and_outputs_but_not_in_constants():
    made = ExportGraphSignature(
        [
            InputSpec(InputKind.USER_INPUT, TensorArgument("x"), None),
            InputSpec(InputKind.USER_INPUT, SymIntArgument("n"), None),
            InputSpec(InputKind.USER_INPUT, ConstantArgument("x", 3), None),
            InputSpec(InputKind.CUSTOM_OBJ, CustomObjArgument("o", "a.B"), "held"),
            InputSpec(InputKind.TOKEN, TokenArgument("t"), None),
        ],
        [
            OutputSpec(OutputKind.BUFFER_MUTATION, TensorArgument("x"), "mean"),
            OutputSpec(OutputKind.USER_INPUT_MUTATION, TensorArgument("y"), "x"),
            OutputSpec(OutputKind.USER_OUTPUT, TensorArgument("z")),
            OutputSpec(OutputKind.TOKEN, TokenArgument("t2")),
        ],
    )
    made.replace_all_uses("x", "w")
    made.replace_all_uses("o", "p")
    assert made.user_inputs == ("w", "n", 3) and made.user_outputs == ("z",)
    assert made.buffers_to_mutate == {"w": "mean"} and made.user_inputs_to_mutate == {"y": "x"}
    assert made.inputs_to_lifted_custom_objs == {"p": "held"}
    assert made.input_tokens == ("t",) and made.output_tokens == ("t2",)
    assert made.backward_signature is None and made.parameters_to_mutate == {}
    with pytest.raises(AssertionError, match="got int"):
        made.replace_all_uses("x", 3)


def test_the_hook_renames_what_the_output_reads():
    made = ExportGraphSignature([], [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument("a"))])
    old, output = SimpleNamespace(name="a", op="call_function"), SimpleNamespace(op="output")
    made.get_replace_hook()(old, "b", SimpleNamespace(op="call_function"))
    assert made.user_outputs == ("a",)
    made.get_replace_hook()(old, "b", output)
    assert made.user_outputs == ("b",)


def test_gradients_among_the_outputs():
    made = ExportGraphSignature(
        [],
        [
            OutputSpec(OutputKind.LOSS_OUTPUT, TensorArgument("loss")),
            OutputSpec(OutputKind.GRADIENT_TO_PARAMETER, TensorArgument("g"), "w"),
            OutputSpec(OutputKind.GRADIENT_TO_USER_INPUT, TensorArgument("h"), "x"),
        ],
    )
    assert made.backward_signature == ExportBackwardSignature({"g": "w"}, {"h": "x"}, "loss")


def test_specs_check_what_they_hold():
    with pytest.raises(AssertionError, match=r"arg is one of TensorArgument, .* got str"):
        InputSpec(InputKind.USER_INPUT, "x", None)
    with pytest.raises(AssertionError, match="got str"):
        OutputSpec(OutputKind.USER_OUTPUT, "x")
    with pytest.raises(AssertionError, match="persistent is True or False"):
        InputSpec(InputKind.BUFFER, TensorArgument("b"), "mean")
