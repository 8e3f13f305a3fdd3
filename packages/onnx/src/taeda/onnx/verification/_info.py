"""How far each result is off: `VerificationInfo`, `verify_onnx_program`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda.export._checks import checked_leaves

from .._model import Model, Port
from .._program import ONNXProgram
from .._seen import Seen
from .._verify import run_apart
from ..errors import OnnxExporterError

__all__ = ["VerificationInfo", "verify_onnx_program"]

_EDGES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 1e6)
_TINY = 1e-7  # what a relative difference is divided by at least
Histogram = tuple[Tensor, Tensor]


@dataclass
class VerificationInfo:
    """How far one value of a model is from that of the program: the largest absolute and relative
    differences, how many elements differ by how much (counts, and the edges of their bins), and both
    dtypes. Elements that are equal, NaN and NaN among them, differ by 0.
    """

    name: str
    max_abs_diff: float
    max_rel_diff: float
    abs_diff_hist: Histogram
    rel_diff_hist: Histogram
    expected_dtype: taeda.dtype
    actual_dtype: taeda.dtype

    @classmethod
    def from_tensors(cls, name: str, expected: Any, actual: Any) -> VerificationInfo:
        """The differences of two tensors (or numbers). OnnxExporterError for other sizes.

        >>> import taeda
        >>> made = VerificationInfo.from_tensors("y", taeda.ones(2), taeda.tensor([1.0, 1.5]))
        >>> made.max_abs_diff, made.max_rel_diff
        (0.5, 0.5)
        """
        a, b = (v if isinstance(v, Tensor) else taeda.tensor(v) for v in (expected, actual))
        if a.shape != b.shape:
            raise OnnxExporterError(f"{name} is {list(b.shape)} in the model, and {list(a.shape)}")
        wide = taeda.complex128 if a.is_complex() or b.is_complex() else taeda.float64
        x, y = a.detach().cpu().to(wide), b.detach().cpu().to(wide)
        same = (x == y) | (x.isnan() & y.isnan())
        apart = taeda.where(same, taeda.zeros((), dtype=taeda.float64), (x - y).abs())
        relative = apart / x.abs().clamp_min(_TINY)
        relative = taeda.where(same, taeda.zeros((), dtype=taeda.float64), relative)
        return cls(
            name,
            _most(apart),
            _most(relative),
            _histogram(apart),
            _histogram(relative),
            a.dtype,
            b.dtype,
        )

    def asdict(self) -> dict[str, Any]:
        """The fields as what JSON can hold: lists for tensors, texts for dtypes."""
        made = dict(vars(self))
        for key in ("abs_diff_hist", "rel_diff_hist"):
            made[key] = [part.tolist() for part in made[key]]
        for key in ("expected_dtype", "actual_dtype"):
            made[key] = str(made[key])
        return made


def _most(values: Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0


def _histogram(values: Tensor) -> Histogram:
    edges = taeda.tensor(_EDGES, dtype=taeda.float64)
    flat = values.reshape(-1)
    bins = taeda.bucketize(flat[~flat.isnan()], edges[1:-1], right=True)
    counts = taeda.bincount(bins, minlength=len(_EDGES) - 1).to(taeda.float32)
    return counts, edges.to(taeda.float32)


def verify_onnx_program(
    onnx_program: ONNXProgram,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    compare_intermediates: bool = False,
) -> list[VerificationInfo]:
    """How far every output of the model is off, in onnxruntime in a process of its own; with
    `compare_intermediates` every value inside that the program has too comes before them.

    `args` and `kwargs` are those of the example by default. OnnxExporterError for a model that does
    not run or gives other sizes, ValueError for a program from a file without arguments.

    >>> made = taeda.onnx.export(taeda.nn.ReLU(), (taeda.ones(2),), dynamo=True)
    >>> [info.max_abs_diff for info in verify_onnx_program(made)]  # doctest: +SKIP
    [0.0]
    """
    program = onnx_program.exported_program
    if args is None and kwargs is None:
        if program.example_inputs is None:
            raise ValueError("verify_onnx_program: the program has no example: give args")
        args, kwargs = program.example_inputs
    leaves = checked_leaves(program, args or (), kwargs or {})
    model = onnx_program.model
    seen = Seen(program, keep=compare_intermediates)
    wanted = seen.results(leaves)
    names = [port.name for port in model.outputs]
    inner = {}
    if compare_intermediates:
        inner = {v: seen.values[n] for n, v in _values(model).items() if n in seen.values}
    ((*made,),) = run_apart(_showing(model, list(inner)), [leaves], untyped=bool(inner))
    expected = [*inner.values(), *wanted]
    return [
        VerificationInfo.from_tensors(name, a, taeda.from_numpy(b))
        for name, a, b in zip([*inner, *names], expected, made, strict=True)
    ]


def _values(model: Model) -> Mapping[str, str]:
    """Values that an operator gives, by the node of the program whose result they are."""
    made = {name for node in model.nodes for name in node.outputs}
    made -= {port.name for port in model.outputs}
    first: dict[str, str] = {}
    for node, value in model.values.items():
        if value in made and value not in first.values():
            first[node] = value
    return first


def _showing(model: Model, names: list[str]) -> Model:
    shown = Model(**vars(model))
    shown.outputs = [*(Port(n, taeda.float32, []) for n in names), *model.outputs]
    return shown
