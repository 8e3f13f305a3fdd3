"""Where a quantized model differs from the float one it was made of, layer by layer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import Identity, Module

from ._parts import is_quantized, parts_of
from ._report import table

__all__ = ["Comparison", "Difference", "compare", "error_between", "inputs_of", "pairs_of"]

#: (name, the float layer, the quantized one)
Pair = tuple[str, Module, Module]


@dataclass(frozen=True)
class Difference:
    """A layer in both models.

    Args:
        layer: its name in both.
        kind: the class of the quantized layer.
        error: root mean square of the differences of its results, over that of the float results. What layers
            before it brought counts.
        bytes_float, bytes_quantized: of what it saves; their difference is what leaving it float would cost.
        ms_float, ms_quantized: milliseconds in it for all data.

    >>> row = Difference("fc", "Int8Linear", 0.004, 16384, 4224, 1.5, 0.5)
    >>> row.bytes_float - row.bytes_quantized
    12160
    """

    layer: str
    kind: str
    error: float
    bytes_float: int
    bytes_quantized: int
    ms_float: float
    ms_quantized: float


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns; `str()` is a table.

    Args:
        rows: a row for each layer that differs, in the order of the model.
        error: that of the results of the whole model.

    >>> rows = [Difference(name, "Int8Linear", error, 16384, 4224, 1.5, 0.5)
    ...         for name, error in (("first", 0.004), ("last", 0.02))]
    >>> [row.layer for row in Comparison(tuple(rows), 0.021).worst(1)]
    ['last']
    """

    rows: tuple[Difference, ...]
    error: float

    def worst(self, count: int = 5) -> tuple[Difference, ...]:
        """The layers of the largest errors, the largest first.

        Args:
            count: how many at most.
        """
        return tuple(sorted(self.rows, key=lambda row: -row.error)[:count])

    def __str__(self) -> str:
        head = ("layer", "kind", "error", "bytes", "as float", "ms", "as float")
        cells = [
            (
                row.layer, row.kind, f"{row.error:.1e}", f"{row.bytes_quantized:,}", f"{row.bytes_float:,}",
                f"{row.ms_quantized:.3f}", f"{row.ms_float:.3f}",
            )
            for row in self.rows
        ]  # fmt: skip
        return "\n".join([*table([head, *cells], range(2, 7)), f"model: error {self.error:.1e}"])


def compare(model: Module, quantized: Module, data: Iterable[Any]) -> Comparison:
    """Run both models on the same data, and compare the results of each layer that differs.

    Args:
        model: the float model, its layers fused as those of `quantized` are.
        quantized: what `quantize_`, `convert` or `quantize_dynamic` made of a copy of it.
        data: inputs: a tensor each, or a tuple of arguments.

    Returns a `Comparison`. Raises TypeError for what is no module, and ValueError for no data, for a model in
    training mode, for models without layers that differ, and for a float model that was not fused.

    >>> import copy
    >>> from taeda import nn
    >>> model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).eval()
    >>> small = copy.deepcopy(model)
    >>> report = taeda.quantization.quantize_(
    ...     small, taeda.quantization.int8_weight_only(), measure=False
    ... )
    >>> found = compare(model, small, [taeda.ones(4, 64)])
    >>> [row.layer for row in found.rows], found.error < 0.05
    (['0', '2'], True)
    """
    pairs, batches = pairs_of(model, quantized), inputs_of(data)
    sums: dict[str, list[float]] = {name: [0.0, 0.0] for name, _, _ in pairs}
    spent: list[dict[str, float]] = [dict.fromkeys(sums, 0.0), dict.fromkeys(sums, 0.0)]
    total = [0.0, 0.0]
    for batch in batches:
        wanted, first = _watched(
            model, [(name, plain) for name, plain, _ in pairs], batch, spent[0]
        )
        got, second = _watched(
            quantized, [(name, small) for name, _, small in pairs], batch, spent[1]
        )
        _add(total, wanted, got, "the model")
        for name in sums:
            for plain, small in zip(first[name], second[name], strict=True):
                _add(sums[name], plain, small, f"layer {name!r}")
    rows = tuple(
        Difference(
            name,
            type(small).__name__,
            _share(sums[name]),
            bytes_of(plain),
            bytes_of(small),
            spent[0][name] * 1e3,
            spent[1][name] * 1e3,
        )
        for name, plain, small in pairs
    )
    return Comparison(rows, _share(total))


# ---- layers in both ----


