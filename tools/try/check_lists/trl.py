"""trl: SFT, DPO and reward training of a small model."""

from __future__ import annotations

import copy
import tempfile
from typing import Any

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    PreTrainedTokenizerFast,
)
from trl import DPOConfig, DPOTrainer, RewardConfig, RewardTrainer, SFTConfig, SFTTrainer

WORDS = "<pad> <eos> <unk> a b c d e f".split()
SIZES = {
    "vocab_size": 16,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "pad_token_id": 0,
}
OPTIONS = {
    "max_steps": 3,
    "per_device_train_batch_size": 2,
    "use_cpu": True,
    "report_to": [],
    "bf16": False,
}


def _tokens() -> Any:
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )


def tunes() -> None:
    model = LlamaForCausalLM(LlamaConfig(**SIZES))
    data = Dataset.from_dict({"text": ["a b c", "d e f"] * 4})
    with tempfile.TemporaryDirectory() as folder:
        trainer = SFTTrainer(
            model,
            args=SFTConfig(folder, save_steps=2, **OPTIONS),
            train_dataset=data,
            processing_class=_tokens(),
        )
        trainer.train()
        assert trainer.state.global_step == 3


def prefers() -> None:
    model = LlamaForCausalLM(LlamaConfig(**SIZES))
    data = Dataset.from_dict({"prompt": ["a b"] * 4, "chosen": ["c"] * 4, "rejected": ["d"] * 4})
    with tempfile.TemporaryDirectory() as folder:
        trainer = DPOTrainer(
            model,
            ref_model=copy.deepcopy(model),
            args=DPOConfig(folder, **OPTIONS),
            train_dataset=data,
            processing_class=_tokens(),
        )
        trainer.train()
        assert trainer.state.global_step == 3


def rewards() -> None:
    model = LlamaForSequenceClassification(LlamaConfig(**SIZES, num_labels=1))
    data = Dataset.from_dict({"chosen": ["a b c"] * 4, "rejected": ["a b d"] * 4})
    with tempfile.TemporaryDirectory() as folder:
        trainer = RewardTrainer(
            model,
            args=RewardConfig(folder, **OPTIONS),
            train_dataset=data,
            processing_class=_tokens(),
        )
        trainer.train()
        assert trainer.state.global_step == 3
