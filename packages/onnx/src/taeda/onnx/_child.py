"""Run as a script, in a process of its own: a model in onnxruntime.

onnxruntime has died with SIGSEGV on models that its checker accepts, so no process of a user loads
one to verify it. The script imports nothing of taeda. Arrays come by stdin and go by stdout, one
after the other in the form of .npy; the first says how many calls there are.
"""

from __future__ import annotations

import importlib
import io
import sys
from typing import Any


def _loaded(model: str, backend: str) -> tuple[list[str], Any]:
    """The names of the inputs, and a function from them to the results."""
    if backend == "ONNXReferenceEvaluator":
        reference: Any = importlib.import_module("onnx.reference")
        made = reference.ReferenceEvaluator(model)
        weights = {w.name for w in made.proto_.graph.initializer}
        return [n for n in made.input_names if n not in weights], made.run
    onnxruntime: Any = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=[backend])
    if backend not in session.get_providers():
        raise SystemExit(f"this onnxruntime has no {backend}")
    return [i.name for i in session.get_inputs()], session.run


def main(model: str, backend: str) -> None:
    """Write the results of the model for each call."""
    import numpy as np

    names, run = _loaded(model, backend)
    source, sink = io.BytesIO(sys.stdin.buffer.read()), io.BytesIO()  # a pipe is no file to numpy
    calls = int(np.lib.format.read_array(source, allow_pickle=False))
    for _ in range(calls):
        feed = {name: np.lib.format.read_array(source, allow_pickle=False) for name in names}
        for value in run(None, feed):
            np.lib.format.write_array(sink, np.asarray(value), allow_pickle=False)
    sys.stdout.buffer.write(sink.getvalue())


if __name__ == "__main__":
    main(*sys.argv[1:])
