"""peft: adapters of a small language model, trained, saved, read and merged."""

from __future__ import annotations

import tempfile
from typing import Any

import peft
import torch
import transformers

from .given import filled, trained, whole

SIZES = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}


def _base() -> Any:
    config = transformers.LlamaConfig(**SIZES, num_attention_heads=2, pad_token_id=0)
    return filled(transformers.LlamaForCausalLM(config)).eval()


def _adapted(config: Any, merges: bool = True, rate: float = 0.01) -> Any:
    base = _base()
    model = peft.get_peft_model(base, config)
    x = whole(40, 2, 7)
    losses = trained(model, lambda: model(input_ids=x, labels=x).loss, rate=rate)
    after = model.eval()(input_ids=x).logits
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        torch.manual_seed(3)
        from .given import again

        again()
        other = peft.PeftModel.from_pretrained(_base(), folder).eval()
    assert torch.allclose(other(input_ids=x).logits, after, atol=1e-5)
    if merges:
        merged = model.merge_and_unload()
        assert torch.allclose(merged(input_ids=x).logits, after, atol=1e-3)
    return losses


TARGETS = {"task_type": "CAUSAL_LM", "target_modules": ["q_proj", "v_proj"]}


def lora() -> Any:
    _adapted(peft.LoraConfig(r=4, lora_alpha=8, **TARGETS))


def lora_with_one_set_of_numbers() -> Any:
    model = peft.get_peft_model(_base(), peft.LoraConfig(r=4, lora_alpha=8, **TARGETS))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.copy_(torch.linspace(-1, 1, parameter.numel()).view_as(parameter))
    x = whole(40, 2, 7)
    loss = model(input_ids=x, labels=x).loss
    loss.backward()
    return [loss, *(p.grad for p in model.parameters() if p.requires_grad)]


def ia3() -> Any:
    config = peft.IA3Config(**TARGETS, feedforward_modules=[])
    return _adapted(config)


def dora() -> None:
    _adapted(peft.LoraConfig(r=4, use_dora=True, **TARGETS))


def rslora_with_dropout() -> None:
    _adapted(peft.LoraConfig(r=4, use_rslora=True, lora_dropout=0.1, **TARGETS))


def adalora() -> None:
    _adapted(peft.AdaLoraConfig(r=4, total_step=10, **TARGETS), merges=False)


def lokr_and_loha() -> None:
    _adapted(peft.LoKrConfig(r=4, **TARGETS))
    from .given import again

    again()
    _adapted(peft.LoHaConfig(r=4, **TARGETS))


def oft_and_boft() -> None:
    _adapted(peft.OFTConfig(r=0, oft_block_size=4, **TARGETS))


def prompt_and_prefix_tuning() -> None:
    _adapted(peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4), merges=False)
    from .given import again

    again()
    _adapted(peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4), merges=False)


def several_adapters() -> Any:
    model = peft.get_peft_model(_base(), peft.LoraConfig(r=4, **TARGETS), adapter_name="one")
    model.add_adapter("two", peft.LoraConfig(r=2, **TARGETS))
    model.set_adapter("two")
    model.add_weighted_adapter(
        ["one", "two"], [0.5, 0.5], "both", combination_type="svd", svd_rank=2
    )
    model.set_adapter("both")
    x = whole(40, 2, 7)
    with model.disable_adapter():
        return model(input_ids=x).logits
