"""assert_close: equality up to a tolerance, of tensors, arrays, numbers and containers of those."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import taeda
from taeda import Tensor
from taeda._warnings import warn

from ._comparison_parts import Difference, is_parted, parts_to_compare

__all__ = ["assert_allclose", "assert_close"]

Path = tuple[Any, ...]
Message = str | Callable[[str], str] | None

# (rtol, atol) by dtype; 0 for all others
_TOLERANCES = {
    taeda.float16: (1e-3, 1e-5),
    taeda.bfloat16: (1.6e-2, 1e-5),
    taeda.float32: (1.3e-6, 1e-5),
    taeda.float64: (1e-7, 1e-7),
    taeda.complex32: (1e-3, 1e-5),
    taeda.complex64: (1.3e-6, 1e-5),
    taeda.complex128: (1e-7, 1e-7),
}
_NUMBER_DTYPES = {int: taeda.int64, float: taeda.float64, complex: taeda.complex128}


@dataclass(frozen=True)
class _Rules:
    """What the caller asked for."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, *dtypes: Any) -> tuple[float, float]:
        """(rtol, atol): those asked for, or the larger of the dtypes'."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        known = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max(rtol for rtol, _ in known), max(atol for _, atol in known)


class _Mismatch(Exception):
    """The first difference found: a text, and the way to it through the containers."""

    def __init__(self, text: str, path: Path) -> None:
        super().__init__(text)
        self.text, self.path = text, path

    def full_text(self) -> str:
        if not self.path:
            return self.text
        place = "".join(str([key]) for key in self.path)
        return f"{self.text}\n\nThe failure occurred for item {place}"


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless `actual` equals `expected`: |a - e| <= atol + rtol * |e|.

    Tensors, arrays, numbers, None, and sequences and mappings of them. Without rtol and atol (give
    both or neither) the tolerances depend on the dtype, and are 0 for integers. Device, dtype and
    layout must agree too, unless the check is switched off. Of sparse tensors the stored elements are
    compared (of COO coalesced), of nested ones each tensor, of masked ones what counts. `msg` replaces
    the message, or is
    called with it. TypeError for other types, and for pairs of unrelated ones.

    >>> assert_close(taeda.tensor([1.0, 2.0]), taeda.tensor([1.0, 2.0 + 1e-7]))
    """
    if (rtol is None) != (atol is None):
        lacking = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {lacking}."
        )
    rules = _Rules(
        allow_subclasses,
        rtol,
        atol,
        equal_nan,
        check_device,
        check_dtype,
        check_layout,
        check_stride,
    )
    try:
        for pair in list(_pairs(actual, expected, (), rules)):
            _compare(*pair, rules)
    except _Mismatch as found:
        text = found.full_text()
        raise AssertionError(_worded(msg, text)) from None


def _worded(msg: Message, text: str) -> str:
    if isinstance(msg, str):
        return msg
    return msg(text) if msg is not None else text


# ---- which things are compared with which ----


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def _pairs(
    actual: Any, expected: Any, path: Path, rules: _Rules
) -> Iterator[tuple[Any, Any, Path]]:
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise _Mismatch(text, path)
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            yield from _pairs(a, e, (*path, i), rules)
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        _check_keys(actual, expected, path)
        for key in _sorted(actual):
            yield from _pairs(actual[key], expected[key], (*path, key), rules)
    else:
        _check_types(actual, expected, path, rules)
        yield actual, expected, path


def _check_keys(actual: Mapping[Any, Any], expected: Mapping[Any, Any], path: Path) -> None:
    missing, additional = expected.keys() - actual.keys(), actual.keys() - expected.keys()
    if missing or additional:
        raise _Mismatch(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {_sorted(missing)}\n"
            f"Additional keys in the actual mapping: {_sorted(additional)}",
            path,
        )


def _sorted(keys: Any) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:  # keys without an order
        return list(keys)


def _kind(value: Any) -> str | None:
    if value is None:
        return "none"
    if isinstance(value, Tensor):
        return "tensor"
    if isinstance(value, (int, float, complex)):
        return "number"
    if type(value).__module__ == "numpy" and hasattr(value, "dtype"):
        return "array" if type(value).__name__ == "ndarray" else "number"
    return None


def _check_types(actual: Any, expected: Any, path: Path, rules: _Rules) -> None:
    a, e = _kind(actual), _kind(expected)
    comparable = a is not None and (a == e or (e is not None and "none" in (a, e)))
    if a == e == "tensor":
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        comparable = type(actual) is type(expected) or (rules.allow_subclasses and related)
    if not comparable:
        text = "No comparison pair was able to handle inputs of type "
        text += f"{type(actual)} and {type(expected)}."
        raise TypeError(_Mismatch(text, path).full_text())


