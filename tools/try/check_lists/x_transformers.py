"""x-transformers: decoders of many options, trained; they generate."""

from __future__ import annotations

from typing import Any

import torch
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper, XTransformer

from .given import filled, gradients, trained, whole


def decoders() -> Any:
    found = []
    for options in (
        {"rotary_pos_emb": True, "use_rmsnorm": True, "ff_glu": True},
        {"alibi_pos_bias": True},
        {"attn_qk_norm": True, "attn_flash": True},
        {"attn_num_mem_kv": 2},
    ):
        model = filled(
            TransformerWrapper(
                num_tokens=20,
                max_seq_len=16,
                attn_layers=Decoder(dim=16, depth=2, heads=2, attn_dim_head=8, **options),
            )
        )
        out = model(whole(20, 2, 9))
        out.square().mean().backward()
        found += [out, gradients(model)[0]]
    return found


def generates() -> Any:
    model = filled(
        TransformerWrapper(
            num_tokens=20,
            max_seq_len=16,
            attn_layers=Decoder(dim=16, depth=1, heads=2, attn_dim_head=8),
        )
    )
    wrapped, x = AutoregressiveWrapper(model), whole(20, 2, 9)
    losses = trained(wrapped, lambda: wrapped(x), rate=0.01)
    return [losses, wrapped.generate(x[:, :3], 5, temperature=0.0)]


def encoders() -> Any:
    model = filled(
        XTransformer(
            dim=16,
            enc_num_tokens=20,
            enc_depth=1,
            enc_heads=2,
            enc_max_seq_len=9,
            dec_num_tokens=20,
            dec_depth=1,
            dec_heads=2,
            dec_max_seq_len=9,
        )
    )
    mask = torch.ones(2, 9, dtype=torch.bool)
    loss = model(whole(20, 2, 9), whole(20, 2, 9), mask=mask)
    loss.backward()
    assert Encoder(dim=16, depth=1, heads=2)
    return loss
