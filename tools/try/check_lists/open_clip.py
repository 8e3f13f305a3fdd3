"""open_clip_torch: a model of pictures and words, its losses, tokens and pictures."""

from __future__ import annotations

from typing import Any

import open_clip
from PIL import Image

from .given import filled, gradients, normal, whole

VISION = {"layers": 2, "width": 64, "head_width": 32, "patch_size": 8, "image_size": 32}
TEXT = {"context_length": 8, "vocab_size": 50, "width": 32, "heads": 2, "layers": 2}


def learns() -> Any:
    model = filled(open_clip.CLIP(embed_dim=16, vision_cfg=VISION, text_cfg=TEXT))
    pictures, words = normal(2, 3, 32, 32), whole(50, 2, 8)
    one, other, scale = model(pictures, words)[:3]
    loss = open_clip.ClipLoss()(one, other, scale)
    loss.backward()
    return [one, other, loss, gradients(model)[0]]


def parts_of_ones_own() -> Any:
    model = filled(open_clip.CustomTextCLIP(16, VISION, TEXT)).eval()
    return [model.encode_image(normal(1, 3, 32, 32)), model.encode_text(whole(50, 1, 8))]


def words_and_pictures() -> Any:
    tokens = open_clip.tokenize(["a cat", "a dog"])
    change = open_clip.image_transform(32, is_train=False)
    return [tokens, change(Image.new("RGB", (40, 50), (200, 10, 90)))]
