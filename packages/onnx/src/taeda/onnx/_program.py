"""`ONNXProgram`: a model in memory, which is saved, run and compared."""

from __future__ import annotations

import importlib
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import tree_flatten
from taeda.export import ExportedProgram

from ._model import External, Model, Port
from ._optimize import optimized
from ._verify import verified, write, written

__all__ = ["ONNXProgram"]

_NAMES = re.compile(r"[A-Za-z_]\w*")
_BESIDE = 3 << 29  # 1.5 GiB: a message of protobuf ends at 2


class ONNXProgram:
    """What `export` gives: an ONNX model, with the program that it was made from.

    The weights are those of the module, not copies.

    Args:
        model: the model
        exported_program: the program that it was made of

    >>> import taeda
    >>> taeda.onnx.export(taeda.nn.Linear(3, 2), (taeda.ones(4, 3),), verify=False)
    ONNXProgram(opset 20, 1 nodes, 32 bytes of weights: (input_1) -> (linear))
    """

    def __init__(self, model: Model, exported_program: ExportedProgram) -> None:
        self.model, self.exported_program = model, exported_program
        self._session: Any = None

    def __repr__(self) -> str:
        names = ", ".join(p.name for p in self.model.inputs)
        made = ", ".join(p.name for p in self.model.outputs)
        return (
            f"ONNXProgram(opset {self.model.opset}, {len(self.model.nodes)} nodes, "
            f"{self.model.size()} bytes of weights: ({names}) -> ({made}))"
        )

    @property
    def model_proto(self) -> Any:
        """The model as a message of the package `onnx`, which must be installed."""
        onnx: Any = importlib.import_module("onnx")
        return onnx.load_model_from_string(b"".join(self.model.pieces()))

    def save(
        self,
        destination: str | os.PathLike[str],
        *,
        include_initializers: bool = True,
        keep_initializers_as_inputs: bool = False,
        external_data: bool | None = None,
    ) -> None:
        """Write the model to a path. With `external_data`, and by default from 1.5 GiB of weights
        on, weights lie beside it, in a file of the same name with `.data` at its end. Each file is
        the old one or the new one, never half of one.
        """
        path = Path(destination)
        large = self.model.size() >= _BESIDE
        external = None
        if include_initializers and (large if external_data is None else external_data or large):
            external = External(f"{path.name}.data")
        pieces = self.model.pieces(
            external,
            weights=include_initializers,
            as_inputs=keep_initializers_as_inputs or not include_initializers,
        )
        if external is not None:
            write(path.with_name(external.location), external.pieces)
        write(path, pieces)

    def apply_weights(self, state_dict: Mapping[str, Tensor]) -> None:
        """Take these tensors for the weights of their names. ValueError for a name that the model
        has not, or for other sizes or another dtype; nothing is changed then.
        """
        for name, tensor in state_dict.items():
            old = self.model.weights.get(name)
            if old is None:
                raise ValueError(f"apply_weights: the model has no weight {name!r}")
            if old.shape != tensor.shape or old.dtype != tensor.dtype:
                raise ValueError(
                    f"apply_weights: {name} is {old.dtype}{list(old.shape)}, got "
                    f"{tensor.dtype}{list(tensor.shape)}"
                )
        self.model.weights.update({n: t.detach() for n, t in state_dict.items()})
        self.release()

    def optimize(self) -> None:
        """Remove copies, operators that nobody reads, and those that compute the same twice."""
        optimized(self.model)
        self.release()

    def verify(self, *, rtol: float = 1e-4, atol: float = 1e-4) -> int:
        """Run the model in onnxruntime, in a process of its own, and compare it with the program:
        the number of calls compared. OnnxExporterError where it differs or does not run.
        """
        return verified(self.exported_program, self.model, rtol, atol)

    # ---- onnxruntime in this process ----

    def initialize_inference_session(self, initializer: Callable[[str], Any] | None = None) -> None:
        """Load the model into onnxruntime, or into what `initializer` makes of the path of a file
        that is gone when it returns.
        """
        with tempfile.TemporaryDirectory() as place:
            path = str(written(self.model, Path(place)))
            self._session = (initializer or _session)(path)

    def release(self) -> None:
        """Let the session go."""
        self._session = None

    def __call__(self, *args: Any, **kwargs: Any) -> Sequence[Tensor]:
        """The results of onnxruntime for the arguments of the program, flat."""
        if self._session is None:
            self.initialize_inference_session()
        made = self._session.run(None, self._feed(args, kwargs))
        return [taeda.from_numpy(v) for v in made]

    def _feed(self, args: Any, kwargs: Any) -> dict[str, Any]:
        leaves = [v for v in tree_flatten((args, kwargs))[0] if isinstance(v, Tensor)]
        if len(leaves) != len(self.model.inputs):
            raise ValueError(
                f"the model has {len(self.model.inputs)} inputs, and the call {len(leaves)} tensors"
            )
        names = [port.name for port in self.model.inputs]
        return {n: v.detach().numpy() for n, v in zip(names, leaves, strict=True)}

    def call_reference(self, *args: Any, **kwargs: Any) -> Sequence[Tensor]:
        """The results of the reference implementation in the package `onnx`, in Python."""
        reference: Any = importlib.import_module("onnx.reference")
        made = reference.ReferenceEvaluator(self.model_proto).run(None, self._feed(args, kwargs))
        return [taeda.tensor(v) for v in made]

    def compute_values(
        self, value_names: Sequence[str], args: Any = (), kwargs: Any = None
    ) -> Sequence[Tensor]:
        """The values of these names inside of the model. ValueError for a name that it has not."""
        known = {name for node in self.model.nodes for name in node.outputs}
        for name in value_names:
            if name not in known:
                raise ValueError(f"compute_values: the model has no value {name!r}")
        inner = Model(**{**vars(self.model), "outputs": []})
        inner.outputs = [Port(n, taeda.float32, []) for n in value_names]
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "model.onnx"
            write(path, inner.pieces(untyped=True))
            made = _session(str(path)).run(None, self._feed(args, dict(kwargs or {})))
        return [taeda.from_numpy(v) for v in made]

    def rename_axes(self, rename_mapping: Mapping[str, str]) -> None:
        """Give the sizes that differ from call to call other names, in formulas of sizes too.
        ValueError for a name that no size has.
        """
        ports = [*self.model.inputs, *self.model.outputs]
        texts = {n for port in ports for n in port.sizes if isinstance(n, str)}
        known = {name for text in texts for name in _NAMES.findall(text)}
        if unknown := sorted(set(map(str, rename_mapping)) - known):
            raise ValueError(f"rename_axes: there is no size {unknown[0]!r} among {sorted(known)}")
        for port in ports:
            port.sizes = [_renamed(n, rename_mapping) for n in port.sizes]
        self.release()


def _renamed(size: int | str, names: Mapping[str, str]) -> int | str:
    if isinstance(size, int):
        return size
    return _NAMES.sub(lambda found: names.get(found[0], found[0]), size)


def _session(path: str) -> Any:
    onnxruntime: Any = importlib.import_module("onnxruntime")
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
