"""What the inputs and outputs of an exported graph are: parameters, buffers, arguments, results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, TypeVar

__all__ = [
    "ConstantArgument", "CustomObjArgument", "ExportBackwardSignature", "ExportGraphSignature",
    "InputKind", "InputSpec", "OutputKind", "OutputSpec", "SymBoolArgument", "SymFloatArgument",
    "SymIntArgument", "TensorArgument", "TokenArgument",
]  # fmt: skip

_Spec = TypeVar("_Spec", "InputSpec", "OutputSpec")


@dataclass(frozen=True)
class TensorArgument:
    """A tensor, by the name of its node.

    >>> TensorArgument("x")
    TensorArgument(name='x')
    """

    name: str


@dataclass(frozen=True)
class SymIntArgument:
    """An integer that differs from call to call, by the name of its node.

    >>> SymIntArgument("length").name
    'length'
    """

    name: str


@dataclass(frozen=True)
class SymFloatArgument:
    """A float that differs from call to call, by the name of its node.

    >>> SymFloatArgument("rate").name
    'rate'
    """

    name: str


@dataclass(frozen=True)
class SymBoolArgument:
    """A truth value that differs from call to call, by the name of its node.

    >>> SymBoolArgument("training").name
    'training'
    """

    name: str


@dataclass(frozen=True)
class TokenArgument:
    """A value that only orders operators with effects, by the name of its node.

    >>> str(InputSpec(InputKind.TOKEN, TokenArgument("token"), None))
    'token: TOKEN'
    """

    name: str


@dataclass(frozen=True)
class CustomObjArgument:
    """An object of a registered class, by the name of its node. `class_fqn` is the name of the
    class, `fake_val` what stands for the object in a trace.

    >>> CustomObjArgument("queue", "mine.Queue").class_fqn
    'mine.Queue'
    """

    name: str
    class_fqn: str
    fake_val: Any = None


@dataclass(frozen=True)
class ConstantArgument:
    """A value of Python that is the same in every call.

    >>> ConstantArgument("alpha", 2).value
    2
    """

    name: str
    value: int | float | bool | str | None


ArgumentSpec = (
    TensorArgument
    | SymIntArgument
    | SymFloatArgument
    | SymBoolArgument
    | ConstantArgument
    | CustomObjArgument
    | TokenArgument
)


class InputKind(Enum):
    """What an input of the graph is. `export` makes the first four; the others are there for graphs
    that programs build themselves.

    >>> from taeda.export import export
    >>> signature = export(taeda.nn.Linear(3, 2), (taeda.ones(4, 3),)).graph_signature
    >>> [spec.kind.name for spec in signature.input_specs]
    ['PARAMETER', 'PARAMETER', 'USER_INPUT']
    """

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()
    CUSTOM_OBJ = auto()
    TOKEN = auto()


class OutputKind(Enum):
    """What an output of the graph is: a result of the call, the new value of a tensor that the call
    writes, or, in a graph of a training step, the loss and the gradients.

    >>> from taeda.export import export
    >>> signature = export(taeda.nn.Linear(3, 2), (taeda.ones(4, 3),)).graph_signature
    >>> [spec.kind.name for spec in signature.output_specs]
    ['USER_OUTPUT']
    """

    USER_OUTPUT = auto()
    LOSS_OUTPUT = auto()
    BUFFER_MUTATION = auto()
    PARAMETER_MUTATION = auto()
    GRADIENT_TO_PARAMETER = auto()
    GRADIENT_TO_USER_INPUT = auto()
    USER_INPUT_MUTATION = auto()
    TOKEN = auto()


def _check_argument(where: str, arg: Any) -> None:
    if not isinstance(arg, ArgumentSpec):
        kinds = ", ".join(kind.__name__ for kind in ArgumentSpec.__args__)
        raise AssertionError(f"{where}: arg is one of {kinds}, got {type(arg).__name__}")


@dataclass(frozen=True)
class InputSpec:
    """An input: its node, what it is, and the name of the tensor that it stands for.
    `persistent` says of a buffer whether it is in the state of the module. AssertionError for an
    `arg` that is no argument, and a buffer without `persistent`.

    >>> print(InputSpec(InputKind.PARAMETER, TensorArgument("p_weight"), "fc.weight"))
    p_weight: PARAMETER target='fc.weight'
    """

    kind: InputKind
    arg: ArgumentSpec
    target: str | None
    persistent: bool | None = None

    def __post_init__(self) -> None:
        _check_argument("InputSpec", self.arg)
        if self.kind is InputKind.BUFFER and self.persistent is None:
            raise AssertionError(
                f"InputSpec of the buffer {self.target}: persistent is True or False, got None"
            )

    def __str__(self) -> str:
        target = "" if self.target is None else f" target={self.target!r}"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclass(frozen=True)
class OutputSpec:
    """An output: its node, what it is, and what it is the new value or the gradient of.
    AssertionError for an `arg` that is no argument.

    >>> print(OutputSpec(OutputKind.USER_OUTPUT, TensorArgument("linear")))
    linear: USER_OUTPUT
    """

    kind: OutputKind
    arg: ArgumentSpec
    target: str | None = None

    def __post_init__(self) -> None:
        _check_argument("OutputSpec", self.arg)

    def __str__(self) -> str:
        target = "" if self.target is None else f" target={self.target!r}"
        return f"{self.arg.name}: {self.kind.name}{target}"


@dataclass(frozen=True)
class ExportBackwardSignature:
    """Of a graph that computes gradients as well: the outputs that are gradients, with the names of
    the parameters and of the arguments that they belong to, and the output that is the loss.

    Args:
        gradients_to_parameters: names of gradients, and the parameters that they are of
        gradients_to_user_inputs: names of gradients, and the arguments that they are of
        loss_output: the name of the loss

    >>> made = ExportGraphSignature([], [
    ...     OutputSpec(OutputKind.LOSS_OUTPUT, TensorArgument("loss")),
    ...     OutputSpec(OutputKind.GRADIENT_TO_PARAMETER, TensorArgument("grad"), "fc.weight"),
    ... ])
    >>> made.backward_signature.gradients_to_parameters
    {'grad': 'fc.weight'}
    """

    gradients_to_parameters: dict[str, str]
    gradients_to_user_inputs: dict[str, str]
    loss_output: str


@dataclass
class ExportGraphSignature:
    """The inputs of a graph in order (parameters, buffers, constants, arguments), and its outputs:
    new values of tensors that the call writes, then the results.

    Args:
        input_specs: what each input of the graph is, in order (default: <factory>)
        output_specs: what each output of the graph is, in order (default: <factory>)

    >>> made = ExportGraphSignature(
    ...     [InputSpec(InputKind.USER_INPUT, TensorArgument("x"), None)],
    ...     [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument("y"))],
    ... )
    >>> made.replace_all_uses("y", "z")
    >>> made.user_outputs
    ('z',)
    """

    input_specs: list[InputSpec] = field(default_factory=list)
    output_specs: list[OutputSpec] = field(default_factory=list)

    def _of(self, kind: InputKind) -> dict[str, str]:
        return {s.arg.name: str(s.target) for s in self.input_specs if s.kind is kind}

    def _written(self, kind: OutputKind) -> dict[str, str]:
        return {s.arg.name: str(s.target) for s in self.output_specs if s.kind is kind}

    def replace_all_uses(self, old: str, new: str) -> None:
        """Use `new` wherever the node `old` stands, among inputs and outputs. AssertionError for
        names that are no texts.
        """
        for name in (old, new):
            if not isinstance(name, str):
                raise AssertionError(
                    f"replace_all_uses: names of nodes are texts, got {type(name).__name__}"
                )
        self.input_specs[:] = [_renamed(spec, old, new) for spec in self.input_specs]
        self.output_specs[:] = [_renamed(spec, old, new) for spec in self.output_specs]

    def get_replace_hook(self, replace_inputs: bool = False) -> Callable[[Any, str, Any], None]:
        """A function (old node, new name, user) that keeps this signature right while a graph is
        rewritten: it renames what the output reads, and inputs as well if `replace_inputs`.
        """

        def hook(old: Any, new: str, user: Any) -> None:
            if user.op == "output" or (replace_inputs and old.op == "placeholder"):
                self.replace_all_uses(old.name, new)

        return hook

    @property
    def buffers_to_mutate(self) -> dict[str, str]:
        """Names of buffers by the nodes of their new values."""
        return self._written(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> dict[str, str]:
        """Names of parameters by the nodes of their new values."""
        return self._written(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> dict[str, str]:
        """Names of the nodes of arguments by the nodes of their new values."""
        return self._written(OutputKind.USER_INPUT_MUTATION)

    @property
    def inputs_to_lifted_custom_objs(self) -> dict[str, str]:
        """Names of objects by the nodes that stand for them."""
        return self._of(InputKind.CUSTOM_OBJ)

    @property
    def lifted_custom_objs(self) -> tuple[str, ...]:
        """The names of the objects."""
        return tuple(self.inputs_to_lifted_custom_objs.values())

    @property
    def input_tokens(self) -> tuple[str, ...]:
        """The nodes of tokens among the inputs."""
        return tuple(s.arg.name for s in self.input_specs if s.kind is InputKind.TOKEN)

    @property
    def output_tokens(self) -> tuple[str, ...]:
        """The nodes of tokens among the outputs."""
        return tuple(s.arg.name for s in self.output_specs if s.kind is OutputKind.TOKEN)

    @property
    def assertion_dep_token(self) -> None:
        """None: assertions are nodes of the graph and need no token."""
        return

    @property
    def backward_signature(self) -> ExportBackwardSignature | None:
        """The gradients among the outputs; None for a graph that has none."""
        loss = [s.arg.name for s in self.output_specs if s.kind is OutputKind.LOSS_OUTPUT]
        to_parameters = self._written(OutputKind.GRADIENT_TO_PARAMETER)
        to_inputs = self._written(OutputKind.GRADIENT_TO_USER_INPUT)
        if not loss:
            return None
        return ExportBackwardSignature(to_parameters, to_inputs, loss[0])

    @property
    def inputs_to_parameters(self) -> dict[str, str]:
        """Names of parameters by the nodes that stand for them."""
        return self._of(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> dict[str, str]:
        """Names of buffers by the nodes that stand for them."""
        return self._of(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> dict[str, str]:
        """Names of constants by the nodes that stand for them."""
        return self._of(InputKind.CONSTANT_TENSOR)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(self.inputs_to_parameters.values())

    @property
    def buffers(self) -> tuple[str, ...]:
        """The names of the buffers."""
        return tuple(self.inputs_to_buffers.values())

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """The names of the constants."""
        return tuple(self.inputs_to_lifted_tensor_constants.values())

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """The names of buffers that are not in the state of the module."""
        return tuple(
            str(s.target)
            for s in self.input_specs
            if s.kind is InputKind.BUFFER and not s.persistent
        )

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """The nodes of arguments; the value of one that is no tensor."""
        return tuple(_shown(s.arg) for s in self.input_specs if s.kind is InputKind.USER_INPUT)

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """The nodes of results; the value of one that is no tensor."""
        kinds = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)
        return tuple(_shown(s.arg) for s in self.output_specs if s.kind in kinds)

    def __str__(self) -> str:
        inputs = "\n".join(map(str, self.input_specs))
        outputs = "\n".join(map(str, self.output_specs))
        return f"# inputs\n{inputs}\n\n# outputs\n{outputs}\n"


def _shown(arg: ArgumentSpec) -> Any:
    return arg.value if isinstance(arg, ConstantArgument) else arg.name


def _renamed(spec: _Spec, old: str, new: str) -> _Spec:
    """The spec with another node. A constant has no node: its name is only a label."""
    arg = spec.arg
    if isinstance(arg, ConstantArgument) or arg.name != old:
        return spec
    return replace(spec, arg=replace(arg, name=new))
