"""One call of a module compared with its model: `verify`, `check_export_model_diff`."""

from __future__ import annotations

import enum
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import taeda
from taeda import Tensor, nn
from taeda._core_api.trees import tree_flatten

from .._export import export
from .._model import Model
from .._modes import TrainingMode, select_model_mode_for_export
from .._program import ONNXProgram
from .._verify import run_apart

__all__ = [
    "OnnxBackend", "VerificationOptions", "agree", "check_export_model_diff", "difference", "verify"
]  # fmt: skip


class OnnxBackend(enum.Enum):
    """What runs a model.

    >>> OnnxBackend.ONNX_RUNTIME_CPU.value
    'CPUExecutionProvider'
    """

    REFERENCE = "ONNXReferenceEvaluator"
    ONNX_RUNTIME_CPU = "CPUExecutionProvider"
    ONNX_RUNTIME_CUDA = "CUDAExecutionProvider"


@dataclass
class VerificationOptions:
    """When results count as equal. They are flat lists of tensors (`flatten=False`: the module must
    give a tensor or a tuple of tensors), None among them is left out (`ignore_none=False`: refused),
    sizes and dtypes must agree if `check_shape`, `check_dtype`, numbers by `rtol` and `atol`, but for
    the share `acceptable_error_percentage` (from 0 to 1) of the elements. `remained_onnx_input_idx`
    are the arguments that the model has, by position.

    >>> options = VerificationOptions(rtol=1e-2, acceptable_error_percentage=0.01)
    >>> options.rtol, options.atol
    (0.01, 1e-07)
    """

    flatten: bool = True
    ignore_none: bool = True
    check_shape: bool = True
    check_dtype: bool = True
    backend: OnnxBackend = OnnxBackend.ONNX_RUNTIME_CPU
    rtol: float = 1e-3
    atol: float = 1e-7
    remained_onnx_input_idx: Sequence[int] | None = None
    acceptable_error_percentage: float | None = None


def verify(
    model: nn.Module,
    input_args: Any,
    input_kwargs: Mapping[str, Any] | None = None,
    do_constant_folding: bool = True,
    dynamic_axes: Mapping[str, Mapping[int, str] | Sequence[int]] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    training: TrainingMode = TrainingMode.EVAL,
    opset_version: int | None = None,
    keep_initializers_as_inputs: bool = True,
    verbose: bool = False,
    fixed_batch_size: bool = False,
    use_external_data: bool = False,
    additional_test_inputs: Sequence[Any] | None = None,
    options: VerificationOptions | None = None,
) -> None:
    """Export a module and compare the model with it, for these arguments and for each of
    `additional_test_inputs`. The other arguments are those of `export`; `fixed_batch_size` leaves
    `dynamic_axes` out, and `use_external_data` puts the weights beside the file that is run.

    AssertionError where they differ; the errors of `export` for a module that has no model.

    >>> model = taeda.nn.Sequential(taeda.nn.Linear(3, 2), taeda.nn.ReLU())
    >>> verify(model, (taeda.ones(1, 3),))  # doctest: +SKIP
    """
    chosen = options or VerificationOptions()
    first = (input_args, dict(input_kwargs or {}))
    args = input_args if isinstance(input_args, tuple) else (input_args,)
    made = export(
        model,
        args,
        kwargs=first[1],
        do_constant_folding=do_constant_folding,
        dynamic_axes=None if fixed_batch_size else dynamic_axes,
        input_names=input_names,
        output_names=output_names,
        training=training,
        opset_version=opset_version,
        verbose=verbose,
        verify=False,
    )
    assert made is not None
    with tempfile.TemporaryDirectory() as place:  # the file is what a user gets
        made.save(
            Path(place) / "model.onnx",
            keep_initializers_as_inputs=keep_initializers_as_inputs,
            external_data=use_external_data or None,
        )
        for given in (first, *((more, {}) for more in additional_test_inputs or ())):
            _compared(model, made, given, chosen, training, Path(place) / "model.onnx")


