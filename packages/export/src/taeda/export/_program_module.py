"""The module of an exported program, and the way of one call of it.

arguments ─▶ leaves ─▶ of a kind that is known ──────────▶ graph ─▶ results
                    └▶ of a new one: all checks ─▶ known ──┘
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

from taeda import Tensor, nn, no_grad
from taeda._core_api import programs as _core
from taeda._core_api.trees import TreeSpec, tree_unflatten

from ._checks import Checks, read_arguments
from .exported_program import ExportedProgram
from .graph_signature import InputKind, InputSpec, OutputKind

__all__ = ["ProgramModule", "results_of", "tensor_of"]

KINDS = 8  # kinds of inputs that are known at once


class ProgramModule(nn.Module):
    """What `ExportedProgram.module` gives. The graph does not depend on the mode of training."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__()
        object.__setattr__(self, "_program", program)
        object.__setattr__(self, "_way", None)
        for spec in program.graph_signature.input_specs:
            if spec.kind is not InputKind.USER_INPUT:
                self._enter(program, spec)

    def _enter(self, program: ExportedProgram, spec: InputSpec) -> None:
        *path, name = str(spec.target).split(".")
        owner: nn.Module = self
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, nn.Module())
            owner = owner.get_submodule(part)
        kept = spec.kind is InputKind.PARAMETER or spec.persistent
        value = (program.state_dict if kept else program.constants)[str(spec.target)]
        if spec.kind is InputKind.PARAMETER:
            owner.register_parameter(name, value)  # type: ignore[arg-type]
        else:
            owner.register_buffer(name, value, persistent=bool(spec.persistent))

    def train(self, mode: bool = True) -> Any:
        """NotImplementedError: whether the program trains was decided when it was exported."""
        raise NotImplementedError(
            "train(): whether a program trains is decided when it is exported"
        )

    def eval(self) -> Any:
        """NotImplementedError, as for `train`."""
        raise NotImplementedError("eval(): whether a program trains is decided when it is exported")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The program's results for these arguments."""
        way: _Way | None = self._way
        if way is None or not way.is_of(self):
            way = _Way(self, self._program)
            object.__setattr__(self, "_way", way)
        flat = way.inputs(self, args, kwargs)
        return way.results(self, flat, self._program.graph_module(*flat))

    def __getstate__(self) -> dict[str, Any]:
        # what calls remember is of this module and this process
        return {**super().__getstate__(), "_way": None}


class _Kinds:
    """The kinds of inputs (sizes, dtypes, devices) that passed the checks, the last used first.
    Core compares them, as it does for compiled programs.
    """

    def __init__(self) -> None:
        self.known: tuple[Any, ...] = ()

    def has(self, inputs: tuple[Any, ...]) -> bool:
        """Whether inputs of this kind passed."""
        for place, kind in enumerate(self.known):
            if kind.run(inputs) is not NotImplemented:
                if place:
                    self.known = (kind, *(k for k in self.known if k is not kind))
                return True
        return False

    def add(self, inputs: tuple[Any, ...]) -> None:
        """These passed. Tensors in parts (sparse, nested, named ones) are checked each time."""
        examples = tuple(t.detach() for t in inputs)
        if _core.call_key(examples) is not None:
            kind = _core.Program((), len(examples), examples, (), 0, 0)
            self.known = (kind, *self.known[: KINDS - 1])


