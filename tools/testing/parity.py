"""Evaluate one expression under taeda and under torch and compare everything a program could see.

An expression is Python text in which `t` is the library, `F` its nn.functional, and single letters
are tensors. The comparison covers values, dtype, shape, strides, and the gradient of every
floating-point input; a refusal must be of the same type in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

import taeda

__all__ = ["compare", "evaluate", "to_taeda", "to_torch"]

# numpy has no such types: their bits travel as integers.
BITS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
TOLERANCE = {
    "float64": 1e-11,
    "float32": 2e-5,
    "complex128": 1e-11,
    "complex64": 2e-5,
    "bfloat16": 2e-2,
    "float16": 3e-3,
}


def name_of(dtype: Any) -> str:
    """`float32` for either library's dtype object."""
    return str(dtype).partition(".")[2]


def to_taeda(x: torch.Tensor) -> taeda.Tensor:
    """The same numbers, dtype and strides, without history."""
    x = x.detach()
    name = name_of(x.dtype)
    bits = x.view(getattr(torch, BITS[name])) if name in BITS else x
    y = taeda.from_numpy(bits.numpy().copy(order="K"))
    y = y.view(getattr(taeda, name)) if name in BITS else y
    return y if y.stride() == tuple(x.stride()) else _strided(y, x)


def _strided(y: taeda.Tensor, x: torch.Tensor) -> taeda.Tensor:
    """`y` with the strides of `x`: numpy's copy drops the ones of expanded and stepped tensors."""
    size = (
        1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride(), strict=True)) if x.numel() else 0
    )
    base = taeda.zeros(size, dtype=y.dtype)
    view = base.as_strided(tuple(x.shape), tuple(x.stride()))
    if 0 in x.stride():
        keep = tuple(slice(0, 1) if s == 0 else slice(None) for s in x.stride())
        view[keep].copy_(y[keep])
    else:
        view.copy_(y)
    return view


def to_torch(x: taeda.Tensor) -> torch.Tensor:
    """The numbers and the dtype."""
    x = x.detach()
    if x.is_conj():
        x = x.resolve_conj()
    if x.is_neg():
        x = x.resolve_neg()
    name = name_of(x.dtype)
    bits = x.contiguous().view(getattr(taeda, BITS[name])) if name in BITS else x
    y = torch.from_numpy(np.array(bits.numpy()))
    return y.view(getattr(torch, name)) if name in BITS else y


def evaluate(text: str, library: Any, inputs: Mapping[str, Any]) -> Any:
    """The value of the expression, or the exception that it raised."""
    names = {"t": library, "F": library.nn.functional, "nn": library.nn, **inputs}
    try:
        return eval(text, names)
    except Exception as error:  # noqa: BLE001 - a refusal is a result here and is compared
        return error


def compare(
    text: str,
    inputs: Mapping[str, torch.Tensor],
    *,
    gradient: bool = True,
    loose: float = 1.0,
    strides: bool = True,
    refusals: bool = True,
) -> None:
    """AssertionError with the first difference, if there is one.

    `loose` widens the tolerance; without `strides` the layout, without `refusals` the type of an
    exception may differ.
    """
    differentiable = {
        n for n, x in inputs.items() if gradient and (x.is_floating_point() or x.is_complex())
    }
    ours_in = {n: to_taeda(x).requires_grad_(n in differentiable) for n, x in inputs.items()}
    theirs_in = {n: x.detach().requires_grad_(n in differentiable) for n, x in inputs.items()}
    theirs, ours = evaluate(text, torch, theirs_in), evaluate(text, taeda, ours_in)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        _same_refusal(text, ours, theirs, refusals)
        return
    _same(text, ours, theirs, loose, strides)
    if differentiable:
        _same_gradients(text, (ours, ours_in), (theirs, theirs_in), differentiable, loose)


def _same_refusal(text: str, ours: Any, theirs: Any, types: bool = True) -> None:
    if not isinstance(ours, Exception) and _is_gap(theirs):
        return
    assert isinstance(theirs, Exception), f"{text}: torch gives a result, we raise {ours!r}"
    assert isinstance(ours, Exception), f"{text}: torch raises {theirs!r}, we give {ours!r}"
    documented = (IndexError, TypeError, ValueError, NotImplementedError, RuntimeError)
    wanted = next((kind for kind in documented if isinstance(theirs, kind)), type(theirs))
    assert not types or isinstance(ours, wanted), (
        f"{text}: torch raises {theirs!r}, we raise {ours!r}"
    )


def _is_gap(error: Exception) -> bool:
    """Does torch refuse only because it has no kernel or no derivative for this? Then we may have one."""
    words = ("not implemented", "not differentiable", "is not supported for")
    return isinstance(error, NotImplementedError) or any(word in str(error) for word in words)


