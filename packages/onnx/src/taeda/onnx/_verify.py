"""Whether a model gives the program's numbers, in onnxruntime, at the sizes traced and at others."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.files import atomic_write
from taeda._core_api.trees import tree_flatten
from taeda.export import ExportedProgram
from taeda.export.graph_signature import InputKind, TensorArgument

from ._model import External, Model
from ._seen import Seen
from .errors import OnnxExporterError, OnnxExporterWarning

__all__ = ["run_apart", "run_file", "verified", "write", "written"]

_LIMIT = 1 << 30  # bytes from which weights must lie beside the model
_SECONDS = 600


def written(model: Model, folder: Path, *, untyped: bool = False) -> Path:
    """The model as a file in a folder, and its weights beside it if they are large. `untyped` is
    that of `Model.pieces`.
    """
    path = folder / "model.onnx"
    external = External("model.onnx.data") if model.size() > _LIMIT else None
    write(path, model.pieces(external, untyped=untyped))
    if external is not None:
        write(folder / external.location, external.pieces)
    return path


def write(path: Path, pieces: Sequence[bytes | memoryview]) -> None:
    """A file of these pieces, in place of the old one when it is whole."""
    with atomic_write(path, sum(map(len, pieces))) as file:
        for piece in pieces:
            file.write(piece)


def verified(program: ExportedProgram, model: Model, rtol: float = 1e-4, atol: float = 1e-4) -> int:
    """The number of calls that were compared: that of the example, and one of other sizes if there
    are any. 0, with a warning, where onnxruntime is not installed. OnnxExporterError for a model
    that does not load, that ends the process, or that gives other numbers.
    """
    if importlib.util.find_spec("onnxruntime") is None:
        warn(
            "onnx.export: onnxruntime is not installed, so nothing was verified; verify=False "
            "says that this is meant",
            OnnxExporterWarning,
        )
        return 0
    calls = _calls(program)
    results = run_apart(model, calls)
    step = _step(program)
    for k, leaves in enumerate(calls):
        wanted = [v.detach().numpy() for v in Seen(program).results(leaves)]
        _compare(results[k], wanted, leaves, max(rtol, step), max(atol, step))
    return len(calls)


def _step(program: ExportedProgram) -> float:
    """What two ways of rounding may differ by: some steps of the shortest float that it computes in."""
    values = [v for n in program.graph.nodes if isinstance(v := n.meta.get("val"), Tensor)]
    steps = {taeda.finfo(v.dtype).eps for v in values if v.is_floating_point()}
    return 8 * max(steps, default=0.0)


def run_apart(
    model: Model,
    calls: list[list[Any]],
    *,
    backend: str = "CPUExecutionProvider",
    untyped: bool = False,
    path: Path | None = None,
) -> list[list[np.ndarray]]:
    """The results of a model for the tensors among the arguments of each call, in a process of its
    own. `path` is a file that has it already. OnnxExporterError if it does not run.
    """
    arrays = [[v.detach().numpy() for v in leaves if isinstance(v, Tensor)] for leaves in calls]
    if path is not None:
        return run_file(path, arrays, len(model.outputs), backend)
    with tempfile.TemporaryDirectory() as place:
        made = written(model, Path(place), untyped=untyped)
        return run_file(made, arrays, len(model.outputs), backend)


def run_file(
    path: Path, calls: list[list[np.ndarray]], outputs: int, backend: str
) -> list[list[np.ndarray]]:
    """The results of the model in a file for the inputs of each call."""
    given = io.BytesIO()
    np.lib.format.write_array(given, np.array(len(calls)), allow_pickle=False)
    for arrays in calls:
        for value in arrays:
            np.lib.format.write_array(given, value, allow_pickle=False)
    command = [sys.executable, str(Path(__file__).with_name("_child.py")), str(path), backend]
    try:
        done = subprocess.run(
            command, input=given.getvalue(), capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OnnxExporterError(f"{backend} gave no result in {_SECONDS} s") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = said[-1] if said else f"the process ended with {done.returncode}"
        raise OnnxExporterError(f"onnxruntime does not run this model: {why:.1000}")
    made = io.BytesIO(done.stdout)
    count = range(outputs)
    return [[np.lib.format.read_array(made, allow_pickle=False) for _ in count] for _ in calls]


def _compare(
    got: list[np.ndarray], wanted: list[np.ndarray], leaves: list[Any], rtol: float, atol: float
) -> None:
    shapes = [tuple(v.shape) for v in leaves if isinstance(v, Tensor)]
    for k, (a, b) in enumerate(zip(got, wanted, strict=True)):
        where = f"output {k} for inputs of sizes {shapes}"
        if a.shape != b.shape or a.dtype != b.dtype:
            raise OnnxExporterError(
                f"the model is wrong: {where} is {a.dtype}{list(a.shape)} in onnxruntime and "
                f"{b.dtype}{list(b.shape)} here"
            )
        if not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            with np.errstate(all="ignore"):
                most = np.nanmax(np.abs(a.astype(np.complex128) - b))
            raise OnnxExporterError(f"the model is wrong: {where} differs by {most:g} at most")


# ---- calls ----


def _calls(program: ExportedProgram) -> list[list[Any]]:
    """The arguments of the example, and those of other sizes that the program takes."""
    if program.example_inputs is None:
        raise OnnxExporterError(
            "a program from a file has no arguments to verify with: export it with verify=False, "
            "and compare by your own"
        )
    first = tree_flatten(program.example_inputs)[0]
    made = [first]
    for change in (lambda n: n + 1, lambda n: 2 * n, lambda n: n - 1, lambda n: 3 * n):
        other = _resized(program, first, change)
        if other is not None:
            made.append(other)
            break
    return made


def _resized(program: ExportedProgram, leaves: list[Any], change: Any) -> list[Any] | None:
    """The arguments with every symbol moved; None if there is none, or it leaves its range."""
    specs = [s for s in program.graph_signature.input_specs if s.kind is InputKind.USER_INPUT]
    nodes = list(program.graph.find_nodes(op="placeholder"))[-len(specs) :] if specs else []
    sizes: dict[str, int] = {}
    for node, spec, value in zip(nodes, specs, leaves, strict=True):
        if isinstance(spec.arg, TensorArgument):
            for expr, n in zip(node.meta["shape"], value.shape, strict=True):
                if expr.symbols() == {str(expr)}:
                    sizes[str(expr)] = n
    moved = {name: change(n) for name, n in sizes.items()}
    ranges = program.range_constraints
    if not moved or any(n in ranges and s not in ranges[n] for n, s in moved.items()):
        return None
    if not all(g.value(moved) for g in program._guards if g.symbols() <= moved.keys()):
        return None
    made = []
    for node, spec, value in zip(nodes, specs, leaves, strict=True):
        if isinstance(spec.arg, TensorArgument):
            for dim, expr in enumerate(node.meta["shape"]):
                value = _stretched(value, dim, expr.value(moved))
        made.append(value)
    return made


def _stretched(value: Tensor, dim: int, size: int) -> Tensor:
    """The numbers of a tensor in turn: indices stay in their range."""
    old = value.shape[dim]
    return value if old == size or not old else value.index_select(dim, taeda.arange(size) % old)
