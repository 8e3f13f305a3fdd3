"""openai-whisper: spectrograms, the network, decoding."""

from __future__ import annotations

from typing import Any

import torch
import whisper
from whisper.model import ModelDimensions, Whisper

from .given import filled, normal


def _model() -> Any:
    return filled(Whisper(ModelDimensions(80, 1500, 16, 2, 1, 51865, 64, 16, 2, 1))).eval()


def hears() -> Any:
    mel = whisper.log_mel_spectrogram(normal(16000 * 2))
    model = _model()
    out = model(whisper.pad_or_trim(mel, 3000)[None], torch.tensor([[50258, 50259]]))
    out.square().mean().backward()
    return [mel, out[..., :50]]


def decodes() -> None:
    model = _model()
    mel = whisper.pad_or_trim(whisper.log_mel_spectrogram(normal(16000 * 2)), 3000)
    for options in ({}, {"beam_size": 2}, {"temperature": 0.5, "best_of": 2}):
        told = whisper.decode(
            model,
            mel,
            whisper.DecodingOptions(
                language="en", without_timestamps=True, sample_len=4, fp16=False, **options
            ),
        )
        assert isinstance(told.text, str)
    assert isinstance(
        model.transcribe(normal(16000).numpy(), language="en", fp16=False, sample_len=3)["text"],
        str,
    )