def _same(text: str, ours: Any, theirs: Any, loose: float, strides: bool) -> None:
    if isinstance(theirs, torch.Tensor):
        assert isinstance(ours, taeda.Tensor), f"{text}: torch gives a tensor, we give {type(ours)}"
        _same_tensor(text, ours, theirs, loose, strides)
    elif isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs), f"{text}: {len(ours)} results, torch has {len(theirs)}"
        for one, other in zip(ours, theirs, strict=True):
            _same(text, one, other, loose, strides)
    elif isinstance(theirs, float):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5 * loose, err_msg=text)
    elif isinstance(theirs, torch.dtype):
        assert name_of(ours) == name_of(theirs), f"{text}: {ours}, torch {theirs}"
    else:
        assert type(ours) is type(theirs), f"{text}: we give {ours!r}, torch {theirs!r}"
        assert ours == theirs, f"{text}: we give {ours!r}, torch {theirs!r}"


def _same_tensor(
    text: str, ours: taeda.Tensor, theirs: torch.Tensor, loose: float, strides: bool
) -> None:
    def facts(x: Any) -> tuple[object, ...]:
        return name_of(x.dtype), tuple(x.shape), x.device.type, x.requires_grad

    assert facts(ours) == facts(theirs), f"{text}: we have {facts(ours)}, torch {facts(theirs)}"
    if strides and theirs.numel():
        assert _strides(ours) == _strides(theirs), (
            f"{text}: strides {ours.stride()}, torch {theirs.stride()}"
        )
    if theirs.device.type == "cpu":
        _close(text, to_torch(ours), theirs.detach().resolve_conj().resolve_neg(), loose)


def _strides(x: Any) -> list[int]:
    """Strides that matter: the one of a dimension of size 1 is free."""
    return [stride for size, stride in zip(x.shape, x.stride(), strict=True) if size > 1]


def _close(text: str, ours: torch.Tensor, theirs: torch.Tensor, loose: float) -> None:
    if not (theirs.is_floating_point() or theirs.is_complex()):
        assert torch.equal(ours, theirs), f"{text}: we have {ours}, torch {theirs}"
        return
    tolerance = TOLERANCE.get(name_of(theirs.dtype), 0.0) * loose
    if name_of(theirs.dtype).startswith("float8"):
        ours, theirs, tolerance = ours.float(), theirs.float(), 0.13
    scale = (
        theirs[torch.isfinite(theirs)].abs().max().item() if torch.isfinite(theirs).any() else 1.0
    )
    torch.testing.assert_close(
        ours,
        theirs,
        rtol=tolerance,
        atol=tolerance * min(max(scale, 1e-3), 1e3),
        equal_nan=True,
        msg=lambda said: f"{text}: {said}",
    )


def _same_gradients(text: str, ours: Any, theirs: Any, names: set[str], loose: float) -> None:
    """Send the same cotangents through both and compare what arrives at each input."""
    pairs = [
        pair
        for pair in zip(_tensors(ours[0]), _tensors(theirs[0]), strict=True)
        if pair[1].requires_grad
    ]
    if not pairs:
        return
    generator = torch.Generator().manual_seed(1)
    weights = [
        torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x.dtype) for _, x in pairs
    ]
    order = sorted(names)
    expected = _gradients(torch, [x for _, x in pairs], [theirs[1][n] for n in order], weights)
    found = _gradients(
        taeda, [x for x, _ in pairs], [ours[1][n] for n in order], [to_taeda(w) for w in weights]
    )
    if isinstance(expected, Exception) or isinstance(found, Exception):
        _same_refusal(f"{text}, gradient", found, expected)
        return
    for name, mine, other in zip(order, found, expected, strict=True):
        where = f"{text}, gradient of {name}"
        assert (mine is None) == (other is None), f"{where}: we have {mine}, torch {other}"
        if other is not None:
            assert tuple(mine.shape) == tuple(other.shape), (
                f"{where}: {mine.shape}, torch {other.shape}"
            )
            assert name_of(mine.dtype) == name_of(other.dtype), (
                f"{where}: {mine.dtype}, torch {other.dtype}"
            )
            _close(where, to_torch(mine), other.resolve_conj().resolve_neg(), 4 * loose)


def _gradients(library: Any, outputs: list[Any], inputs: list[Any], weights: list[Any]) -> Any:
    try:
        return library.autograd.grad(outputs, inputs, weights, allow_unused=True)
    except RuntimeError as error:
        return error


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in _tensors(part)]
    return [value] if isinstance(value, (torch.Tensor, taeda.Tensor)) else []
