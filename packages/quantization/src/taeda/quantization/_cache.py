"""Keys and values of a text so far as int8: what attention reads of them is a quarter of the bytes.

A key is a row of integers with a scale, so scores are a product with a packed weight. Values lie with their
tokens in a row, and their scales go to the probabilities that multiply them.
"""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda.nn.functional import pad, scaled_dot_product_attention

from ._pack import PIECE

__all__ = ["Int8Cache"]

_MOST = 127


class Int8Cache:
    """Keys and values of one attention layer in int8, with a scale for each head of each token.

    Args:
        batch: texts at a time.
        heads: heads of keys and values; queries may have a multiple of them.
        context: tokens that have room.
        width: numbers of a head, a multiple of 32.

    `append` takes the keys and values of new tokens, and `attend` gives what the newest tokens see. A number
    is at most half of 1/127 of the largest of its head and token away from what was given. Raises TypeError
    or ValueError for sizes that cannot be.

    >>> cache = Int8Cache(1, heads=2, context=8, width=32)
    >>> k, v, q = (taeda.randn(1, 2, 3, 32) for _ in range(3))
    >>> cache.append(k, v)
    >>> want = taeda.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    >>> cache.length, bool((cache.attend(q) - want).abs().max() < 0.05)
    (3, True)
    """

    def __init__(self, batch: int, heads: int, context: int, width: int) -> None:
        for name, value in (
            ("batch", batch),
            ("heads", heads),
            ("context", context),
            ("width", width),
        ):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"Int8Cache: {name} must be an int, not {value!r}")
            if value <= 0:
                raise ValueError(f"Int8Cache: {name} must be positive, not {value}")
        if width % PIECE:
            raise ValueError(f"Int8Cache: width must be a multiple of {PIECE}, not {width}")
        self.heads, self.context, self.width, self.length = heads, context, width, 0
        room = -(-context // PIECE) * PIECE
        self.keys = taeda.zeros(batch, heads, context, width, dtype=taeda.int8)
        self.key_scales = taeda.zeros(batch, heads, context, 1)
        self.values = taeda.zeros(batch, heads, width, room, dtype=taeda.int8)
        self.value_scales = taeda.zeros(batch, heads, room)

    @property
    def nbytes(self) -> int:
        """Bytes of memory, whatever the length."""
        parts = (self.keys, self.key_scales, self.values, self.value_scales)
        return sum(part.nbytes for part in parts)

    @taeda.no_grad()
    def append(self, keys: Tensor, values: Tensor) -> None:
        """New tokens.

        Args:
            keys, values: (batch, heads, tokens, width), floating-point and finite.

        Raises ValueError for another shape, more tokens than have room, or numbers that are not finite; then
        nothing is stored.
        """
        self._check("keys", keys, self.heads)
        self._check("values", values, self.heads)
        end = self.length + keys.shape[2]
        if values.shape[2] != keys.shape[2]:
            raise ValueError(f"append: {keys.shape[2]} keys, but {values.shape[2]} values")
        if end > self.context:
            raise ValueError(
                f"append: {self.length} tokens and {keys.shape[2]} more have no room in a context of "
                f"{self.context}"
            )
        (k, k_scale), (v, v_scale) = _integers("keys", keys), _integers("values", values)
        new = slice(self.length, end)
        self.keys[:, :, new], self.key_scales[:, :, new] = k, k_scale
        self.values[..., new], self.value_scales[:, :, new] = v.transpose(2, 3), v_scale.squeeze(-1)
        self.length = end

    @taeda.no_grad()
    def attend(self, queries: Tensor, scale: float | None = None) -> Tensor:
        """Attention of the newest tokens to all until themselves.

        Args:
            queries: (batch, a multiple of heads, tokens, width); its tokens are the last that were appended.
            scale: of the products, 1 / sqrt(width) by default.

        Returns a tensor of the shape and dtype of `queries`. One token reads the integers; several, as of a
        prompt, read them as float32. Raises ValueError for another shape, and for more tokens than there are.
        """
        self._check("queries", queries, None)
        count = queries.shape[2]
        if not 0 < count <= self.length:
            raise ValueError(f"attend: {count} queries, but the cache holds {self.length} tokens")
        scale = self.width**-0.5 if scale is None else scale
        grouped = queries.float().unflatten(1, (self.heads, -1))
        made = self._of_one(grouped, scale) if count == 1 else self._of_many(grouped, scale)
        return made.flatten(1, 2).to(queries.dtype)

    def _check(self, name: str, given: Tensor, heads: int | None) -> None:
        wanted = (self.keys.shape[0], heads, self.width)
        fits = isinstance(given, Tensor) and given.dim() == 4 and given.is_floating_point()
        if fits:
            shape = given.shape
            fits = (shape[0], shape[3]) == (wanted[0], wanted[2])
            fits &= shape[1] == heads if heads else shape[1] > 0 and shape[1] % self.heads == 0
        if not fits:
            what = (
                f"{given.dtype} {tuple(given.shape)}" if isinstance(given, Tensor) else repr(given)
            )
            of = f"{heads}" if heads else f"a multiple of {self.heads}"
            raise ValueError(
                f"Int8Cache: {name} must be floating-point of shape ({wanted[0]}, {of}, tokens, "
                f"{self.width}), not {what}"
            )

    def _of_one(self, queries: Tensor, scale: float) -> Tensor:
        """queries: (batch, heads, group, 1, width)"""
        made = taeda.empty_like(queries)
        room = -(-self.length // PIECE) * PIECE
        ones = taeda.ones(self.width, 1)
        for at in range(queries.shape[0]):
            for head in range(self.heads):
                keys = self.keys[at, head, : self.length], self.key_scales[at, head, : self.length]
                scores = taeda._weight_int8_mm(queries[at, head, :, 0] * scale, *keys)
                weights = pad(scores.softmax(-1), (0, room - self.length))
                weights *= self.value_scales[at, head, :room]
                values = self.values[at, head, :, :room]
                made[at, head, :, 0] = taeda._weight_int8_mm(weights, values, ones)
        return made

    def _of_many(self, queries: Tensor, scale: float) -> Tensor:
        """queries: (batch, heads, group, tokens, width)"""
        keys = self.keys[:, :, : self.length].float() * self.key_scales[:, :, : self.length]
        values = (
            self.values[..., : self.length].float() * self.value_scales[:, :, None, : self.length]
        )
        count = queries.shape[3]
        seen = taeda.ones(count, self.length, dtype=taeda.bool).tril(self.length - count)
        return scaled_dot_product_attention(
            queries,
            keys.unsqueeze(2).expand(-1, -1, queries.shape[2], -1, -1),
            values.transpose(2, 3).unsqueeze(2).expand(-1, -1, queries.shape[2], -1, -1),
            attn_mask=seen,
            scale=scale,
        )


def _integers(name: str, given: Tensor) -> tuple[Tensor, Tensor]:
    """Integers and the scale of every row."""
    numbers = given.float()
    most = numbers.abs().amax(-1, keepdim=True)
    if not bool(most.isfinite().all()):
        raise ValueError(f"append: {name} hold numbers that are not finite")
    scales = most / _MOST
    steps = taeda.where(scales > 0, scales, 1.0)
    return (numbers / steps).round().clamp(-_MOST, _MOST).to(taeda.int8), scales
