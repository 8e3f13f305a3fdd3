"""Ordinary programs that are well written hear nothing: advice that is wrong costs more than none."""

import textwrap

import pytest

BEGIN = """
import taeda
from taeda import nn
import taeda.nn.functional as F
taeda.manual_seed(0)
"""

PROGRAMS = {
    "a convolution network, its accuracy measured after each epoch": """
        from taeda.utils.data import DataLoader, TensorDataset
        data = TensorDataset(taeda.rand(256, 1, 8, 8), taeda.randint(0, 10, (256,)))
        model = nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(144, 10))
        optimizer = taeda.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        scheduler = taeda.optim.lr_scheduler.StepLR(optimizer, 1)
        for epoch in range(3):
            model.train()
            total = taeda.zeros(())
            for x, y in DataLoader(data, 64, shuffle=True):
                optimizer.zero_grad()
                loss = F.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                total += loss.detach()
            scheduler.step()
            model.eval()
            right = 0
            with taeda.no_grad():
                for x, y in DataLoader(data, 64):
                    right += (model(x).argmax(1) == y).sum().item()
            print(epoch, float(total), right)
    """,
    "a transformer of layers of nn": """
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        model = nn.Sequential(nn.Embedding(50, 32), nn.TransformerEncoder(layer, 2), nn.Linear(32, 50))
        optimizer = taeda.optim.AdamW(model.parameters())
        tokens = taeda.randint(0, 50, (16, 65))
        for step in range(12):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    """,
    "attention that gives its weights back": """
        model = nn.MultiheadAttention(32, 4, batch_first=True)
        optimizer = taeda.optim.AdamW(model.parameters())
        x = taeda.randn(16, 64, 32)
        for step in range(12):
            optimizer.zero_grad()
            y, weights = model(x, x, x)
            (y.pow(2).mean() + weights.amax()).backward()
            optimizer.step()
    """,
    "heads that are moved and put together": """
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
            def forward(self, x):
                b, t, c = x.shape
                q, k, v = (p.view(b, t, 4, 8).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                return self.out(y.transpose(1, 2).contiguous().view(b, t, c))
        model = Attention()
        optimizer = taeda.optim.AdamW(model.parameters())
        x = taeda.randn(16, 64, 32)
        for step in range(12):
            optimizer.zero_grad(set_to_none=True)
            model(x).pow(2).mean().backward()
            optimizer.step()
    """,
    "a recurrent network over long sequences": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn, self.out = nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 2)
            def forward(self, x):
                y, _ = self.rnn(x)
                return self.out(y[:, -1])
        model = Model()
        optimizer = taeda.optim.Adam(model.parameters())
        x, y = taeda.randn(32, 100, 8), taeda.randint(0, 2, (32,))
        for step in range(12):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    """,
    "a deep network of small layers, gradients gathered and clipped": """
        parts = [nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32), nn.ReLU()) for _ in range(70)]
        model = nn.Sequential(*parts)
        optimizer = taeda.optim.Adam(model.parameters())
        x = taeda.randn(256, 32)
        for step in range(6):
            for part in x.chunk(2):
                (model(part).pow(2).mean() / 2).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    """,
    "a deep network that only answers": """
        model = nn.Sequential(*[nn.Sequential(nn.Linear(16, 16), nn.ReLU()) for _ in range(80)]).eval()
        model.load_state_dict(model.state_dict())
        x = taeda.randn(512, 16)
        for step in range(6):
            with taeda.inference_mode():
                model(x)
    """,
    "two networks that play against each other": """
        maker = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
        judge = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
        make = taeda.optim.Adam(maker.parameters())
        judged = taeda.optim.Adam(judge.parameters())
        real = taeda.randn(256, 16)
        ones, zeros = taeda.ones(256, 1), taeda.zeros(256, 1)
        for step in range(12):
            judged.zero_grad()
            fake = maker(taeda.randn(256, 8))
            loss = F.binary_cross_entropy_with_logits(judge(real), ones)
            loss = loss + F.binary_cross_entropy_with_logits(judge(fake.detach()), zeros)
            loss.backward()
            judged.step()
            make.zero_grad()
            F.binary_cross_entropy_with_logits(judge(fake), ones).backward()
            make.step()
    """,
    "answers of an epoch that are kept without their graphs": """
        model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
        optimizer = taeda.optim.Adam(model.parameters())
        x, y = taeda.randn(256, 32), taeda.randint(0, 10, (256,))
        answers, losses = [], []
        for step in range(20):
            optimizer.zero_grad()
            out = model(x)
            loss = F.cross_entropy(out, y)
            loss.backward()
            optimizer.step()
            answers.append(out.detach())
            losses.append(loss.detach())
        taeda.stack(losses).mean().item(), taeda.cat(answers).argmax(1)
    """,
    "a model that is trained further in eval mode": """
        model = nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.Dropout(), nn.Linear(64, 10))
        optimizer = taeda.optim.SGD(model.parameters(), 0.01)
        x, y = taeda.randn(256, 32), taeda.randint(0, 10, (256,))
        model.eval()  # keeps the statistics
        for step in range(12):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    """,
    "a picture of what a model looks at": """
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10)).eval()
        for step in range(8):
            x = taeda.rand(16, 3, 8, 8, requires_grad=True)
            model(x).amax(1).sum().backward()
            x.grad.abs().amax(1)
    """,
    "a teacher and its pupil": """
        teacher = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 10))
        teacher.eval().requires_grad_(False)
        pupil = nn.Linear(32, 10)
        optimizer = taeda.optim.AdamW(pupil.parameters())
        x = taeda.randn(256, 32)
        for step in range(12):
            optimizer.zero_grad()
            F.kl_div(pupil(x).log_softmax(-1), teacher(x).softmax(-1), reduction="batchmean").backward()
            optimizer.step()
    """,
    "skips of a network of two ways": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.down = nn.ModuleList([nn.Conv2d(8, 8, 3, padding=1) for _ in range(3)])
                self.up = nn.ModuleList([nn.Conv2d(16, 8, 3, padding=1) for _ in range(3)])
            def forward(self, x):
                kept = []
                for layer in self.down:
                    x = layer(x).relu()
                    kept.append(x)
                    x = F.avg_pool2d(x, 2)
                for layer in self.up:
                    x = F.interpolate(x, scale_factor=2)
                    x = layer(taeda.cat([x, kept.pop()], 1)).relu()
                return x
        model = Net()
        optimizer = taeda.optim.Adam(model.parameters())
        x = taeda.randn(8, 8, 16, 16)
        for step in range(12):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
    """,
    "a mean of the weights beside the weights": """
        model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
        mean = taeda.optim.swa_utils.AveragedModel(
            model, multi_avg_fn=taeda.optim.swa_utils.get_ema_multi_avg_fn(0.9))
        optimizer = taeda.optim.Adam(model.parameters())
        x, y = taeda.randn(256, 32), taeda.randint(0, 10, (256,))
        for step in range(12):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            mean.update_parameters(model)
            if step % 6 == 5:
                mean.eval()
                with taeda.inference_mode():
                    print(F.cross_entropy(mean(x), y).item())
    """,
    "experts that a gate weighs": """
        class Mixture(nn.Module):
            def __init__(self):
                super().__init__()
                self.gate = nn.Linear(32, 4)
                self.experts = nn.ModuleList([nn.Linear(32, 32) for _ in range(4)])
            def forward(self, x):
                weights = self.gate(x).softmax(-1)
                made = taeda.stack([expert(x) for expert in self.experts], -2)
                return (weights.unsqueeze(-2) @ made).squeeze(-2)
        model = Mixture()
        optimizer = taeda.optim.Adam(model.parameters())
        x = taeda.randn(16, 16, 32)
        for step in range(12):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
    """,
    "a state that goes from step to step without its graph": """
        cell, out = nn.GRU(16, 64, batch_first=True), nn.Linear(64, 16)
        optimizer = taeda.optim.Adam([*cell.parameters(), *out.parameters()])
        x, state = taeda.randn(64, 400, 16), None
        for step in range(20):
            part = x[:, 20 * step : 20 * step + 20]
            optimizer.zero_grad()
            y, state = cell(part, state)
            F.mse_loss(out(y), part).backward()
            optimizer.step()
            state = state.detach()
    """,
    "a policy that is rewarded": """
        policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
        optimizer = taeda.optim.Adam(policy.parameters())
        for episode in range(8):
            with taeda.inference_mode():
                seen = taeda.randn(256, 4)
                acts = taeda.multinomial(policy(seen).softmax(-1), 1)
            reward = taeda.rand(256)
            chances = policy(seen.clone()).log_softmax(-1).gather(1, acts.clone()).squeeze(1)
            loss = -(chances * (reward - reward.mean())).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
    "a compiled step": """
        model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 10))
        fast = taeda.compile(model)
        optimizer = taeda.optim.Adam(model.parameters())
        x, y = taeda.randn(256, 32), taeda.randint(0, 10, (256,))
        for step in range(12):
            optimizer.zero_grad()
            F.cross_entropy(fast(x), y).backward()
            optimizer.step()
    """,
    "short floats with autocast": """
        model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
        optimizer = taeda.optim.AdamW(model.parameters())
        x, y = taeda.randn(256, 32), taeda.randint(0, 10, (256,))
        for step in range(12):
            optimizer.zero_grad()
            with taeda.autocast("cpu", taeda.bfloat16):
                loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    """,
    "a step with a closure": """
        model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        optimizer = taeda.optim.SGD(model.parameters(), 0.1)
        x, y = taeda.randn(256, 32), taeda.randint(0, 10, (256,))
        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss
        for step in range(12):
            optimizer.step(closure)
    """,
    "a penalty on a gradient": """
        model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1))
        optimizer = taeda.optim.Adam(model.parameters())
        for step in range(12):
            x = taeda.randn(256, 32, requires_grad=True)
            out = model(x).sum()
            (slope,) = taeda.autograd.grad(out, x, create_graph=True)
            optimizer.zero_grad()
            (slope.norm(dim=1) - 1).pow(2).mean().backward()
            optimizer.step()
    """,
    "a model that is checked and trained in turns": """
        model = nn.Sequential(nn.Linear(32, 64), nn.Dropout(), nn.Linear(64, 10))
        optimizer = taeda.optim.Adam(model.parameters())
        x, y = taeda.randn(256, 32), taeda.randint(0, 10, (256,))
        best = 0
        for step in range(12):
            model.train()
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            model.eval()
            with taeda.no_grad():
                right = (model(x).argmax(1) == y).float().mean()
            if step % 6 == 5 and right > best:
                best = right.item()
                state = {k: v.clone() for k, v in model.state_dict().items()}
    """,
    "a memory of what was seen": """
        model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16))
        optimizer = taeda.optim.Adam(model.parameters())
        memory, place = taeda.zeros(1024, 16), 0
        for step in range(20):
            x = taeda.randn(128, 32)
            z = F.normalize(model(x), dim=1)
            loss = F.cross_entropy(taeda.cat([z @ z.T, z @ memory.T], 1), taeda.arange(128))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            memory[place : place + 128] = z.detach()
            place = (place + 128) % 1024
    """,
    "a search without derivatives of second order": """
        model = nn.Linear(32, 1)
        optimizer = taeda.optim.LBFGS(model.parameters(), max_iter=4)
        x, y = taeda.randn(256, 32), taeda.randn(256, 1)
        def closure():
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            return loss
        for step in range(6):
            optimizer.step(closure)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_good_program_hears_nothing(advice_of, name):
    assert advice_of(BEGIN + textwrap.dedent(PROGRAMS[name])) == []