def _compare(actual: Any, expected: Any, path: Path, rules: _Rules) -> None:
    kind = _kind(expected)
    if actual is None or expected is None:
        if actual is not expected:
            raise _Mismatch(f"None mismatch: {actual} is not {expected}", path)
    elif kind == "number":
        _compare_numbers(_number(actual), _number(expected), path, rules)
    elif kind == "array":
        _compare_tensors(taeda.as_tensor(actual), taeda.as_tensor(expected), path, rules)
    else:
        _compare_tensors(actual.detach(), expected.detach(), path, rules)


# ---- numbers ----


def _number(value: Any) -> Any:
    """A plain Python number of one of numpy's."""
    return value.item() if hasattr(value, "dtype") else value


def _compare_numbers(actual: Any, expected: Any, path: Path, rules: _Rules) -> None:
    if isinstance(actual, bool) and isinstance(expected, bool):
        if actual is not expected:
            raise _Mismatch(f"Booleans mismatch: {actual} is not {expected}", path)
        return
    if rules.check_dtype and type(actual) is not type(expected):
        text = f"The (d)types do not match: {type(actual)} != {type(expected)}."
        raise _Mismatch(text, path)
    rtol, atol = rules.tolerances(*(_NUMBER_DTYPES.get(type(n)) for n in (actual, expected)))
    if actual == expected or _close(actual, expected, rtol, atol, rules.equal_nan):
        return
    raise _Mismatch(_scalar_text(actual, expected, rtol, atol), path)


def _close(a: Any, e: Any, rtol: float, atol: float, equal_nan: bool) -> bool:
    if equal_nan and cmath.isnan(a) and cmath.isnan(e):
        return True
    difference = abs(a - e)
    return cmath.isfinite(difference) and difference <= atol + rtol * abs(e)


