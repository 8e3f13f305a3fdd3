"""Training loops as people write them: steps that count, keep histories, move schedules, read losses."""

from __future__ import annotations

import collections
import dataclasses
import math
import random

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.utils.checkpoint import checkpoint

from ._scenario import data, kept, scenario


def made(dropout=0.0):
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(dropout), nn.Linear(8, 2))


def batches(count=12):
    return [(data(6, 4, seed=n), taeda.arange(6) % 2) for n in range(count)]


def ran(step, net, *more, count=12):
    """What the steps give, and what is left."""
    found = [kept(step(x, y)) for x, y in batches(count)]
    return [found, kept(list(net.state_dict().values())), *more]


def sgd(net):
    return taeda.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


@scenario("a loop: a step gives loss.item()")
def s_loop_item(c):
    net = made()
    optimizer = sgd(net)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return ran(c(step), net)


@scenario("a loop: a schedule moves inside of the step")
def s_loop_schedule(c):
    net = made()
    optimizer = sgd(net)
    schedule = taeda.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss.detach()

    return [*ran(c(step), net), schedule.get_last_lr()]


@scenario("a loop: a trainer counts its steps")
def s_loop_counts(c):
    class Trainer:
        def __init__(self):
            self.net, self.steps, self.seen = made(), 0, 0
            self.optimizer = sgd(self.net)

        def step(self, x, y):
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.net(x), y)
            loss.backward()
            self.optimizer.step()
            self.steps += 1
            self.seen += len(x)
            return loss.detach()

    trainer = Trainer()
    return [*ran(c(trainer.step), trainer.net), trainer.steps, trainer.seen]


@scenario("a loop: a history grows")
def s_loop_history(c):
    net, history = made(), []
    optimizer = sgd(net)

    def step(x, y):
        logits = net(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        history.append((loss.item(), (logits.argmax(-1) == y).float().mean().item()))

    return ran(c(step), net, history)


@scenario("a loop: a step that is not finite is told of")
def s_loop_finite(c):
    net, bad = made(), []
    optimizer = sgd(net)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        if not math.isfinite(loss.item()):
            bad.append(loss.item())
            return None
        optimizer.step()
        return loss.detach()

    return ran(c(step), net, bad)


@scenario("a loop: a moving average of the weights in a trainer")
def s_loop_ema(c):
    net, average = made(), made()
    optimizer, state = sgd(net), {"steps": 0}

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        with taeda.no_grad():
            for slow, fast in zip(average.parameters(), net.parameters(), strict=True):
                slow.lerp_(fast, 0.1)
        state["steps"] += 1
        return loss.detach()

    return [*ran(c(step), net), kept(list(average.parameters())), state["steps"]]


@scenario("a loop: a named tuple as a batch, with a target network", eager=True)
def s_loop_dqn(c):
    Batch = collections.namedtuple("Batch", "state action reward")
    net, target = made(), made()
    optimizer = taeda.optim.Adam(net.parameters(), lr=0.01)

    def step(batch):
        chosen = net(batch.state).gather(1, batch.action[:, None])[:, 0]
        with taeda.no_grad():
            wanted = batch.reward + 0.9 * target(batch.state).max(1).values
        loss = F.smooth_l1_loss(chosen, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    run = c(step)
    return ran(lambda x, y: run(Batch(x, y, x[:, 0])), net)


@scenario("a loop: a dataclass as a batch")
def s_loop_record(c):
    @dataclasses.dataclass
    class Batch:
        x: taeda.Tensor
        y: taeda.Tensor

    net = made()
    optimizer = sgd(net)

    def step(batch):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(batch.x), batch.y)
        loss.backward()
        optimizer.step()
        return loss.item()

    run = c(step)
    return ran(lambda x, y: run(Batch(x, y)), net)


@scenario("a loop: a dict as a batch, the last one smaller")
def s_loop_dict(c):
    net = made(0.2)
    optimizer = taeda.optim.AdamW(net.parameters(), lr=0.01)

    def step(batch):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(batch["x"]), batch["y"])
        loss.backward()
        optimizer.step()
        return {"loss": loss.item(), "count": len(batch["x"])}

    run, small = c(step), [n % 5 == 4 for n in range(20)]
    pairs = zip(batches(20), small, strict=True)
    found = [run({"x": x[:4] if less else x, "y": y[:4] if less else y}) for (x, y), less in pairs]
    return [found, kept(list(net.parameters()))]


@scenario("a loop: gradients of several small batches")
def s_loop_accumulates(c):
    net = made()
    optimizer = sgd(net)

    def step(x, y):
        optimizer.zero_grad()
        total = taeda.zeros(())
        for inputs, targets in zip(x.chunk(3), y.chunk(3), strict=True):
            loss = F.cross_entropy(net(inputs), targets) / 3
            loss.backward()
            total = total + loss.detach()
        optimizer.step()
        return total.item()

    return ran(c(step), net)


