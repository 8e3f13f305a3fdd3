"""Names of an earlier interface, which do what they did by way of `export`."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import nn
from taeda._core_api import warn
from taeda._core_api.trees import tree_flatten
from taeda.compiler import list_backends
from taeda.export import Dim, ShapesCollection

from ._export import DEFAULT_OPSET, export
from ._program import ONNXProgram
from ._rules import RULES
from ._symbolic import own_rules, row_name
from .errors import OnnxExporterWarning

__all__ = [
    "DiagnosticOptions", "ExportOptions", "ONNXFakeContext", "ONNXRuntimeOptions", "OnnxRegistry",
    "dynamo_export", "enable_fake_mode", "is_onnxrt_backend_supported",
]  # fmt: skip


@dataclass
class DiagnosticOptions:
    """What `dynamo_export` says. With `verbosity_level` at logging.INFO or below it prints what it
    made; with `warnings_as_errors` a warning of the export is raised.

    Args:
        verbosity_level: of an earlier interface (default: 30)
        warnings_as_errors: of an earlier interface (default: False)

    >>> import logging
    >>> DiagnosticOptions(logging.INFO, warnings_as_errors=True).verbosity_level
    20
    """

    verbosity_level: int = logging.WARNING
    warnings_as_errors: bool = False


@dataclass(frozen=True)
class ONNXFakeContext:
    """That a module was made under `enable_fake_mode`: its weights have sizes and no values."""

    device: str = "meta"


@contextlib.contextmanager
def enable_fake_mode() -> Iterator[ONNXFakeContext]:
    """Modules that are made inside have weights without memory, so large ones can be exported: give
    the result to `ExportOptions`, and the weights to `ONNXProgram.apply_weights` before the model
    runs, or leave them out of the file by `save(include_initializers=False)`.

    >>> from taeda import nn
    >>> with enable_fake_mode() as context:
    ...     model = nn.Linear(3, 2)
    >>> model.weight.is_meta
    True
    """
    with taeda.device("meta"):
        yield ONNXFakeContext()


class OnnxRegistry:
    """Rules for operators: those of taeda, and functions of the user on top.

    Args:
        opset_version: of an earlier interface (default: 20)

    >>> registry = OnnxRegistry()
    >>> registry.opset_version, registry.is_registered_op("aten", "relu")
    (20, True)
    """

    def __init__(self, opset_version: int = DEFAULT_OPSET) -> None:
        self._opset = opset_version
        self._own: dict[str, list[Callable[..., Any]]] = {}

    @property
    def opset_version(self) -> int:
        """The opset for which these rules are."""
        return self._opset

    def register_op(
        self,
        function: Callable[..., Any],
        namespace: str,
        op_name: str,
        overload: str | None = None,
    ) -> None:
        """Translate `namespace::op_name` (its `overload`, or every one that is not entered) by a
        function of a context and the arguments of the operator. The one entered last is used.
        OnnxExporterError for a name of another form, TypeError for no function.
        """
        if not callable(function):
            raise TypeError(f"register_op: wanted a function, got {type(function).__name__}")
        self._own.setdefault(_named(namespace, op_name, overload), []).append(function)

    def get_op_functions(
        self, namespace: str, op_name: str, overload: str | None = None
    ) -> list[Callable[..., Any]] | None:
        """The functions of an operator, the one that is used last; None if it has none."""
        name = _named(namespace, op_name, overload)
        made = [*_built_in(name), *self._own.get(name, ())]
        entered = own_rules(self._opset).get(name)
        return [*made, *([] if entered is None else [entered])] or None

    def is_registered_op(self, namespace: str, op_name: str, overload: str | None = None) -> bool:
        """Whether an operator has a rule."""
        return self.get_op_functions(namespace, op_name, overload) is not None

    def table(self) -> dict[str, Callable[..., Any]]:
        """The user's functions by operator, as `custom_translation_table` takes them."""
        return {name: functions[-1] for name, functions in self._own.items()}


def _named(namespace: str, name: str, overload: str | None) -> str:
    return row_name(f"{namespace}::{name}" + (f".{overload}" if overload else ""))


def _built_in(name: str) -> list[Callable[..., Any]]:
    namespace, _, row = name.partition(".")
    if namespace != "aten":
        return []
    if "." in row:
        return [RULES[row]] if row in RULES else []
    return [made for known, made in RULES.items() if known.partition(".")[0] == row]


