"""transformers: models of many families, ways to generate, files, and the Trainer."""

from __future__ import annotations

import tempfile
from typing import Any

import torch
import transformers as hf

from .given import filled, gradients, normal, whole

SMALL = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
SMALL |= {"num_attention_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
ROPED = {**SMALL, "num_key_value_heads": 1, "head_dim": 8, "tie_word_embeddings": False}


def _causal(kind: str, **options: Any) -> list[Any]:
    config = getattr(hf, f"{kind}Config")(**options)
    model = filled(hf.AutoModelForCausalLM.from_config(config)).eval()
    x = whole(40, 2, 7)
    out = model(input_ids=x, labels=x)
    out.loss.backward()
    return [out.logits, *gradients(model)[:4]]


def gpt2_trains() -> Any:
    return _causal("GPT2", vocab_size=40, n_embd=16, n_layer=2, n_head=2, n_positions=32)


def llama_trains() -> Any:
    return _causal("Llama", **ROPED)


def mistral_trains() -> Any:
    return _causal("Mistral", **ROPED, sliding_window=4)


def qwen2_trains() -> Any:
    return _causal("Qwen2", **SMALL, num_key_value_heads=1)


def qwen3_trains() -> Any:
    return _causal("Qwen3", **ROPED)


def gemma2_trains() -> Any:
    return _causal("Gemma2", **ROPED, query_pre_attn_scalar=8, sliding_window=4)


def mixtral_trains() -> Any:
    return _causal("Mixtral", **ROPED, num_local_experts=2, num_experts_per_tok=2)


def phi3_trains() -> Any:
    return _causal("Phi3", **SMALL, num_key_value_heads=1)


def mamba_trains() -> Any:
    return _causal("Mamba", vocab_size=40, hidden_size=16, num_hidden_layers=2, state_size=4)


def _classifier(kind: str, **options: Any) -> list[Any]:
    config = getattr(hf, f"{kind}Config")(**options, num_labels=3)
    model = filled(getattr(hf, f"{kind}ForSequenceClassification")(config)).eval()
    x = whole(38, 2, 7) + 2
    mask = torch.ones_like(x)
    mask[1, 5:] = 0
    out = model(input_ids=x, attention_mask=mask, labels=torch.tensor([0, 2]))
    out.loss.backward()
    return [out.logits, out.loss, model.get_input_embeddings().weight.grad]


def bert_trains() -> Any:
    return _classifier("Bert", **SMALL)


def roberta_trains() -> Any:
    return _classifier("Roberta", **SMALL, max_position_embeddings=64)


def distilbert_trains() -> Any:
    return _classifier("DistilBert", vocab_size=40, dim=16, hidden_dim=32, n_layers=2, n_heads=2)


def deberta_trains() -> Any:
    options = {"relative_attention": True, "pos_att_type": "c2p|p2c", "max_relative_positions": 8}
    return _classifier("DebertaV2", **SMALL, **options)


def t5_trains_and_generates() -> Any:
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}
    config = hf.T5Config(vocab_size=40, **sizes, decoder_start_token_id=0)
    model = filled(hf.T5ForConditionalGeneration(config)).eval()
    x = whole(40, 2, 7)
    out = model(input_ids=x, labels=x[:, :4].contiguous())
    out.loss.backward()
    return [out.logits, gradients(model)[0], model.generate(x, max_new_tokens=4, num_beams=2)]


def vit_trains() -> Any:
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    config = hf.ViTConfig(**sizes, num_attention_heads=2, image_size=16, patch_size=4, num_labels=3)
    model = filled(hf.ViTForImageClassification(config)).eval()
    out = model(normal(2, 3, 16, 16), labels=torch.tensor([0, 2]))
    out.loss.backward()
    return [out.logits, gradients(model)[0]]


def clip_trains() -> Any:
    part = {k: v for k, v in SMALL.items() if "token" not in k and k != "vocab_size"}
    config = hf.CLIPConfig(
        text_config={**SMALL, "max_position_embeddings": 16},
        vision_config={**part, "image_size": 16, "patch_size": 4},
        projection_dim=8,
    )
    model = filled(hf.CLIPModel(config)).eval()
    out = model(input_ids=whole(40, 2, 7), pixel_values=normal(2, 3, 16, 16), return_loss=True)
    out.loss.backward()
    return [out.logits_per_image, out.loss]


def whisper_trains() -> Any:
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32}
    sizes |= {"decoder_ffn_dim": 32, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = hf.WhisperConfig(
        vocab_size=40,
        **sizes,
        num_mel_bins=8,
        max_source_positions=12,
        max_target_positions=16,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    model = filled(hf.WhisperForConditionalGeneration(config)).eval()
    out = model(input_features=normal(2, 8, 24), labels=whole(40, 2, 5))
    out.loss.backward()
    return [out.logits, out.loss]


def _llama() -> Any:
    return filled(hf.LlamaForCausalLM(hf.LlamaConfig(**ROPED))).eval()


def generates() -> Any:
    model, x = _llama(), whole(38, 2, 5) + 2
    quiet = {"max_new_tokens": 6, "min_new_tokens": 6}
    greedy = model.generate(x, do_sample=False, **quiet)
    beams = model.generate(x, num_beams=3, do_sample=False, **quiet)
    static = model.generate(x, do_sample=False, cache_implementation="static", **quiet)
    slow = model.generate(x, do_sample=False, use_cache=False, **quiet)
    assert torch.equal(greedy, static) and torch.equal(greedy, slow)
    drawn = model.generate(x, do_sample=True, top_k=5, top_p=0.9, temperature=0.7, **quiet)
    assert drawn.shape == (2, 11)
    return [greedy, beams]


def saves_and_loads() -> Any:
    model, x = _llama(), whole(40, 2, 5)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = hf.LlamaForCausalLM.from_pretrained(folder).eval()
        half = hf.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    assert torch.equal(again(x).logits, model(x).logits) and half.dtype == torch.bfloat16
    return half(x).logits.float().argmax(-1).shape[1]


def _trainer(folder: str, **options: Any) -> Any:
    model = _llama()
    rows = [torch.arange(start, start + 8) for start in range(16)]
    data = [{"input_ids": row, "labels": row} for row in rows]
    arguments = hf.TrainingArguments(
        folder,
        per_device_train_batch_size=4,
        use_cpu=True,
        report_to=[],
        learning_rate=0.01,
        num_train_epochs=2,
        **options,
    )
    return hf.Trainer(model, arguments, train_dataset=data, eval_dataset=data)


def trainer_saves_and_resumes() -> None:
    with tempfile.TemporaryDirectory() as folder:
        trainer = _trainer(folder, save_steps=5)
        trainer.train()
        after = trainer.evaluate()["eval_loss"]
        trainer.save_model(f"{folder}/end")
        kept = torch.load(f"{folder}/end/training_args.bin", weights_only=False)
        assert kept.save_steps == 5
        resumed = _trainer(folder, save_steps=5)
        resumed.train(resume_from_checkpoint=f"{folder}/checkpoint-5")
        assert resumed.evaluate()["eval_loss"] == after


def trainer_in_bfloat16_with_accumulation_and_checkpointing() -> None:
    with tempfile.TemporaryDirectory() as folder:
        trainer = _trainer(
            folder, bf16=True, gradient_accumulation_steps=2, gradient_checkpointing=True
        )
        before = trainer.evaluate()["eval_loss"]
        trainer.train()
        assert trainer.evaluate()["eval_loss"] < before