def pairs_of(model: Module, quantized: Module) -> list[Pair]:
    """Layers of one name and two classes; layers inside of such a layer are not looked at."""
    for given in (model, quantized):
        if not isinstance(given, Module):
            raise TypeError(f"wanted two models, but got {type(given).__name__}")
        if given.training:
            raise ValueError("a model in training mode gives other results each time: call eval()")
    floats, found = dict(model.named_modules()), list[Pair]()
    for name, small in quantized.named_modules():
        plain = floats.get(name)
        inside = any(name.startswith(f"{other}.") for other, _, _ in found)
        if plain is None or inside or type(plain) is type(small) or not name:
            continue
        _check_fused(name, plain, small)
        if type(small).__name__ not in ("Quantize", "DeQuantize"):
            found.append((name, plain, small))
    if not found:
        raise ValueError(
            "the models have no layers of one name and two classes: give the float model, and what was made "
            "of a copy of it"
        )
    return found


def _check_fused(name: str, plain: Module, small: Module) -> None:
    joined = getattr(small, "_relu", False) and not any(True for _ in plain.children())
    if isinstance(small, Identity) or joined:
        raise ValueError(
            f"layer {name!r} is a {type(plain).__name__} in one model, and joined with its neighbours in the "
            "other: give the float model as fuse_modules made it"
        )


def inputs_of(data: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The arguments of each call."""
    found = [item if isinstance(item, tuple) else (item,) for item in data]
    if not found:
        raise ValueError("the data has no inputs to compare with")
    return found


# ---- one run ----


def _watched(
    model: Module, layers: list[tuple[str, Module]], batch: tuple[Any, ...], spent: dict[str, float]
) -> tuple[Any, dict[str, list[Any]]]:
    """The model's result, and those of the layers at each call; their seconds are added to `spent`."""
    results: dict[str, list[Any]] = {name: [] for name, _ in layers}
    begun: dict[str, float] = {}

    def before(name: str) -> Callable[..., None]:
        return lambda *_: begun.__setitem__(name, time.perf_counter())

    def after(name: str) -> Callable[..., None]:
        def hook(module: Module, given: Any, result: Any) -> None:
            spent[name] += time.perf_counter() - begun[name]
            results[name].append(result)

        return hook

    handles = [layer.register_forward_pre_hook(before(name)) for name, layer in layers]
    handles += [layer.register_forward_hook(after(name)) for name, layer in layers]
    try:
        with taeda.no_grad():
            return model(*batch), results
    finally:
        for handle in handles:
            handle.remove()


def _first(result: Any) -> Tensor:
    while isinstance(result, (tuple, list)) and result:
        result = result[0]
    if not isinstance(result, Tensor):
        raise ValueError(f"wanted a tensor as result, but got {type(result).__name__}")
    floats: Tensor = result.dequantize() if is_quantized(result) else result
    return floats.double()


def _add(sums: list[float], wanted: Any, got: Any, what: str) -> None:
    """Squares of the differences, and of what was wanted."""
    plain, small = _first(wanted), _first(got)
    if plain.shape != small.shape:
        raise ValueError(
            f"{what} gives {tuple(plain.shape)} in one model and {tuple(small.shape)} in the other"
        )
    sums[0] += float((plain - small).square().sum())
    sums[1] += float(plain.square().sum())


def _share(sums: list[float]) -> float:
    if sums[1]:
        return float((sums[0] / sums[1]) ** 0.5)
    return 0.0 if not sums[0] else float("inf")


def error_between(model: Module, other: Module, batches: list[tuple[Any, ...]]) -> float:
    """Root mean square of the differences of two models' results, over that of the first one's."""
    total = [0.0, 0.0]
    with taeda.no_grad():
        for batch in batches:
            _add(total, model(*batch), other(*batch), "the model")
    return _share(total)


# ---- what a layer saves ----


def bytes_of(layer: Module) -> int:
    """Bytes of a layer's state dict, numbers of quantized tensors as they are saved."""
    return sum(_nbytes(value) for value in layer.state_dict().values())


def _nbytes(value: Any) -> int:
    if isinstance(value, (tuple, list)):
        return sum(map(_nbytes, value))
    return sum(part.nbytes for part in _plain(value)) if isinstance(value, Tensor) else 0


def _plain(value: Tensor) -> Iterator[Tensor]:
    if not is_quantized(value):
        yield value
        return
    yield from parts_of(value, "compare").saved()[0]
