"""Attention."""

from ._table import op

op("scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, "
   "bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor", composite=True, namespace="nn",
   variants="function", doc="softmax(query @ key.T * scale + mask) @ value.")  # fmt: skip
