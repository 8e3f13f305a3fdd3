"""The next letter by an LSTM over packed sequences of different lengths."""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

WORDS = ["needle", "resin", "cone", "bark", "a forest of pines", "seed", "sapling", "cambium"]
LETTERS = sorted(set("".join(WORDS)))


class Speller(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS) + 1, 16, padding_idx=0)
        self.memory = nn.LSTM(16, 32, num_layers=2, batch_first=True)
        self.head = nn.Linear(32, len(LETTERS) + 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(
            self.letters(x), lengths, batch_first=True, enforce_sorted=False
        )
        out, _ = self.memory(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.head(out)


def make() -> nn.Module:
    return Speller()


def train(model: nn.Module, steps: int = 25) -> list[float]:
    codes = [taeda.tensor([LETTERS.index(c) + 1 for c in word]) for word in WORDS]
    x = pad_sequence([c[:-1] for c in codes], batch_first=True)
    y = pad_sequence([c[1:] for c in codes], batch_first=True, padding_value=-100)
    lengths = taeda.tensor([len(c) - 1 for c in codes])
    optimizer = taeda.optim.RMSprop(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    losses = []
    for _ in range(steps):
        logits = model(x, lengths)
        loss = criterion(logits.transpose(1, 2), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(train(make()))
