"""What random programs of `fuzz_compile.py` are made of besides tensors and numbers: definitions,
lines, changes between calls, steps of training.
"""

from __future__ import annotations

import random

__all__ = ["CHANGES", "HEAD", "OPERATOR", "expression", "statement", "training"]

HEAD = """
import contextlib
import copy
import functools

from taeda._higher_order_ops.while_loop import while_loop
from taeda.utils.checkpoint import checkpoint

INDEX = taeda.tensor([0, 1])
INTS = taeda.tensor([3, -2, 5, 7])


def grows(a, n):
    return (a.abs().sum() < 50).logical_and(n < 4)


class Cubed(taeda.autograd.Function):
    @staticmethod
    def forward(ctx, t, k):
        ctx.save_for_backward(t)
        ctx.k = k
        return t * t * t * k

    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return g * t * t * 3 * ctx.k, None


class Named(taeda.Tensor):
    pass


def noted(f):
    @functools.wraps(f)
    def call(*args, **kwargs):
        return f(*args, **kwargs)

    return call


@noted
def shifted(t, k=0.25):
    return t + k


compiled = taeda.compile if COMPILES else (lambda f, **settings: f)
inner = compiled(lambda t: (t * 2).tanh() + W, backend="aot_eager")
part = functools.partial(helper, k=1.5)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        taeda.manual_seed(4)
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.batch = nn.BatchNorm1d(4)
        self.half = nn.Linear(4, 4).to(taeda.bfloat16)

    def forward(self, t):
        t = self.batch(self.second(self.first(t).relu()))
        return t + self.half(t.to(taeda.bfloat16)).float()


TIED = Tied()
OUTER = compiled(Tied(), backend="aot_eager")


def doubled(m, a, o):
    return o * 2


def moved(m, a):
    return (a[0] + W,)


"""

OPERATOR = """

@taeda.library.custom_op(f"fuzz{SPACE}::halved", mutates_args=())
def halved(t: taeda.Tensor, k: float) -> taeda.Tensor:
    return t / 2 + k


@halved.register_fake
def _(t, k):
    return taeda.empty_like(t)


halved.register_autograd(lambda ctx, g: (g / 2, None))

"""


def expression(c: random.Random, t: str, u: str, k: str) -> str:
    """A tensor of as many rows, of other kinds of calls."""
    return c.choice(
        [
            (f"Cubed.apply({t}, "
            f"{k})"), f"halved({t}, 0.5)", f"shifted({t})", f"shifted({t}, k={k})", f"inner({t})",
            f"part({t})", f"TIED({t})", f"OUTER({t})",
            ("functools.partial(helper, "
            f"k={k})({t})"), f"checkpoint(helper, {t}, use_reentrant=False)",
            f"checkpoint(NET, {t}, use_reentrant=False)",
            (f"checkpoint(NET.drop, {t}, "
            "use_reentrant=True)"), f"{t}.double().mul({u}).float()", f"{t}.to(taeda.bfloat16).float() * {u}",
            (f"({t} > "
            f"{u}).to(taeda.int64).float()"),
            f"({t} + 0).as_subclass(Named).as_subclass(taeda.Tensor)", f"{t}[INDEX].sum(0) + {u}",
            f"{t} + {t}.t()[INTS.abs() % 4].t()",
            (f"{t} * (INTS // "
            f"{c.choice(['2', 'INTS'])})"), f"{t}.masked_fill({u} > 0, 1.0)",
            f"taeda.einsum('ij,kj->ik', {t}, {u}) @ {u}", f"{t}.expand(2, *{t}.shape).sum(0)",
            f"{t}.t().contiguous().t()", f"{t}.clone().t().exp().t()",
            f"{t}.split(2, 1)[1].repeat(1, 2)", f"taeda.chunk({t}, 2, 1)[0].repeat(1, 2)",
            f"{t}.detach() * {u}",
            (f"{t}.data + "
            f"{u}"), f"F.gelu({t}.double()).float()", f"taeda.bernoulli({t}.sigmoid())",
            f"{t}.unfold(1, 2, 2).flatten(1)", f"F.cross_entropy({t}, INDEX[{t}.argmax(1) % 2]) * {u}",
            f"taeda.nan_to_num({t}.cumprod(1))", f"({t}.sort(1)[0] - {t}.topk(4, 1)[0])",
            f"{t}.roll(1, 0)", f"taeda.outer({t}[:, 0], {u}[0])", f"{t}.amax(0) + {u}",
            (f"copy.copy({t}) * "
            "2"), f"F.embedding(INDEX, {t})[0] + {u}", f"F.normalize({t}, dim=1)",
            f"taeda.logsumexp({t}, 1, keepdim=True) + {u}", f"{t}.var(1, keepdim=True) * {u}",
            f"taeda.cond({t}.sum() > {k}, lambda a, b: a * b, lambda a, b: a - b.sin(), ({t}, {u}))",
            f"taeda.cond({t}[0, 0] > {u}[0, 1], lambda a: a @ W.diag(), lambda a: a.flip(0), ({t},))",
            f"while_loop(grows, lambda a, n: (a * 1.5 + W, n + 1), ({t}, taeda.tensor(0)))[0] + {u}",
        ]
    )  # fmt: skip