class _Way:
    """What calls of a program need of it and of its module, taken from them once."""

    def __init__(self, module: ProgramModule, program: ExportedProgram) -> None:
        self.checks, self.states, self.kinds = Checks(program), _Kinds(), _Kinds()
        self.spec, self.out_spec = program._in_spec, program._out_spec
        self.count = _count_of_plain(self.spec)
        specs = program.graph_signature.input_specs
        self.mine = [s.kind is InputKind.USER_INPUT for s in specs]
        self.names = [str(s.target) for s in specs if s.kind is not InputKind.USER_INPUT]
        self.places = [_place_of(module, name) for name in self.names]
        steps = {(id(d), n): (d, n) for name in self.names for d, n in _steps_to(module, name)}
        self.steps = list(steps.values())
        self.children = [d[n] for d, n in self.steps]
        self.ordered = self.mine == sorted(self.mine)  # the arguments come last
        writes = {s.kind for s in program.graph_signature.output_specs}
        self.writes = not writes <= {OutputKind.USER_OUTPUT}
        leaves = self.out_spec.children_specs
        self.single = self.out_spec.is_leaf()
        self.row = self.out_spec.type is tuple and all(c.is_leaf() for c in leaves)

    def is_of(self, module: nn.Module) -> bool:
        """Whether the modules inside are those of which this was taken."""
        return [d[n] for d, n in self.steps if n in d] == self.children

    def inputs(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The inputs of the graph; AssertionError where the program is not right for them."""
        if kwargs or len(args) != self.count:
            leaves: Sequence[Any] = read_arguments(self.spec, args, kwargs)
        else:
            leaves = args
        checks = self.checks
        try:
            state = tuple([d[n] for d, n in self.places])
        except KeyError:  # computed from others by now, as a parametrization does
            state = tuple(tensor_of(module, name) for name in self.names)
        if not self.states.has(state):
            checks.tensors(state)
            self.states.add(state)
        tensors = tuple(leaves)
        if checks.constants:
            checks.values(leaves)
            tensors = tuple(leaves[k] for k in checks.numbers)
        if not self.kinds.has(tensors):
            checks.arguments(leaves)
            self.kinds.add(tensors)
        if self.ordered:
            return (*state, *leaves)
        rests = iter(state), iter(leaves)
        return tuple(next(rests[mine]) for mine in self.mine)

    def results(self, module: nn.Module, flat: tuple[Any, ...], made: tuple[Any, ...]) -> Any:
        """The results of the program, of what its graph gave for these inputs."""
        if self.writes:
            return results_of(module, module._program, flat, list(made))
        if self.single:
            return made[0]
        return tuple(made) if self.row else tree_unflatten(made, self.out_spec)


def _count_of_plain(spec: TreeSpec) -> int:
    """How many arguments there are, if all are leaves by position; else -1."""
    args, kwargs = spec.children_specs
    plain = not kwargs.children_specs and all(c.is_leaf() for c in args.children_specs)
    return args.num_children if plain else -1


def _place_of(module: nn.Module, name: str) -> tuple[dict[str, Any], str]:
    """The table in which a tensor stands, and its name there."""
    path, _, last = name.rpartition(".")
    owner = module.get_submodule(path)
    return (owner._parameters if last in owner._parameters else owner._buffers), last


def _steps_to(module: nn.Module, name: str) -> Iterator[tuple[MutableMapping[str, Any], str]]:
    """The tables and names of the modules on the way to a tensor."""
    for part in name.split(".")[:-1]:
        yield module._modules, part
        module = module.get_submodule(part)


def tensor_of(module: nn.Module, name: str) -> Any:
    """The tensor of this name."""
    *path, last = name.split(".")
    for part in path:
        found = module._modules[part]
        assert found is not None
        module = found
    return getattr(module, last)


def results_of(
    module: nn.Module, program: ExportedProgram, flat: Sequence[Any], made: list[Any]
) -> Any:
    """The results of a run of the graph that got `flat` and gave `made`, as the tree of the program,
    after new values were written into what they are the values of: arguments, tensors of `module`.
    """
    signature = program.graph_signature
    given = {_core.storage_key(t) for t in flat if isinstance(t, Tensor)}
    made = [
        # an input as it was before any of them is written
        v.clone() if s.kind is not OutputKind.USER_OUTPUT and _core.storage_key(v) in given else v
        for s, v in zip(signature.output_specs, made, strict=True)
    ]
    arguments = {s.arg.name: t for s, t in zip(signature.input_specs, flat, strict=True)}
    results = []
    for spec, value in zip(signature.output_specs, made, strict=True):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        elif spec.kind is OutputKind.PARAMETER_MUTATION:
            with no_grad():  # a leaf that wants gradients is written so only
                tensor_of(module, str(spec.target)).copy_(value)
        elif spec.kind is OutputKind.USER_INPUT_MUTATION:
            arguments[str(spec.target)].copy_(value)
        else:
            tensor_of(module, str(spec.target)).copy_(value)
    return tree_unflatten(results, program._out_spec)
