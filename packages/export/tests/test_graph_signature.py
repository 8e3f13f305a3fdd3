"""The signature: names of state, values of constants, its text."""

from __future__ import annotations

from taeda.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
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
