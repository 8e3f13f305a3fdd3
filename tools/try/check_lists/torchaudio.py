"""torchaudio: its functions and transforms in Python."""

from __future__ import annotations

from typing import Any

import torch
import torchaudio
from torchaudio import functional as F
from torchaudio import transforms as T

from .given import filled, normal


def spectrograms() -> Any:
    wave = normal(1, 4000)
    kinds = [
        T.Spectrogram(n_fft=128),
        T.MelSpectrogram(8000, n_fft=256, n_mels=16),
        T.MFCC(8000, 8, melkwargs={"n_fft": 256, "n_mels": 16}),
    ]
    found = [kind(wave) for kind in kinds]
    back = T.InverseSpectrogram(128)(T.Spectrogram(128, power=None)(wave), 4000)
    assert torch.allclose(back, wave, atol=1e-4)
    return [*found, T.AmplitudeToDB()(found[0]), T.Resample(8000, 5000)(wave)]


def effects() -> Any:
    wave = normal(1, 2000)
    found = [
        F.biquad(wave, 0.2, 0.1, 0.0, 1.0, -0.3, 0.1),
        F.lowpass_biquad(wave, 8000, 500.0),
        F.lfilter(wave, torch.tensor([1.0, -0.2]), torch.tensor([0.5, 0.1])),
    ]
    return [*found, F.gain(wave, 3.0), F.mu_law_encoding(wave.clamp(-1, 1), 256)]


def masks_and_networks() -> Any:
    net = filled(torchaudio.models.Conformer(8, 2, 16, 1, 3)).eval()
    out, _ = net(normal(1, 10, 8), torch.tensor([10]))
    assert T.FrequencyMasking(4)(normal(1, 8, 10)).shape == (1, 8, 10)
    return [
        out,
        filled(
            torchaudio.models.Wav2Letter(num_classes=5, input_type="waveform", num_features=1)
        ).eval()(normal(1, 1, 4000)),
    ]
