"""sentence-transformers: sentences encoded, a model trained, saved and read."""

from __future__ import annotations

import tempfile
from typing import Any

import torch
from sentence_transformers import SentenceTransformer, losses, models, util
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers import models as kinds
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from .given import filled, normal

WORDS = "[PAD] [UNK] [CLS] [SEP] a b c d e f".split()


def _model(folder: str) -> Any:
    words = Tokenizer(kinds.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokens = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]")
    tokens.save_pretrained(folder)
    sizes = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    filled(BertModel(BertConfig(vocab_size=len(WORDS), **sizes))).eval().save_pretrained(folder)
    part = models.Transformer(folder)
    return SentenceTransformer(modules=[part, models.Pooling(16, "mean")], device="cpu")


def encodes() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        model = _model(folder)
        one = model.encode(["a b", "c d e"], convert_to_tensor=True, show_progress_bar=False)
        model.save(f"{folder}/kept")
        again = SentenceTransformer(f"{folder}/kept", device="cpu")
        assert torch.allclose(again.encode(["a b"], convert_to_tensor=True), one[:1], atol=1e-6)
        return [one, util.cos_sim(one, one), model.similarity(one, one)]


def trains() -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = _model(folder)
        loss = losses.MultipleNegativesRankingLoss(model)
        parts = [model.tokenize(["a b", "c d"]), model.tokenize(["a", "c"])]
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        seen = []
        for _ in range(4):
            value = loss([dict(part) for part in parts], None)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            seen.append(float(value))
        assert seen[-1] < seen[0]


def searches() -> Any:
    bank, asked = normal(20, 8), normal(2, 8)
    hits = util.semantic_search(asked, bank, top_k=3)
    pairs = util.community_detection(
        bank, threshold=0.3, min_community_size=1, show_progress_bar=False
    )
    assert sum(map(len, pairs)) <= 20
    return [[hit["corpus_id"], hit["score"]] for one in hits for hit in one]