def _scalar_text(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    exact = rtol == 0 and atol == 0
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected != 0 else float("inf")
    allowed = ["", ""] if exact else [f" (up to {atol} allowed)", f" (up to {rtol} allowed)"]
    return (
        f"Scalars are not {'equal' if exact else 'close'}!\n\n"
        f"Expected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{allowed[0]}\n"
        f"Relative difference: {relative}{allowed[1]}"
    )


# ---- tensors ----


def _compare_tensors(actual: Tensor, expected: Tensor, path: Path, rules: _Rules) -> None:
    _check_attributes(actual, expected, path, rules)
    if is_parted(actual) or is_parted(expected):
        return _compare_parts(actual, expected, path, rules)
    return _compare_elements(actual, expected, path, rules, "Tensor-likes")


def _compare_parts(actual: Tensor, expected: Tensor, path: Path, rules: _Rules) -> None:
    """One part after the other; indices and masks have to be equal."""
    try:
        parts = parts_to_compare(actual, expected)
    except Difference as found:
        raise _Mismatch(str(found), path) from None
    for what, a, e, is_exact in parts:
        # dtypes of indices may differ; of values those of the tensors, which were looked at
        own = replace(rules, check_dtype=False, check_stride=False)
        own = replace(own, rtol=0.0, atol=0.0) if is_exact else own
        _check_attributes(a, e, path, own, f" of {what}")
        _compare_elements(a, e, path, own, what)


def _compare_elements(
    actual: Tensor, expected: Tensor, path: Path, rules: _Rules, what: str
) -> None:
    if "meta" in (actual.device.type, expected.device.type):
        return
    actual, expected = (x.dequantize() if x.is_quantized else x for x in (actual, expected))
    rtol, atol = rules.tolerances(actual.dtype, expected.dtype)
    a, e = _in_one_dtype(actual.resolve_conj(), expected.resolve_conj())
    matches = _elementwise_close(a, e, rtol, atol, rules.equal_nan)
    if bool(matches.all()):
        return
    if a.ndim == 0:
        shown = (actual, expected) if actual.dtype == expected.dtype else (a, e)
        raise _Mismatch(_scalar_text(shown[0].item(), shown[1].item(), rtol, atol), path)
    raise _Mismatch(_tensor_text(a, e, matches, rtol, atol, what), path)


def _check_attributes(
    actual: Tensor, expected: Tensor, path: Path, rules: _Rules, of: str = ""
) -> None:
    nested = actual.is_nested or expected.is_nested  # their shapes are those of their tensors
    strided = not (is_parted(actual) or is_parted(expected))
    facts: tuple[tuple[str, bool, Callable[[Tensor], Any]], ...] = (
        ("is_nested", True, lambda x: x.is_nested),
        ("shape", not nested, lambda x: x.shape),
        ("layout", rules.check_layout, lambda x: x.layout),
        ("device", rules.check_device, lambda x: x.device),
        ("dtype", rules.check_dtype, lambda x: x.dtype),
        ("stride()", rules.check_stride and strided, lambda x: x.stride()),
    )
    for name, checked, fact in facts:
        if checked and fact(actual) != fact(expected):
            text = f"The values for attribute '{name}'{of} do not match: "
            raise _Mismatch(f"{text}{fact(actual)} != {fact(expected)}.", path)


def _in_one_dtype(actual: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
    """Both in their common dtype; those that cannot be computed with in a wider one."""
    if actual.dtype != expected.dtype:
        common = taeda.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
    wider = _WIDER.get(str(actual.dtype).rpartition(".")[2])
    return (actual, expected) if wider is None else (actual.to(wider), expected.to(wider))


_WIDER = {
    "float8_e4m3fn": taeda.float32,
    "float8_e4m3fnuz": taeda.float32,
    "float8_e5m2": taeda.float32,
    "float8_e5m2fnuz": taeda.float32,
    "uint16": taeda.int64,
    "uint32": taeda.int64,
    "complex32": taeda.complex64,
    "bool": taeda.int64,
    "uint8": taeda.int64,
    "int8": taeda.int64,
    "int16": taeda.int64,
    "int32": taeda.int64,
}


def _elementwise_close(a: Tensor, e: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    close = a == e
    if equal_nan and (a.is_floating_point() or a.is_complex()):
        close = close | ((a != a) & (e != e))
    if rtol == 0 and atol == 0:
        return close
    if not (a.is_floating_point() or a.is_complex()):
        a, e = a.to(taeda.float64), e.to(taeda.float64)
    difference = (a - e).abs()
    finite = difference < float("inf")  # also leaves out nan
    return close | (finite & (difference <= e.abs() * rtol + atol))


def _tensor_text(a: Tensor, e: Tensor, matches: Tensor, rtol: float, atol: float, what: str) -> str:
    exact = rtol == 0 and atol == 0
    wrong, total = int((~matches).sum().item()), a.numel()
    difference, relative = _differences(a.flatten(), e.flatten())
    lines = [
        f"{what} are not {'equal' if exact else 'close'}!\n",
        f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})",
    ]
    for name, values, allowed in (
        ("absolute", difference, atol),
        ("relative", relative, rtol),
    ):
        where = _argmax(values.masked_fill(matches.flatten(), 0))
        place = _unravel(where, tuple(a.shape))
        limit = "" if exact else f" (up to {allowed} allowed)"
        value = _greatest(a, e, values, where, name)
        lines.append(f"Greatest {name} difference: {value} at index {place}{limit}")
    return "\n".join(lines)


def _differences(a: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
    if a.is_floating_point() or a.is_complex():
        difference = (a - e).abs()
        return difference, difference / e.abs()
    difference = (a.to(taeda.float64) - e.to(taeda.float64)).abs()  # cannot overflow
    return difference, difference.to(taeda.float32) / e.to(taeda.float32).abs()


def _argmax(values: Tensor) -> int:
    """Where the largest value is; a nan counts as the largest."""
    return int(values.argmax().item())


def _greatest(a: Tensor, e: Tensor, values: Tensor, where: int, name: str) -> Any:
    if name == "absolute" and not (a.is_floating_point() or a.is_complex()):
        return abs(a.flatten()[where].item() - e.flatten()[where].item())  # exact
    return values[where].item()


def _unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    place = []
    for size in reversed(shape):
        flat, rest = divmod(flat, size)
        place.append(rest)
    return tuple(reversed(place))


_LOOSER = {taeda.float16: (1e-3, 1e-3), taeda.float32: (1e-4, 1e-5), taeda.float64: (1e-5, 1e-8)}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older, looser form of `assert_close`: dtypes may differ, NaN equals NaN, numbers and
    lists become tensors. Warns.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     taeda.testing.assert_allclose([1.0, 2.0], taeda.tensor([1, 2]))
    """
    warn(
        "assert_allclose is the older form and will be removed: use taeda.testing.assert_close, "
        "which also compares dtypes",
        FutureWarning,
    )
    actual = actual if isinstance(actual, Tensor) else taeda.tensor(actual)
    expected = (
        expected if isinstance(expected, Tensor) else taeda.tensor(expected, dtype=actual.dtype)
    )
    if rtol is None and atol is None:
        both = (_LOOSER.get(t.dtype, (0.0, 0.0)) for t in (actual, expected))
        rtol, atol = map(max, zip(*both, strict=True))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )
