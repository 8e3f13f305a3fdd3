"""What a run says of itself, in files that TensorBoard shows: numbers, distributions, pictures,
sounds, texts, graphs.

    writer.py       `SummaryWriter`: the calls of a program
    _events.py      the file of events, and the thread that writes it
    _files.py       folders and addresses that they go to
    _values.py      what callers pass, as arrays
    _summaries.py   numbers, distributions, texts, curves, meshes
    _pictures.py    images, videos and sounds, encoded
    _hparams.py     hyperparameters of a run, beside its results
    _embedding.py   points, for the projector
    _graph.py       the operations of a model, as recorded in one run

The records are those of the package tensorboard, which the extra `taeda-profiler[tensorboard]` asks
for. Without it this module raises ImportError.
"""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("tensorboard") is None:
    raise ImportError(
        "taeda.utils.tensorboard writes its files with the package tensorboard, which is not "
        "installed: pip install tensorboard"
    )

from .writer import (
    FileWriter,
    RecordWriter,  # pyright: ignore[reportAttributeAccessIssue]  # tensorboard's: optional
    SummaryWriter,
)

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