@scenario("a loop: bfloat16 by autocast")
def s_loop_autocast(c):
    net = made()
    optimizer = sgd(net)

    def step(x, y):
        optimizer.zero_grad()
        with taeda.autocast("cpu", dtype=taeda.bfloat16):
            loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return ran(c(step), net)


@scenario("a loop: a variational autoencoder prints now and then")
def s_loop_vae(c):
    net, lines = nn.ModuleList([nn.Linear(4, 6), nn.Linear(3, 4)]), []
    optimizer = taeda.optim.Adam(net.parameters(), lr=0.01)
    for p in net.parameters():
        nn.init.constant_(p, 0.1)

    def step(x, y):
        mean, log_variance = net[0](x).chunk(2, -1)
        drawn = mean + taeda.randn_like(mean) * (log_variance / 2).exp()
        loss = F.mse_loss(net[1](drawn), x) - 0.1 * (1 + log_variance - mean.square()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if len(lines) < 20:
            lines.append(f"loss {loss.item():.6f}")
        return loss.detach()

    taeda.manual_seed(3)
    return ran(c(step), net, lines)


@scenario("a loop: a generator and its critic")
def s_loop_gan(c):
    net, critic, seen = nn.Linear(4, 4), nn.Linear(4, 1), collections.Counter()
    taeda.manual_seed(0)
    for p in [*net.parameters(), *critic.parameters()]:
        nn.init.uniform_(p)
    optimizers = [taeda.optim.Adam(n.parameters(), lr=0.01) for n in (net, critic)]

    def step(x, y):
        false = net(taeda.randn_like(x))
        ones, zeros = taeda.ones(6, 1), taeda.zeros(6, 1)
        f = F.binary_cross_entropy_with_logits
        optimizers[1].zero_grad()
        judged = f(critic(x), ones) + f(critic(false.detach()), zeros)
        judged.backward()
        optimizers[1].step()
        optimizers[0].zero_grad()
        fooled = f(critic(false), ones)
        fooled.backward()
        optimizers[0].step()
        seen["steps"] += 1
        return judged.item(), fooled.item()

    return [*ran(c(step), net), dict(seen)]


@scenario("a loop: an LSTM with clipped gradients")
def s_loop_lstm(c):
    taeda.manual_seed(0)
    net = nn.ModuleDict({"rnn": nn.LSTM(2, 5, batch_first=True), "out": nn.Linear(5, 2)})
    optimizer = taeda.optim.Adam(net.parameters(), lr=0.01)

    def step(x, y):
        optimizer.zero_grad()
        states, _ = net["rnn"](x.view(6, 2, 2))
        loss = F.cross_entropy(net["out"](states[:, -1]), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        return loss.item(), float(norm)

    return ran(c(step), net)


@scenario("a loop: weight decay in groups, a warm-up by hand")
def s_loop_warm_up(c):
    net, state = made(), types_of_state()
    weights = [p for p in net.parameters() if p.ndim > 1]
    biases = [p for p in net.parameters() if p.ndim == 1]
    optimizer = taeda.optim.AdamW([{"params": weights}, {"params": biases, "weight_decay": 0.0}])

    def step(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        state.step += 1
        for group in optimizer.param_groups:
            group["lr"] = 0.001 * min(1.0, state.step / 5)
        return loss.detach()

    return [*ran(c(step), net), state.step]


def types_of_state():
    class State:
        step = 0

    return State()


@scenario("a loop: the best loss so far")
def s_loop_best(c):
    net, best = made(), {"loss": float("inf"), "weights": None}
    optimizer = sgd(net)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        value = loss.item()
        if value < best["loss"]:
            best.update(loss=value, weights=kept(net.state_dict()))
        return value

    return [*ran(c(step), net), best["loss"], kept(best["weights"])]


@scenario("a loop: an encoder with a checkpoint")
def s_loop_checkpoint(c):
    net = made()
    optimizer = sgd(net)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(checkpoint(net, x, use_reentrant=False), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return ran(c(step), net)


@scenario("a loop: mixup by Python's random", eager=True)
def s_loop_mixup(c):
    net, draws = made(), random.Random(0)
    optimizer = sgd(net)

    def step(x, y):
        share = draws.random()
        mixed = x * share + x.flip(0) * (1 - share)
        optimizer.zero_grad()
        loss = F.cross_entropy(net(mixed), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return ran(c(step), net)


@scenario("a loop: a weight that changes with each step")
def s_loop_weight(c):
    net = made()
    optimizer = sgd(net)

    def step(x, y, weight):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y) + weight * net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    run, numbers = c(step), iter(range(100))
    return ran(lambda x, y: run(x, y, next(numbers) // 6 / 100), net)


@scenario("a loop: losses are scaled")
def s_loop_scaler(c):
    net = made()
    optimizer, scaler = sgd(net), taeda.amp.GradScaler("cpu", init_scale=8.0, growth_interval=4)

    def step(x, y):
        optimizer.zero_grad()
        with taeda.autocast("cpu", dtype=taeda.bfloat16):
            loss = F.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.item()

    return [*ran(c(step), net), scaler.get_scale()]
