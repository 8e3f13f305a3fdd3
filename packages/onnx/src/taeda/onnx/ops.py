"""Operators of ONNX as functions of a program: any by its name, and two that compute.

`symbolic` puts an operator into the model that has no counterpart here, so what it gives in Python is
zeros: ask `is_in_onnx_export()` before. `rotary_embedding` and `attention` compute what ONNX says of
them (github.com/onnx/onnx, docs/Operators.md, opset 23), and are one operator in a model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.library import Library, register_fake

from ._dtypes import CODES

__all__ = ["attention", "rotary_embedding", "symbolic", "symbolic_multi_out"]

_DTYPES = {number: dtype for dtype, number in CODES.items()}
_KINDS = (bool, int, float, str)
Attributes = Mapping[str, Any]

_library = Library("onnx_symbolic", "DEF")
_library.define(
    "_symbolic(Tensor?[] inputs, str kind, str said, *, SymInt[] shape, int dtype) -> Tensor"
)
_library.define(
    "_symbolic_multi_out(Tensor?[] inputs, str kind, str said, *, SymInt[] sizes, int[] ranks, "
    "int[] dtypes) -> Tensor[]"
)
_onnx = Library("onnx", "DEF")
_onnx.define(
    "RotaryEmbedding(Tensor X, Tensor cos_cache, Tensor sin_cache, Tensor? position_ids=None, *, "
    "bool interleaved=False, int num_heads=0, int rotary_embedding_dim=0) -> Tensor"
)
_onnx.define(
    "Attention(Tensor Q, Tensor K, Tensor V, Tensor? attn_mask=None, Tensor? past_key=None, "
    "Tensor? past_value=None, *, bool is_causal=False, int kv_num_heads=0, int q_num_heads=0, "
    "int qk_matmul_output_mode=0, float? scale=None, float softcap=0.0, "
    "int? softmax_precision=None) -> (Tensor, Tensor, Tensor, Tensor)"
)


# ---- any operator ----


def symbolic(
    domain_op: str,
    /,
    inputs: Sequence[Tensor | None],
    attrs: Attributes | None = None,
    *,
    dtype: taeda.dtype | int,
    shape: Sequence[Any],
    version: int | None = None,
    metadata_props: Mapping[str, str] | None = None,
) -> Tensor:
    """The result of the operator `domain::Name` (or `Name` of ONNX itself) with this dtype (or its
    number in ONNX) and these sizes: in a model that operator, and zeros in Python.

    `attrs` are numbers, texts and lists of one kind of them; `version` is that of the domain, and
    `metadata_props` are kept with the operator. ValueError for a name or an attribute that is none.

    >>> import taeda
    >>> symbolic("mine::Op", (taeda.ones(2),), {"k": 1}, dtype=taeda.float32, shape=(3,), version=1)
    tensor([0., 0., 0.])
    """
    said = _said(attrs, version, metadata_props)
    made: Tensor = taeda.ops.onnx_symbolic._symbolic(
        list(inputs), _checked(domain_op), said, shape=list(shape), dtype=_number(dtype)
    )
    return made


def symbolic_multi_out(
    domain_op: str,
    /,
    inputs: Sequence[Tensor | None],
    attrs: Attributes | None = None,
    *,
    dtypes: Sequence[taeda.dtype | int],
    shapes: Sequence[Sequence[Any]],
    version: int | None = None,
    metadata_props: Mapping[str, str] | None = None,
) -> Sequence[Tensor]:
    """`symbolic` for an operator of several results, each of its dtype and sizes. ValueError for as
    many dtypes as there are not shapes.

    >>> import taeda
    >>> first, second = symbolic_multi_out(
    ...     "mine::Halves", (taeda.ones(4),), dtypes=[taeda.float32, 7], shapes=[(2,), (3,)]
    ... )
    >>> first, second
    (tensor([0., 0.]), tensor([0, 0, 0]))
    """
    if len(dtypes) != len(shapes):
        raise ValueError(f"symbolic_multi_out: {len(dtypes)} dtypes and {len(shapes)} shapes")
    made: Sequence[Tensor] = taeda.ops.onnx_symbolic._symbolic_multi_out(
        list(inputs),
        _checked(domain_op),
        _said(attrs, version, metadata_props),
        sizes=[n for shape in shapes for n in shape],
        ranks=[len(shape) for shape in shapes],
        dtypes=[_number(dtype) for dtype in dtypes],
    )
    return made


def _checked(name: str) -> str:
    domain, sign, kind = name.rpartition("::") if isinstance(name, str) else ("", "", "")
    if not kind.isidentifier() or (sign and not domain):
        raise ValueError(f"symbolic: an operator is named like 'domain::Name', got {name!r:.100}")
    return name


def _number(dtype: taeda.dtype | int) -> int:
    found = CODES.get(dtype) if isinstance(dtype, taeda.dtype) else dtype
    if type(found) is not int or found not in _DTYPES:
        raise ValueError(f"symbolic: ONNX has no type {dtype!r:.100}")
    return found


def _said(attrs: Attributes | None, version: int | None, props: Mapping[str, str] | None) -> str:
    for name, value in (attrs or {}).items():
        entries = list(value) if isinstance(value, list | tuple) else [value]
        kinds = {type(entry) for entry in entries}
        if not isinstance(name, str) or len(kinds) != 1 or not kinds <= set(_KINDS):
            raise ValueError(
                f"symbolic: the attribute {name!r:.60} must be a number, a text or a list of one kind "
                f"of them, got {value!r:.60}"
            )
    return json.dumps({"attrs": dict(attrs or {}), "version": version, "props": dict(props or {})})


def _zeros(inputs: Any, kind: str, said: str, *, shape: Any, dtype: int) -> Tensor:
    device = next((v.device for v in inputs if v is not None), None)
    return taeda.zeros(list(shape), dtype=_DTYPES[dtype], device=device)


def _several(
    inputs: Any, kind: str, said: str, *, sizes: Any, ranks: Any, dtypes: Any
) -> list[Tensor]:
    rest = iter(sizes)
    shapes = [[next(rest) for _ in range(rank)] for rank in ranks]
    pairs = zip(shapes, dtypes, strict=True)
    return [_zeros(inputs, kind, said, shape=s, dtype=d) for s, d in pairs]


# ---- two that compute ----


def rotary_embedding(
    X: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    position_ids: Tensor | None = None,
    *,
    interleaved: bool = False,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    """Pairs of numbers of each head turned by angles: sizes and dtype of `X`.

    `X` is (batch, heads, length, size), or (batch, length, heads * size) with `num_heads`. The caches
    are (positions, half) with `position_ids` (batch, length), else (batch, length, half). Pairs are
    neighbours if `interleaved`, else the first half with the second. `rotary_embedding_dim` numbers
    of a head are turned, all by default. ValueError for sizes that do not fit.

    >>> import taeda
    >>> x = taeda.tensor([[[[1.0, 2.0]]]])
    >>> quarter = taeda.zeros(1, 1, 1), taeda.ones(1, 1, 1)  # cosine and sine
    >>> rotary_embedding(x, *quarter).tolist()
    [[[[-2.0, 1.0]]]]
    """
    if X.dim() not in (3, 4) or (X.dim() == 3 and num_heads <= 0):
        raise ValueError(
            f"rotary_embedding: X has 4 dimensions, or 3 with num_heads, got {list(X.shape)}"
        )
    made: Tensor = taeda.ops.onnx.RotaryEmbedding(
        X,
        cos_cache,
        sin_cache,
        position_ids,
        interleaved=interleaved,
        num_heads=num_heads,
        rotary_embedding_dim=rotary_embedding_dim,
    )
    return made


def _rotated(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    places: Tensor | None = None,
    *,
    interleaved: bool = False,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    apart = x.dim() == 3
    heads = x.unflatten(2, (num_heads, -1)) if apart else x.transpose(1, 2)
    size = rotary_embedding_dim or heads.shape[-1]
    turned, rest = heads[..., :size], heads[..., size:]
    if places is not None:
        cos, sin = cos[places], sin[places]
    cos, sin = cos.unsqueeze(2), sin.unsqueeze(2)
    if interleaved:
        a, b = turned[..., 0::2], turned[..., 1::2]
    else:
        a, b = turned.chunk(2, -1)
    parts = (a * cos - b * sin, a * sin + b * cos)
    joined = taeda.stack(parts, -1).flatten(-2) if interleaved else taeda.cat(parts, -1)
    made = taeda.cat((joined, rest), -1)
    return made.flatten(2) if apart else made.transpose(1, 2).contiguous()


def attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    attn_mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    *,
    is_causal: bool = False,
    kv_num_heads: int = 0,
    q_num_heads: int = 0,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Attention, all keys and values so far, and the scores: Y, present_key, present_value, qk.

    Tensors are (batch, heads, length, size), or (batch, length, heads * size) with both numbers of
    heads; queries have a multiple of the heads of keys. `attn_mask` is added, or lets through where
    it is True. `softcap` squeezes scores into (-softcap, softcap); `softmax_precision` is a number of
    ONNX for the dtype of the softmax. The scores are those of the product (mode 0), with the mask
    (1), squeezed (2), or after the softmax (3). ValueError for other ranks and modes.

    >>> import taeda
    >>> x = taeda.ones(1, 2, 3, 4)
    >>> made, keys, values, scores = attention(x, x, x, is_causal=True, qk_matmul_output_mode=3)
    >>> made.shape, scores[0, 0, 0].tolist()
    (taeda.Size([1, 2, 3, 4]), [1.0, 0.0, 0.0])
    """
    if {Q.dim(), K.dim(), V.dim()} not in ({3}, {4}):
        raise ValueError("attention: Q, K and V have 3 dimensions, or 4, all of them")
    if Q.dim() == 3 and not (q_num_heads > 0 and kv_num_heads > 0):
        raise ValueError("attention: tensors of 3 dimensions need q_num_heads and kv_num_heads")
    if qk_matmul_output_mode not in range(4):
        raise ValueError(f"attention: qk_matmul_output_mode is 0 to 3, got {qk_matmul_output_mode}")
    if softmax_precision is not None and softmax_precision not in _DTYPES:
        raise ValueError(f"attention: no dtype has the number {softmax_precision!r} in ONNX")
    made: tuple[Tensor, Tensor, Tensor, Tensor] = taeda.ops.onnx.Attention(
        Q,
        K,
        V,
        attn_mask,
        past_key,
        past_value,
        is_causal=is_causal,
        kv_num_heads=kv_num_heads,
        q_num_heads=q_num_heads,
        qk_matmul_output_mode=qk_matmul_output_mode,
        scale=scale,
        softcap=softcap,
        softmax_precision=softmax_precision,
    )
    return made