def check_export_model_diff(
    model: nn.Module,
    test_input_groups: Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]],
    export_options: Mapping[str, Any] | None = None,
) -> str:
    """What differs between the models that these groups of arguments give; an empty text if they are
    the same. `export_options` are named arguments of `export`.

    >>> import taeda
    >>> groups = [((taeda.ones(2, 3),), {}), ((taeda.ones(2, 3),), {})]
    >>> check_export_model_diff(taeda.nn.Linear(3, 2), groups)
    ''
    """
    made = []
    for args, kwargs in test_input_groups:
        one = export(model, args, kwargs=kwargs, verify=False, **dict(export_options or {}))
        assert one is not None
        made.append(_lines(one.model))
    for k, lines in enumerate(made[1:], 1):
        for number, (a, b) in enumerate(zip(made[0], lines, strict=False)):
            if a != b:
                return f"Graph diff: node {number} is\n  {a}\nfor group 0, and for group {k}\n  {b}"
        if len(lines) != len(made[0]):
            return f"Graph diff: {len(made[0])} nodes for group 0, and {len(lines)} for group {k}"
    return ""


def _lines(model: Model) -> list[str]:
    """A line for each node and each weight."""
    made = [
        f"{', '.join(n.outputs)} = {n.kind}({', '.join(n.inputs)}) {n.attributes}"
        for n in model.nodes
    ]
    return made + [f"weight {name}: {tuple(t.shape)}" for name, t in model.weights.items()]


def _compared(
    model: nn.Module,
    made: ONNXProgram,
    given: tuple[Any, dict[str, Any]],
    options: VerificationOptions,
    training: TrainingMode,
    path: Path,
) -> None:
    args = given[0] if isinstance(given[0], tuple) else (given[0],)
    leaves = [v for v in tree_flatten((args, given[1]))[0] if isinstance(v, Tensor)]
    if options.remained_onnx_input_idx is not None:
        leaves = [leaves[k] for k in options.remained_onnx_input_idx]
    leaves = [v.clone() for v in leaves]  # the module may write its arguments
    with taeda.no_grad(), select_model_mode_for_export(model, TrainingMode(training)):
        result = model(*args, **given[1])
    (got,) = run_apart(made.model, [leaves], backend=options.backend.value, path=path)
    agree([taeda.from_numpy(v) for v in got], wanted_of(result, options), options)


def wanted_of(result: Any, options: VerificationOptions) -> list[Tensor]:
    """The results of a module as a list of tensors."""
    if options.flatten:
        values = tree_flatten(result)[0]
    else:
        values = list(result) if isinstance(result, tuple | list) else [result]
    if options.ignore_none:
        values = [v for v in values if v is not None]
    wrong = [type(v).__name__ for v in values if not isinstance(v, Tensor)]
    if wrong and (not options.flatten or "NoneType" in wrong):
        raise AssertionError(f"the module gives a {wrong[0]}, which a model has no output for")
    return [v for v in values if isinstance(v, Tensor)]


def agree(
    got: Collection[Tensor], wanted: Collection[Tensor], options: VerificationOptions
) -> None:
    """AssertionError where two lists of tensors differ by more than the options allow."""
    if (found := difference(got, wanted, options)) is not None:
        raise AssertionError(found)


def difference(
    got: Collection[Tensor], wanted: Collection[Tensor], options: VerificationOptions
) -> str | None:
    """What differs in a sentence; None where nothing does."""
    if len(got) != len(wanted):
        return f"the model has {len(got)} outputs, and the module {len(wanted)} results"
    for k, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if options.check_dtype and a.dtype != b.dtype:
            return f"output {k} is {a.dtype} in the model and {b.dtype} in the module"
        if a.shape != b.shape:
            if options.check_shape:
                return f"output {k} is {list(a.shape)} in the model, {list(b.shape)} in the module"
            if a.numel() != b.numel():
                return (
                    f"output {k} has {a.numel()} elements in the model, {b.numel()} in the module"
                )
            a = a.reshape(b.shape)
        x, y = a.detach().cpu().numpy(), b.detach().cpu().numpy()
        close = np.isclose(x, y, rtol=options.rtol, atol=options.atol, equal_nan=True)
        allowed = (options.acceptable_error_percentage or 0.0) * close.size
        wrong = close.size - int(np.count_nonzero(close))
        if wrong > allowed:
            with np.errstate(all="ignore"):
                apart = np.abs(x.astype(np.complex128) - y)
            most = np.nanmax(apart) if not np.isnan(apart).all() else np.nan
            return f"output {k} differs in {wrong} of {close.size} elements, by {most:g} at most"
    return None
