"""A training step waits for nothing: `set_sync_debug_mode("error")` refuses what would, and the stand-in
counts no wait.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

#: small ones of the three kinds: what they are made of is what larger ones are made of
MODELS = """
import taeda
from taeda import nn
from taeda.nn import functional as F

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.project(self.first(x)).reshape(batch, length, 3, self.heads, -1).unbind(2)
        y = F.scaled_dot_product_attention(*[t.transpose(1, 2) for t in parts], is_causal=True)
        x = x + F.dropout(self.out(y.transpose(1, 2).reshape(batch, length, width)), 0.1)
        return x + self.narrow(F.gelu(self.wide(self.second(x))))

class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(20, 16, padding_idx=0), nn.Embedding(8, 16)
        self.blocks, self.last = nn.Sequential(Block(16, 2)), nn.LayerNorm(16)
        self.head = nn.Linear(16, 20, bias=False)

    def forward(self, words):
        x = self.words(words) + self.places(taeda.arange(words.shape[1], device=words.device))
        return self.head(self.last(self.blocks(x))).reshape(-1, 20)

class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        first = nn.Conv2d(3, 4, 3, 2, 1, bias=False)
        self.stem = nn.Sequential(first, nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.body = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.end = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 20))

    def forward(self, x):
        x = self.stem(x)
        return self.end(F.relu(x + self.body(x)))

class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.cells = nn.Embedding(20, 6), nn.LSTM(6, 5, batch_first=True)
        self.head = nn.Linear(5, 20)

    def forward(self, words):
        return self.head(self.cells(self.words(words))[0]).reshape(-1, 20)
"""

STEPS = (
    standin.COUNTS
    + MODELS
    + """
taeda.manual_seed(0)
words, pixels = taeda.randint(1, 20, (2, 8)).cuda(), taeda.randn(2, 3, 16, 16).cuda()
classes = taeda.randint(0, 20, (2,)).cuda()
DATA = {
    "GPT": (words, words.roll(-1).reshape(-1)),
    "ResNet": (pixels, classes),
    "LSTM": (words, words.reshape(-1)),
}
losses = {
    "cross_entropy": lambda y, t: F.cross_entropy(y, t, ignore_index=0),
    "nll": lambda y, t: F.nll_loss(F.log_softmax(y, 1), t, reduction="sum") / len(t),
    "mse": lambda y, t: F.mse_loss(y, y.detach() * 0.5),
}
for kind in (GPT, ResNet, LSTM):
    inputs, target = DATA[kind.__name__]
    for mixed in (None, taeda.float16):
        for name, loss_of in losses.items():
            model = kind().cuda()
            optimizer = taeda.optim.AdamW(model.parameters(), lr=1e-3, fused=bool(mixed))
            scaler = taeda.amp.GradScaler("cuda", init_scale=16.0, enabled=bool(mixed))
            def step():
                optimizer.zero_grad()
                with taeda.autocast("cuda", mixed, enabled=bool(mixed)):
                    loss = loss_of(model(inputs), target)
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                return loss.detach()
            step()
            taeda.cuda.set_sync_debug_mode("error")
            counts, loss = counted(step)
            taeda.cuda.set_sync_debug_mode("default")
            assert not counts["waits"] and not counts["to_host"], (kind, mixed, name, counts)
            assert loss.item() == loss.item()
"""
)


@pytest.mark.slow
def test_a_step_of_training_waits_for_nothing():
    standin.run(STEPS)
