"""`export`: a module and the arguments of one call as an ONNX model."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import taeda.export
from taeda import Tensor, nn
from taeda._core_api import warn
from taeda._core_api.files import atomic_write
from taeda.export import AdditionalInputs, Dim, ExportedProgram, ShapesCollection
from taeda.export._arguments import spread_demands
from taeda.export.graph_signature import OutputKind

from ._modes import OperatorExportTypes, TrainingMode, exporting, select_model_mode_for_export
from ._optimize import optimized
from ._program import ONNXProgram
from ._symbolic import own_rules
from ._translate import translated
from ._writes import needs_new_values
from .errors import OnnxExporterWarning

__all__ = ["DEFAULT_OPSET", "export"]

DEFAULT_OPSET = 20
_OPSETS = range(17, 29)


def export(
    model: nn.Module | ExportedProgram,
    args: Any = (),
    f: str | os.PathLike[str] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    external_data: bool | None = None,
    dynamic_shapes: Any = None,
    custom_translation_table: Mapping[Any, Callable[..., Any]] | None = None,
    report: bool = False,
    optimize: bool = True,
    verify: bool = True,
    profile: bool = False,
    dump_exported_program: bool = False,
    artifacts_dir: str | os.PathLike[str] = ".",
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: Mapping[str, Any] | None = None,
    training: TrainingMode = TrainingMode.EVAL,
    operator_export_type: OperatorExportTypes = OperatorExportTypes.ONNX,
    do_constant_folding: bool = True,
    custom_opsets: Mapping[str, int] | None = None,
    export_modules_as_functions: Any = False,
    autograd_inlining: bool = True,
) -> ONNXProgram | None:
    """The ONNX model of `model(*args, **kwargs)`, written to `f` if that is given.

    `model` is a module, exported in eval mode (`training` says otherwise), or an `ExportedProgram`.
    Sizes are numbers unless `dynamic_shapes` says otherwise, as for `taeda.export.export`;
    `dynamic_axes` has, by input name, the dimensions that differ ({0: "batch"} or [0]).
    `opset_version` is from 17 to 28, and 20 by default. `input_names` and `output_names` name inputs
    and outputs in order. `external_data` puts weights beside the model (from 1.5 GiB on always).
    `export_params=False` leaves the weights out: they are inputs. `optimize` removes what nobody
    reads. `verify` compares the model with the program in onnxruntime, in a process of its own, at
    the sizes of the example and at others. `custom_translation_table` has functions for operators:
    of a context (`context.op("Relu", x)`) and the arguments of the operator. `report` and `profile`
    write onnx_export.md into `artifacts_dir` (with times if `profile`), and
    `dump_exported_program` the program as onnx_export.pt2. `custom_opsets` are versions of the
    domains of such functions. `do_constant_folding` changes nothing: runtimes fold when they load.

    With `dynamo=False` the last argument may be a dict of named arguments, and the result is None,
    as it was for the exporter of that name; the way to the model is the same.

    ValueError and TypeError for arguments that are none; OnnxExporterError for a program with an
    operator that has no rule, and for a model that gives other numbers. A file is the old one or the
    new one: it is written after the model was verified.

    Args:
        model: a module, or an ExportedProgram
        args: the arguments of the example by position (default: ())
        f: the path to write (default: None)
        kwargs: the arguments of the example by name (default: None)
        verbose: whether to print what is done (default: None)
        input_names: names of the inputs, in order (default: None)
        output_names: names of the outputs, in order (default: None)
        opset_version: the opset, from 17 to 28; 20 if None (default: None)
        dynamo: which exporter a caller means; there is one (default: True)
        external_data: whether weights lie in a file beside the model; from 1.5 GiB on if None
            (default: None)
        dynamic_shapes: which sizes vary, as for `taeda.export.export` (default: None)
        custom_translation_table: functions that translate operators, by operator (default: None)
        report: whether to write onnx_export.md (default: False)
        optimize: whether to take out operators that do nothing (default: True)
        verify: whether to compare with the program in onnxruntime (default: True)
        profile: whether to write it with times (default: False)
        dump_exported_program: whether to write the program as onnx_export.pt2 (default: False)
        artifacts_dir: the folder of what these write (default: '.')
        export_params: whether weights are in the model (default: True)
        keep_initializers_as_inputs: whether weights are inputs as well (default: False)
        dynamic_axes: which sizes vary, by the names of inputs (default: None)
        training: the mode in which a module is exported (default: TrainingMode.EVAL)
        operator_export_type: of an earlier interface (default: OperatorExportTypes.ONNX)
        do_constant_folding: of an earlier interface (default: True)
        custom_opsets: versions of domains of the user's operators (default: None)
        export_modules_as_functions: of an earlier interface (default: False)
        autograd_inlining: of an earlier interface (default: True)

    >>> import taeda
    >>> from taeda import nn
    >>> made = export(nn.Linear(3, 2), (taeda.ones(4, 3),), verify=False)
    >>> made.model.nodes[0].kind
    'Gemm'
    """
    opset = _opset(opset_version)
    _refuse(operator_export_type, export_modules_as_functions, autograd_inlining, training)
    args, named = _arguments(args, kwargs, dynamo, f)
    names = list(input_names or [])
    if dynamic_axes is not None:
        if dynamic_shapes is not None:
            raise ValueError("dynamic_shapes and dynamic_axes say the same: give one of them")
        dynamic_shapes, names = _from_axes(model, args, named, dynamic_axes, names), names
    start = time.perf_counter()
    program = _without_writes(_program(model, args, named, dynamic_shapes, training))
    captured = time.perf_counter()
    table = {**own_rules(opset), **dict(custom_translation_table or {})}
    made = translated(
        program, opset, table, names, list(output_names or []), dict(custom_opsets or {})
    )
    if optimize:
        optimized(made)
    result = ONNXProgram(made, program)
    axes = _axis_names(model, args, named, dynamic_shapes, program)
    if axes:
        result.rename_axes(axes)
    translated_at = time.perf_counter()
    compared = result.verify() if verify and _comparable(result, table) else 0
    times = (captured - start, translated_at - captured, time.perf_counter() - translated_at)
    if report or profile or dump_exported_program:
        _artifacts(
            result, Path(artifacts_dir), report, times if profile else None, dump_exported_program
        )
    if f is not None:
        result.save(
            f,
            include_initializers=export_params,
            keep_initializers_as_inputs=keep_initializers_as_inputs,
            external_data=external_data,
        )
    if verbose:
        print(f"{result!r}: compared with onnxruntime in {compared} calls")
    return result if dynamo else None


def _opset(version: int | None) -> int:
    if version is None:
        return DEFAULT_OPSET
    if type(version) is not int or version not in _OPSETS:
        raise ValueError(f"opset_version must be from 17 to 28, got {version!r:.100}")
    return version


def _refuse(kind: Any, functions: Any, inlining: Any, training: Any) -> None:
    if kind != OperatorExportTypes.ONNX:
        raise ValueError(
            f"operator_export_type: models hold operators of ONNX alone, got {kind!r:.100}"
        )
    if functions:
        raise NotImplementedError("export_modules_as_functions: a model is one graph here")
    if not inlining:
        raise NotImplementedError(
            "autograd_inlining=False: functions of autograd are always inlined"
        )
    if training == TrainingMode.TRAINING:
        raise NotImplementedError(
            "training=TRAINING: models are for inference; train here, then export"
        )


def _arguments(
    args: Any, kwargs: Any, dynamo: bool, f: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not dynamo and f is None:
        raise TypeError("export with dynamo=False writes a file: give its path, f")
    if isinstance(args, Tensor):
        args = (args,)
    if not isinstance(args, tuple):
        raise TypeError(f"args must be a tuple, got {type(args).__name__}: write (x,)")
    named = dict(kwargs or {})
    if not dynamo and args and isinstance(args[-1], dict):
        return args[:-1], {**args[-1], **named}
    return args, named


def _program(model: Any, args: Any, named: Any, shapes: Any, training: Any) -> ExportedProgram:
    if isinstance(model, ExportedProgram):
        if shapes is not None:
            raise ValueError("dynamic_shapes of an ExportedProgram are those of its own export")
        return model
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a module or an ExportedProgram, got {type(model).__name__}")
    if training == TrainingMode.EVAL and any(
        part.training for part in model.modules() if _differs(part)
    ):
        warn(
            "onnx.export: the module is in training mode, and is exported in eval mode",
            OnnxExporterWarning,
        )
    with exporting(), select_model_mode_for_export(model, TrainingMode(training)):
        return taeda.export.export(model, args, named, dynamic_shapes=shapes)


def _without_writes(program: ExportedProgram) -> ExportedProgram:
    """The program; one that gives new values as outputs, where it writes what ONNX cannot."""
    if not needs_new_values(program):
        return program
    made = program.run_decompositions({})
    specs = made.graph_signature.output_specs
    names = [str(s.target) for s in specs if s.kind is not OutputKind.USER_OUTPUT]
    if names:
        warn(
            f"onnx.export: the program writes {', '.join(names)}, and no model keeps what it "
            "writes: the new values are its last outputs, for the next call to be given "
            "(keep_initializers_as_inputs=True makes buffers inputs)",
            OnnxExporterWarning,
        )
    return made


def _differs(part: nn.Module) -> bool:
    """Whether the mode says anything of a module: one without parts may compute other numbers."""
    batchnorm: Any = nn.modules.batchnorm  # its base class has no public name
    dropout: Any = nn.modules.dropout
    is_foreign = type(part).__module__.split(".")[0] != "taeda"
    return is_foreign or isinstance(part, batchnorm._NormBase | dropout._DropoutNd)


def _comparable(result: ONNXProgram, table: Mapping[Any, Any]) -> bool:
    """Whether onnxruntime can run the model: it knows no operators of the user's domains."""
    return all(not node.domain for node in result.model.nodes)


