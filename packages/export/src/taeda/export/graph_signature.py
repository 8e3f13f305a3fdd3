"""What the inputs and outputs of an exported graph are: parameters, buffers, arguments, results."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

__all__ = [
    "ConstantArgument", "ExportGraphSignature", "InputKind", "InputSpec", "OutputKind",
    "OutputSpec", "TensorArgument",
]  # fmt: skip


@dataclass(frozen=True)
class TensorArgument:
    """A tensor, by the name of its node."""

    name: str


@dataclass(frozen=True)
class ConstantArgument:
    """A value of Python that is the same in every call."""

    name: str
    value: int | float | bool | str | None


class InputKind(Enum):
    """What an input of the graph is."""

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()


class OutputKind(Enum):
    """What an output of the graph is."""

    USER_OUTPUT = auto()


@dataclass(frozen=True)
class InputSpec:
    """An input: its node, what it is, and the name of the tensor that it stands for.
    `persistent` says of a buffer whether it is in the state of the module.
    """

    kind: InputKind
    arg: TensorArgument | ConstantArgument
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target={self.target!r}"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclass(frozen=True)
class OutputSpec:
    """An output: its node, and what it is."""

    kind: OutputKind
    arg: TensorArgument | ConstantArgument
    target: str | None = None

    def __str__(self) -> str:
        return f"{self.arg.name}: {self.kind.name}"


@dataclass
class ExportGraphSignature:
    """The inputs of a graph in order (parameters, buffers, constants, arguments), and its outputs."""

    input_specs: list[InputSpec] = field(default_factory=list)
    output_specs: list[OutputSpec] = field(default_factory=list)

    def _of(self, kind: InputKind) -> dict[str, str]:
        return {s.arg.name: str(s.target) for s in self.input_specs if s.kind is kind}

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
        return tuple(_shown(s.arg) for s in self.output_specs)

    def __str__(self) -> str:
        inputs = "\n".join(map(str, self.input_specs))
        outputs = "\n".join(map(str, self.output_specs))
        return f"# inputs\n{inputs}\n\n# outputs\n{outputs}\n"


def _shown(arg: TensorArgument | ConstantArgument) -> Any:
    return arg.name if isinstance(arg, TensorArgument) else arg.value
