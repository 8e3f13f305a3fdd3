"""`OnnxTestCaseRepro`: a model with inputs and outputs in a folder, as the tests of ONNX have them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import taeda
from taeda import Tensor

from .._model import tensor_bytes
from .._verify import run_file, write
from ._checks import VerificationOptions, agree

__all__ = ["OnnxTestCaseRepro"]


class OnnxTestCaseRepro:
    """A folder with `model.onnx` and `test_data_set_0`, whose files are the inputs and outputs of one
    call. Reading one needs the package `onnx`.

    ValueError for a folder that holds something else.

    >>> import os, tempfile
    >>> from pathlib import Path
    >>> x = taeda.ones(2)
    >>> model = taeda.onnx.export(taeda.nn.ReLU(), (x,), verify=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "relu.onnx"))
    ...     proto = Path(folder, "relu.onnx").read_bytes()
    ...     path = OnnxTestCaseRepro.create_test_case_repro(proto, [x], [x], folder, "relu")
    ...     sorted(os.listdir(path))
    ['model.onnx', 'test_data_set_0']
    """

    def __init__(self, repro_dir: str | os.PathLike[str]) -> None:
        self.repro_dir = os.fspath(repro_dir)
        folder = Path(repro_dir)
        self.path = folder / "model.onnx"
        if not self.path.is_file():
            raise ValueError(f"OnnxTestCaseRepro: {folder} has no model.onnx")
        self.inputs = _read(folder / "test_data_set_0", "input")
        self.outputs = _read(folder / "test_data_set_0", "output")

    @classmethod
    def create_test_case_repro(
        cls,
        proto: bytes,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        dir: str | os.PathLike[str],
        name: str | None = None,
    ) -> str:
        """Write a model, the inputs of a call and its outputs into `dir/test_<name>`, which is made;
        the path of that.
        """
        folder = Path(dir) / f"test_{name or 'mismatch'}"
        data = folder / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        write(folder / "model.onnx", [proto])
        for kind, tensors in (("input", inputs), ("output", outputs)):
            for k, tensor in enumerate(tensors):
                write(data / f"{kind}_{k}.pb", tensor_bytes(f"{kind}_{k}", tensor))
        return str(folder)

    def validate(self, options: VerificationOptions) -> None:
        """Run the model in a process of its own; AssertionError where it gives other outputs."""
        (got,) = run_file(self.path, [self.inputs], len(self.outputs), options.backend.value)
        made = [taeda.from_numpy(v) for v in got]
        agree(made, [taeda.from_numpy(v) for v in self.outputs], options)


def _read(folder: Path, kind: str) -> list[np.ndarray]:
    onnx: Any = importlib.import_module("onnx")
    helper: Any = importlib.import_module("onnx.numpy_helper")
    made = []
    for k in range(len(list(folder.glob(f"{kind}_*.pb")))):
        message = onnx.TensorProto()
        message.ParseFromString((folder / f"{kind}_{k}.pb").read_bytes())
        made.append(np.array(helper.to_array(message)))
    return made
