"""The state of an optimizer that several ranks saved, for optimizers of sharded models."""

from __future__ import annotations

from typing import Any

import taeda

from .default_planner import DefaultLoadPlanner
from .format_utils import _listed, _put
from .metadata import BytesStorageMetadata, TensorStorageMetadata
from .planner import LoadPlanner
from .state_dict import _is_sharded
from .state_dict_loader import _load_state_dict
from .storage import StorageReader

__all__ = ["load_sharded_optimizer_state_dict"]


def load_sharded_optimizer_state_dict(
    model_state_dict: dict[str, Any],
    optimizer_key: str,
    storage_reader: StorageReader,
    planner: LoadPlanner | None = None,
) -> dict[str, Any]:
    """The state of the optimizer that was saved under `optimizer_key`, as {optimizer_key: state}.

    A tensor of the shape of its parameter in `model_state_dict` lies as that parameter lies, so that
    every rank reads its own part; others are whole. All ranks of a group call it. KeyError if the
    checkpoint has nothing under that name.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> folder, momentum = tempfile.mkdtemp(), {"w": {"exp_avg": taeda.ones(2)}}
    >>> _ = checkpoint.save({"optim": {"state": momentum}}, checkpoint_id=folder)
    >>> reader = checkpoint.FileSystemReader(folder)
    >>> load_sharded_optimizer_state_dict({"w": taeda.zeros(2)}, "optim", reader)
    {'optim': {'state': {'w': {'exp_avg': tensor([1., 1.])}}}}
    """
    metadata = storage_reader.read_metadata()
    paths = metadata.planner_data or {}
    flat: dict[str, Any] = {}
    for name, entry in metadata.state_dict_metadata.items():
        path = paths.get(name, (name,))
        if path[0] == optimizer_key:
            flat[name] = _room_for(entry, path, model_state_dict)
    if not flat:
        raise KeyError(f"the checkpoint has nothing under {optimizer_key!r}")
    _load_state_dict(
        flat, storage_reader, planner=planner or DefaultLoadPlanner(flatten_state_dict=False)
    )
    made: dict[Any, Any] = {}
    for name, value in flat.items():
        _put(made, [*paths.get(name, (name,))], value)
    return {key: _listed(value) for key, value in made.items()}


def _room_for(
    entry: TensorStorageMetadata | BytesStorageMetadata, path: Any, params: dict[str, Any]
) -> Any:
    """What is to be filled: as the parameter lies whose name is a step of the path."""
    if isinstance(entry, BytesStorageMetadata):
        return None
    param = next((params[step] for step in path if step in params), None)
    dtype = entry.properties.dtype
    if param is not None and _is_sharded(param) and param.shape == entry.size:
        return taeda.zeros_like(param, dtype=dtype, requires_grad=False)
    return taeda.zeros(entry.size, dtype=dtype)