def _heads(x: Tensor, count: int) -> Tensor:
    return x if x.dim() == 4 else x.unflatten(2, (count, -1)).transpose(1, 2)


def _joined(past: Tensor | None, new: Tensor) -> Tensor:
    return new.clone() if past is None else taeda.cat((past, new), 2)


def _attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    *,
    is_causal: bool = False,
    kv_num_heads: int = 0,
    q_num_heads: int = 0,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    apart = q.dim() == 3
    q = _heads(q, q_num_heads)
    keys = _joined(past_key, _heads(k, kv_num_heads))
    values = _joined(past_value, _heads(v, kv_num_heads))
    k_length = k.shape[2] if k.dim() == 4 else k.shape[1]
    groups = q.shape[1] // keys.shape[1]
    k, v = keys.repeat_interleave(groups, 1), values.repeat_interleave(groups, 1)
    factor = math.sqrt(q.shape[-1] ** -0.5 if scale is None else scale)
    scores = [(q * factor) @ (k * factor).transpose(-1, -2)]
    scores.append(softcap * (scores[0] / softcap).tanh() if softcap else scores[0])
    offset = keys.shape[2] - k_length
    bias = _bias(scores[0], mask, offset if is_causal else None)
    scores.append(scores[1] if bias is None else scores[1] + bias)
    wide = scores[2].to(_DTYPES[softmax_precision]) if softmax_precision else scores[2]
    hidden = wide.amax(-1, True) == -math.inf
    scores.append(wide.softmax(-1).masked_fill(hidden, 0.0).to(q.dtype))
    made = scores[3] @ v
    shown = scores[qk_matmul_output_mode].clone()
    return made.transpose(1, 2).flatten(2) if apart else made, keys, values, shown


def _bias(scores: Tensor, mask: Tensor | None, offset: Any) -> Tensor | None:
    """What is added to the scores: of the mask, and of keys that come later than the query, which
    comes `offset` keys later than its own place says (None: all keys are seen).
    """
    least = taeda.full((), -math.inf, dtype=scores.dtype, device=scores.device)
    nothing = taeda.zeros_like(scores)
    bias = mask
    if mask is not None and mask.dtype == taeda.bool:
        bias = nothing.where(mask, least)
    if offset is not None:
        seen = taeda.ones(scores.shape[-2:], dtype=taeda.bool, device=scores.device).tril(offset)
        causal = nothing.where(seen, least)
        bias = causal if bias is None else bias + causal
    return bias


for _name, _function in (
    ("onnx_symbolic::_symbolic", _zeros), ("onnx_symbolic::_symbolic_multi_out", _several),
    ("onnx::RotaryEmbedding", _rotated), ("onnx::Attention", _attended),
):  # fmt: skip
    (_onnx if _name.startswith("onnx::") else _library).impl(
        _name.partition("::")[2], _function, "CompositeExplicitAutograd"
    )
    register_fake(_name, _function)
