"""Attention: one fused kernel for float32, and the operation that programs call."""

from __future__ import annotations

from ._row import op

op("scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
   "float dropout_p=0.0, "
   "bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor", composite=True,
   variants="function",
   namespace="nn", autocast="lower", doc="softmax(scale * query @ key.T + mask) @ value for every head.")
op("_fused_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float scale) "
   "-> (Tensor output, Tensor logsumexp)", c="_fused_attention", device="any", variants="function",
   namespace="nn",
   doc="Attention of float32 heads without a matrix of weights in memory.")
op("_fused_attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor? "
   "attn_mask, Tensor output, "
   "Tensor logsumexp, bool is_causal, float scale) -> (Tensor, Tensor, Tensor)",
   c="_fused_attention_backward", device="any",
   variants="function", namespace="nn", doc="Gradients of fused attention with respect to query, "
       "key and value.")
op("_ragged_attention(Tensor query, Tensor key, Tensor value, int[] query_offsets, int[] key_offsets, "
   "bool is_causal, float scale) -> (Tensor output, Tensor logsumexp)", c="_ragged_attention",
   device="any", variants="function", namespace="nn",
   doc="Attention of float32 heads whose sequences lie one after the other, as the offsets say.")
op("_ragged_attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor output, "
   "Tensor logsumexp, int[] query_offsets, int[] key_offsets, bool is_causal, float scale) "
   "-> (Tensor, Tensor, Tensor)", c="_ragged_attention_backward", device="any",
   variants="function", namespace="nn", doc="Gradients of ragged attention with respect to query, "
       "key and value.")
