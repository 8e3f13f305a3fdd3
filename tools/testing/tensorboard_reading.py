"""Files of events, read back by TensorBoard's own reader."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "tensorboard", reason="files are read back by tensorboard: the extra [tensorboard]"
)

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util


def read(folder):
    """All that a run holds; a size of 0 keeps every event."""
    kinds = ("scalars", "images", "audio", "histograms", "tensors", "compressedHistograms")
    found = EventAccumulator(str(folder), size_guidance=dict.fromkeys(kinds, 0))
    return found.Reload()


def scalars(folder, tag):
    return [(event.step, event.value) for event in read(folder).Scalars(tag)]


def tensor(folder, tag):
    return tensor_util.make_ndarray(read(folder).Tensors(tag)[-1].tensor_proto)