@dataclass(kw_only=True)
class ExportOptions:
    """How `dynamo_export` exports. With `dynamic_shapes` every size differs from call to call where
    the program lets it; `fake_context` is what `enable_fake_mode` gave.

    Args:
        dynamic_shapes: of an earlier interface (default: None)
        fake_context: of an earlier interface (default: None)
        onnx_registry: of an earlier interface (default: None)
        diagnostic_options: of an earlier interface (default: None)

    >>> import taeda, warnings
    >>> options = ExportOptions(dynamic_shapes=True)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     made = dynamo_export(taeda.nn.Linear(3, 2), taeda.ones(4, 3), export_options=options)
    >>> made.model.inputs[0].sizes
    ['s0', 3]
    """

    dynamic_shapes: bool | None = None
    fake_context: ONNXFakeContext | None = None
    onnx_registry: OnnxRegistry | None = None
    diagnostic_options: DiagnosticOptions | None = None


def dynamo_export(
    model: nn.Module,
    /,
    *model_args: Any,
    export_options: ExportOptions | None = None,
    **model_kwargs: Any,
) -> ONNXProgram:
    """The ONNX model of `model(*model_args, **model_kwargs)`. `export` says all of it, and this warns
    of that. Errors are those of `export`.

    Args:
        model: of an earlier interface
        model_args: of an earlier interface
        export_options: of an earlier interface (default: None)
        model_kwargs: of an earlier interface

    >>> import taeda, warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     made = dynamo_export(taeda.nn.Linear(3, 2), taeda.ones(4, 3))
    >>> made.model.nodes[0].kind
    'Gemm'
    """
    options = export_options or ExportOptions()
    warn("onnx.dynamo_export: write onnx.export(model, args, dynamo=True)", DeprecationWarning)
    said = options.diagnostic_options or DiagnosticOptions()
    registry = options.onnx_registry or OnnxRegistry()
    shapes = _every_size(model_args, model_kwargs) if options.dynamic_shapes else None
    with warnings.catch_warnings():
        if said.warnings_as_errors:
            warnings.simplefilter("error", OnnxExporterWarning)
        made = export(
            model,
            model_args,
            kwargs=model_kwargs,
            dynamic_shapes=shapes,
            opset_version=registry.opset_version,
            custom_translation_table=registry.table(),
            verify=options.fake_context is None,
            verbose=said.verbosity_level <= logging.INFO,
        )
    assert made is not None
    return made


def _every_size(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Demands that let every size of every tensor differ."""
    wanted = ShapesCollection()
    for leaf in tree_flatten((args, dict(kwargs)))[0]:
        if isinstance(leaf, taeda.Tensor):
            wanted[leaf] = dict.fromkeys(range(leaf.dim()), Dim.AUTO)
    return wanted


class ONNXRuntimeOptions:
    """How onnxruntime loads a model: an `initializer` for
    `ONNXProgram.initialize_inference_session`.

    `session_options` is one of onnxruntime's, or a list with one; `execution_providers` are their
    names in the order of preference, and `execution_provider_options` a dict for each.

    Args:
        session_options: of an earlier interface (default: None)
        execution_providers: of an earlier interface (default: None)
        execution_provider_options: of an earlier interface (default: None)

    >>> ONNXRuntimeOptions(execution_providers=["CPUExecutionProvider"]).execution_providers
    ['CPUExecutionProvider']
    """

    def __init__(
        self,
        *,
        session_options: Any = None,
        execution_providers: Sequence[str | tuple[str, dict[Any, Any]]] | None = None,
        execution_provider_options: Sequence[dict[Any, Any]] | None = None,
    ) -> None:
        listed = isinstance(session_options, list | tuple)
        self.session_options = next(iter(session_options), None) if listed else session_options
        self.execution_providers = execution_providers
        self.execution_provider_options = execution_provider_options

    def __call__(self, path: str | os.PathLike[str]) -> Any:
        """The session for the model at a path."""
        onnxruntime: Any = importlib.import_module("onnxruntime")
        return onnxruntime.InferenceSession(
            os.fspath(path),
            sess_options=self.session_options,
            providers=self.execution_providers or ["CPUExecutionProvider"],
            provider_options=self.execution_provider_options,
        )


def is_onnxrt_backend_supported() -> bool:
    """Whether `taeda.compile` can run graphs in onnxruntime: False, for it has no such backend.
    A function that gives `export(gm, example_inputs)` to `taeda.compiler.register_backend` is one.

    >>> is_onnxrt_backend_supported()
    False
    """
    return "onnxrt" in list_backends(exclude_tags=())