# ---- sizes ----


def _parameters(model: Any, args: Any, named: Any) -> dict[str, Any]:
    """Arguments by name."""
    if isinstance(model, ExportedProgram):
        return {}
    signature = inspect.signature(model.forward)
    made: dict[str, Any] = {}
    for name, value in signature.bind(*args, **named).arguments.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            made.update({f"{name}_{k}": v for k, v in enumerate(value)})
        elif kind is inspect.Parameter.VAR_KEYWORD:
            made.update(value)
        else:
            made[name] = value
    return made


def _from_axes(model: Any, args: Any, named: Any, axes: Mapping[str, Any], names: list[str]) -> Any:
    """Demands for `export` from dimensions by input name; those of outputs follow from the program."""
    bound = _parameters(model, args, named)
    tensors = [n for n, v in bound.items() if isinstance(v, Tensor)]
    by_input = dict(zip(names, tensors, strict=False))
    demands: dict[str, Any] = dict.fromkeys(bound)
    for name, dims in axes.items():
        place = by_input.get(name, name)
        if place in demands:
            listed = dims if isinstance(dims, Mapping) else dict.fromkeys(dims)
            demands[place] = {int(d): Dim.AUTO for d in listed}
    return demands


def _axis_names(
    model: Any, args: Any, named: Any, shapes: Any, program: ExportedProgram
) -> dict[str, str]:
    """The names of the user's Dims by the symbols that stand for them."""
    if shapes is None or isinstance(model, ExportedProgram):
        return {}
    bound = _parameters(model, args, named)
    if isinstance(shapes, ShapesCollection | AdditionalInputs):
        shapes = shapes.dynamic_shapes(model, args, named)
    shapes = spread_demands(model, args, named, shapes)
    listed = shapes if isinstance(shapes, Mapping) else dict(zip(bound, shapes, strict=False))
    nodes = {n.name: n for n in program.graph.find_nodes(op="placeholder")}
    inputs = iter(program.graph_signature.user_inputs)
    found: dict[str, str] = {}
    for name, value in bound.items():
        if not isinstance(value, Tensor):
            return found  # what follows a tree of arguments keeps the names of its symbols
        node = nodes[next(inputs)]
        demand = listed.get(name)
        pairs = demand.items() if isinstance(demand, Mapping) else enumerate(demand or ())
        for dim, size in pairs:
            symbol = str(node.meta["shape"][dim])
            if isinstance(size, Dim) and node.meta["shape"][dim].symbols() == {symbol}:
                found[symbol] = size.__name__
    return found


# ---- what is written beside ----


def _artifacts(result: ONNXProgram, folder: Path, report: bool, times: Any, dump: bool) -> None:
    if dump:
        taeda.export.save(result.exported_program, folder / "onnx_export.pt2")
    if not report and times is None:
        return
    lines = ["# ONNX export", "", f"- {result!r}"]
    if times is not None:
        named = zip(("capture", "translation", "verification"), times, strict=True)
        lines += [f"- {name}: {1000 * seconds:.1f} ms" for name, seconds in named]
    lines += ["", "| operator | from |", "|---|---|"]
    lines += [f"| {node.kind} | {node.origin} |" for node in result.model.nodes]
    content = "\n".join([*lines, ""]).encode()
    with atomic_write(folder / "onnx_export.md", len(content)) as file:
        file.write(content)
