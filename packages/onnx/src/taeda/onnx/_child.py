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


def main(model: str) -> None:
    """Write the results of the model for each call."""
    import numpy as np

    onnxruntime: Any = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    source, sink = io.BytesIO(sys.stdin.buffer.read()), io.BytesIO()  # a pipe is no file to numpy
    calls = int(np.lib.format.read_array(source, allow_pickle=False))
    for _ in range(calls):
        names = [i.name for i in session.get_inputs()]
        feed = {name: np.lib.format.read_array(source, allow_pickle=False) for name in names}
        for value in session.run(None, feed):
            np.lib.format.write_array(sink, np.asarray(value), allow_pickle=False)
    sys.stdout.buffer.write(sink.getvalue())


if __name__ == "__main__":
    main(sys.argv[1])
