"""`quantize_`: linear layers of a model change places with packed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from taeda import Tensor
from taeda.nn import Embedding, Linear, Module, UninitializedParameter
from taeda.nn.parameter import is_lazy

from ._config import Int4WeightOnly, Int8WeightOnly
from ._eligible import Places, label_of, reason
from ._measure import error_of, times_of
from ._modules import PackedModule
from ._pack import Packed, Unpackable
from ._report import Report, Row

__all__ = ["quantize_"]

_Config = Int8WeightOnly | Int4WeightOnly
_Filter = Callable[[Module, str], bool]


def quantize_(
    model: Module, config: _Config, filter_fn: _Filter | None = None, *, measure: bool = True
) -> Report:
    """Replace the linear layers of `model`, in place, by layers with packed weights; say what it brought.

    Args:
        model: a module; it is changed, and nothing of it before all layers are packed.
        config: what `int8_weight_only` or `int4_weight_only` gives.
        filter_fn: called with a linear layer and its name; false leaves it as it is (default:
            None).
        measure: time both forms of each layer with one row of input, and leave a layer as it is
            that would not be faster (default: True).

    A layer also stays as it is, and its row says why, if it is not exactly `nn.Linear`, if its rows are
    no multiple of 32 or of a group, if its dtype, device or numbers are not for packing, if it has
    hooks or anything else of its own, or if it shares its weight with what could not read it packed;
    `nn.Embedding` can.

    Raises TypeError for other arguments, and ValueError for a model that is a linear layer itself.

    >>> model = taeda.nn.Sequential(taeda.nn.Linear(64, 64), taeda.nn.ReLU())
    >>> report = quantize_(model, taeda.quantization.int8_weight_only(), measure=False)
    >>> report.rows[0].kind, report.rows[0].bytes_before, report.rows[0].bytes_after
    ('int8', 16384, 4224)
    >>> model[0]
    Int8Linear(in_features=64, out_features=64, bias=True, group_size=64)
    """
    _check(model, config, filter_fn)
    before = _bytes_of(model)
    places = Places(model)
    made: dict[int, Module] = {}
    rows = []
    for name, linear in model.named_modules():
        if isinstance(linear, Linear) and id(linear) not in made:
            row, modules = _one(name, linear, config, filter_fn, measure, places)
            rows.append(row)
            made.update(modules)
    _put(model, made)
    return Report(tuple(rows), before, _bytes_of(model))


def _check(model: object, config: object, filter_fn: object) -> None:
    if not isinstance(model, Module):
        raise TypeError(f"quantize_: model must be an nn.Module, not {type(model).__name__}")
    if not isinstance(config, (Int8WeightOnly, Int4WeightOnly)):
        raise TypeError(
            "quantize_: config must be what int8_weight_only() or int4_weight_only() gives, not "
            f"{config!r}"
        )
    if filter_fn is not None and not callable(filter_fn):
        raise TypeError(f"quantize_: filter_fn must be a function or None, not {filter_fn!r}")
    if isinstance(model, Linear):
        raise ValueError(
            "quantize_ replaces layers inside a model, and this model is a linear layer itself: give "
            "nn.Sequential(model)"
        )


def _tensors(model: Module) -> Iterable[Tensor]:
    yield from model.parameters()
    yield from model.buffers()


def _bytes_of(model: Module) -> int:
    """Parameters and buffers, each memory once; those of lazy modules have none yet."""
    given = (t for t in _tensors(model) if not is_lazy(t))
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in given}
    return sum(storages.values())


def _nbytes(parts: Iterable[Tensor | None]) -> int:
    return sum(part.nbytes for part in parts if part is not None)


# ---- one layer ----


def _one(
    name: str,
    linear: Linear,
    config: _Config,
    filter_fn: _Filter | None,
    measure: bool,
    places: Places,
) -> tuple[Row, dict[int, Module]]:
    """The row of a layer, and what takes the place of which module."""
    owners = places.of(linear._parameters.get("weight"))
    label, why = label_of(name, linear, owners), reason(linear, owners)
    size = 0 if isinstance(linear.weight, UninitializedParameter) else linear.weight.nbytes
    if not why and filter_fn is not None and not filter_fn(linear, name):
        why = "left out by filter_fn"
    if why:
        return Row(label, "float", size, size, note=why), {}
    try:
        packed = config.pack(linear.weight.detach())
    except Unpackable as error:
        return Row(label, "float", size, size, note=str(error)), {}
    made = {id(owner.module): _layer(owner.module, packed, config) for owner in owners}
    return _measured(label, linear, made, packed, config, measure)


def _measured(
    label: str,
    linear: Linear,
    made: dict[int, Module],
    packed: Packed,
    config: _Config,
    measure: bool,
) -> tuple[Row, dict[int, Module]]:
    mine, size = made[id(linear)], linear.weight.nbytes
    error = error_of(linear, mine)
    before, after = times_of(linear, mine) if measure else (None, None)
    if before is not None and after is not None and after >= before:
        note = "packed it is no faster"
        return Row(label, "float", size, size, error, before, after, note), {}
    note = "one packed weight for all" if len(made) > 1 else ""
    return Row(label, config.name, size, _nbytes(packed), error, before, after, note), made


def _layer(module: Module, packed: Packed, config: _Config) -> Module:
    made: PackedModule
    if isinstance(module, Linear):
        made = config.linear(module.out_features, module.in_features, packed, module.bias)
    else:
        assert isinstance(module, Embedding)
        made = config.embedding(
            module.num_embeddings,
            module.embedding_dim,
            packed,
            module.padding_idx,
            module.weight.dtype,
        )
    return made.train(module.training)


def _put(model: Module, made: dict[int, Module]) -> None:
    """Every place of a module gets what is made for it."""
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):
            if child is not None and id(child) in made:
                setattr(parent, name, made[id(child)])