def statement(c: random.Random, name: str, t: str, u: str, k: str, inside: str) -> list[str]:
    """Lines that define `name`; `inside` is an expression."""
    kinds: list[list[str]] = [
        ["with taeda.autocast('cpu', dtype=taeda.bfloat16):", f"    {name} = ({inside})",
            f"{name} = {name}.float()"],
        ["with taeda.enable_grad():", f"    {name} = {inside}"],
        ["with taeda.inference_mode():", f"    {name}_ = ({t} * 2).sum()", f"{name} = {u} + {name}_"],
        [f"{name} = {t} * 1", f"v = {name}.view(-1)", f"v[0] = {k}", "v.data[1:2].add_(1)"],
        [f"{name} = {t} + 0", f"{name}.data.mul_(2)", f"{name}.detach().add_({u}.detach())"],
        [f"{name} = {t}.clone()", f"{name}.t()[1].add_(1)", f"a = {name}[:, 2]", f"a.mul_({k})"],
        [f"{name} = {t} + 1", "with taeda.no_grad():", f"    {name}.mul_(2)", f"    {name}[0].zero_()"],
        ["try:", f"    {name} = {t}[INDEX].mean(0) + {u}", "except IndexError:", f"    {name} = {inside}"],
        [f"{name} = {t}", "try:", f"    {name} = {inside}", "finally:", f"    {name} = {name} + 0"],
        [f"{name} = {t}", f"for i in range({c.randint(1, 3)}):", f"    {name} = {name} * {k} + {u}",
            "    if i == 1:", "        break"],
        [f"a, *b = {t}.unbind(1)", f"{name} = taeda.stack([*b, a], 1)"],
        [f"{name} = {{'a': {t}, 'b': [{u}]}}", f"{name}['b'].append({inside})",
            f"{name} = {name}['a'] + sum({name}['b'])"],
        [f"def {name}_f(q, k={k}):", f"    return q * k + {u}", f"{name} = {name}_f({t})"],
        [f"{name} = (lambda q: q + {t})({inside})"],
        ["W.add_(0.125)", f"{name} = {inside}"],
        [f"{name} = taeda.empty_like({t})", f"taeda.mul({t}.detach(), 2, out={name})",
            f"{name} = {name} + {u}"],
        [f"{name} = {inside}", f"assert {name}.shape[1] == 4",
            f"{name} = {name}.requires_grad_({name}.requires_grad) * 1"],
        [f"{name} = taeda.zeros_like({t}).index_add_(0, INDEX % {t}.shape[0], {u}.detach()[:2]) + {t}"],
    ]  # fmt: skip
    return c.choice(kinds)


def training(c: random.Random) -> str:
    """A program around `program` that trains; gradients are cleared here, there, or every other call."""
    optimizer = c.choice(
        ["SGD({p}, lr=0.05, momentum=0.9)", "Adam({p}, lr=0.01)",
            "AdamW({p}, lr=0.01, foreach=False)", "SGD({p}, lr=0.1)", "RMSprop({p}, lr=0.01)",
            "Adagrad({p}, lr=0.01)"]
    )  # fmt: skip
    net = c.choice(["NET", "TIED"])
    early, late = c.choice(
        [
            ("OPTIMIZER.zero_grad()", "pass"), ("pass", "OPTIMIZER.zero_grad()"),
            ("OPTIMIZER.zero_grad(set_to_none=False)", "pass"), ("pass", "pass"),
            ("for p in NET.parameters():\n        p.grad = None", "pass"),
        ]
    )  # fmt: skip
    loss = c.choice(
        ["NET(x).square().mean()", "F.cross_entropy(NET(x), INDEX[(y[:, 0] > 0).long()])",
         "F.nll_loss(NET(x).log_softmax(1), (y.argmax(1) + OFFSET))",
         ("(checkpoint(NET, x, use_reentrant=False) - "
         "y).abs().sum()"), "(Cubed.apply(NET(x), 0.5) * y).mean()", "halved(NET(x), 1.0).square().sum()"]
    ).replace("NET", net)  # fmt: skip
    between = c.choice(
        ["pass", "nn.utils.clip_grad_norm_(NET.parameters(), 0.5)",
         "nn.utils.clip_grad_value_(NET.parameters(), 0.01)", "(loss * 0.5 + 0).sum()",
         "NET(y).mean().backward()"]
    ).replace("NET", net)  # fmt: skip
    step = c.choice(
        ["OPTIMIZER.step()", "OPTIMIZER.step()", "pass", "seen = x[INDEX]\n    OPTIMIZER.step()"]
    )
    return f"""
OFFSET = 0
OPTIMIZER = taeda.optim.{optimizer.format(p=net + ".parameters()")}
plain = program


def program(x, y):
    {early.replace("NET", net)}
    made = plain(x, y)
    loss = {loss}
    loss.backward()
    {between}
    {step}
    {late}
    return made, loss.detach()
"""


CHANGES = [
    ("m.INDEX = m.taeda.tensor([0, "
    "9])"), "m.INDEX = m.taeda.tensor([1, 0])", "m.INDEX.fill_(6)", "m.INDEX.fill_(0)",
    "m.INTS[1] = 0", "m.OFFSET = 2", "m.OFFSET = 0",
    ("m.hook = "
    "m.NET.register_forward_hook(m.doubled)"),
    "m.hook = m.NET.lin.register_forward_pre_hook(m.moved)",
    "m.hook.remove() if hasattr(m, 'hook') else None",
    "m.TIED.eval()", "m.TIED.train()", "m.TIED.batch.momentum = 0.5", "m.TIED.zero_grad()",
    "m.NET.zero_grad()", "m.NET.lin.bias.requires_grad_(False)",
    ("m.NET.drop.p = "
    "0.6"), "m.TIED.second = m.copy.deepcopy(m.TIED.second)",
    "m.part = m.functools.partial(m.helper, k=0.5)", "m.taeda.manual_seed(8)", "m.W = m.W.double()",
    ("m.NET.lin = m.nn.utils.parametrizations.weight_norm(m.NET.lin) if not hasattr(m.NET.lin, "
    "'parametrizations') else m.NET.lin"), "m.OUTER = m.copy.deepcopy(m.OUTER)", "m.OUTER.eval()",
]  # fmt: skip
