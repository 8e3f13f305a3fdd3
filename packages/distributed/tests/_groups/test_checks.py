"""What collectives accept."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed as dist
from taeda.distributed import ReduceOp
from taeda.distributed._groups import checks


def test_tensors_on_the_processor():
    x = taeda.ones(2)
    assert checks.check_tensor(x, "x") is x
    with pytest.raises(TypeError, match="x is a tensor, not list"):
        checks.check_tensor([1], "x")
    with pytest.raises(ValueError, match="x is on meta"):
        checks.check_tensor(taeda.ones(2, device="meta"), "x")


def test_lists_of_tensors():
    both = [taeda.ones(2), taeda.zeros(3)]
    assert checks.check_tensors(both, "them", 2) == both
    with pytest.raises(TypeError, match="them is a list of tensors, not Tensor"):
        checks.check_tensors(both[0], "them")
    with pytest.raises(ValueError, match="each of the 3 ranks, and has 2"):
        checks.check_tensors(both, "them", 3)
    with pytest.raises(ValueError, match=r"several dtypes: taeda\.float32, taeda\.int64"):
        checks.check_tensors([taeda.ones(1), taeda.tensor([1])], "them")
    with pytest.raises(TypeError, match=r"them\[1\] is a tensor"):
        checks.check_tensors([taeda.ones(1), None], "them")


@pytest.mark.parametrize(
    ("op", "dtype", "words"),
    [
        (ReduceOp.MAX, taeda.complex64, "MAX has no meaning"),
        (ReduceOp.BAND, taeda.float32, "bits of integers"),
        (ReduceOp.BXOR, taeda.complex64, "BXOR has no meaning"),
        (ReduceOp.AVG, taeda.bool, "AVG has no meaning"),
        (ReduceOp.AVG, taeda.uint16, "AVG of taeda.uint16 is not there on the processor"),
        (ReduceOp.PREMUL_SUM, taeda.float32, "needs its factor"),
    ],
)
def test_reductions_without_a_meaning(op, dtype, words):
    with pytest.raises(ValueError, match=words):
        checks.check_op(op, taeda.ones(1, dtype=dtype))


def test_reductions():
    x = taeda.ones(1)
    assert checks.check_op(ReduceOp.RedOpType.SUM, x) == ReduceOp.SUM
    assert checks.check_op(ReduceOp.BAND, x.bool()) is ReduceOp.BAND
    assert checks.check_op(ReduceOp.premul_sum(2), x).factor == 2
    with pytest.raises(TypeError, match="one of ReduceOp's"):
        checks.check_op("sum", x)


def test_shapes_in_words():
    zeros = taeda.zeros
    assert checks.describe(zeros(2, 3)) == "float32 (2, 3)"
    assert checks.describe([]) == "nothing"
    assert checks.describe([zeros(2), zeros(2)]) == "float32 2 x (2,)"
    assert checks.describe([zeros(2), zeros(3)]) == "float32 (2,), (3,)"
    many = [zeros(n) for n in range(20)]
    text = checks.describe(many)
    assert "(20 shapes, " in text and text != checks.describe([*many[:-1], zeros(50)])


def test_flat_memory_is_the_tensors_own_or_is_written_back():
    x = taeda.arange(6.0).reshape(2, 3)
    whole = checks.Flat(x)
    whole.values.zero_()
    whole.back()
    assert x.sum().item() == 0
    y = taeda.arange(6.0).reshape(2, 3).t()
    copy = checks.Flat(y)
    assert copy.values.tolist() == [0, 3, 1, 4, 2, 5]
    copy.values.neg_()
    assert y[0, 1].item() == 3
    copy.back()
    assert y.tolist() == [[0, -3], [-1, -4], [-2, -5]]
    z = taeda.tensor([1 + 2j]).conj()
    assert checks.flat(z).tolist() == [1 - 2j] and not checks.flat(z).is_conj()


def test_outputs_lie_apart():
    x = taeda.zeros(6)
    checks.outputs_apart([x[:3], x[3:], taeda.zeros(0), taeda.zeros(2, 3).t()], "outputs")
    with pytest.raises(ValueError, match=r"outputs\[0\] and outputs\[1\] share memory"):
        checks.outputs_apart([x[:4], x[3:]], "outputs")
    with pytest.raises(ValueError, match=r"outputs\[0\] is expanded"):
        checks.outputs_apart([taeda.zeros(1).expand(3)], "outputs")


def test_peers_by_rank_or_by_number():
    dist.init_process_group("fake", store=dist.HashStore(), rank=1, world_size=4)
    try:
        pair, names = dist.new_group([3, 1]), ("dst", "group_dst")
        assert checks.peer_of(pair, 3, None, names) == 1
        assert checks.peer_of(pair, None, 0, names) == 0
        assert checks.peer_of(pair, None, None, names, optional=True) == -1
        for given, words in (
            ((3, 0), "dst or group_dst, not both"),
            ((None, 2), "group_dst 2 is outside of a group of 2"),
            ((None, None), "give dst, a rank of the default group"),
            ((0, None), "dst"),
        ):
            with pytest.raises(ValueError, match=words):
                checks.peer_of(pair, *given, names)
    finally:
        dist.destroy_process_group()


def test_quantized_tensors_are_refused():
    x = taeda.quantize_per_tensor(taeda.ones(2), 0.1, 3, taeda.quint8)
    with pytest.raises(ValueError, match=r"is quantized; collectives take its int_repr"):
        checks.check_tensor(x, "the tensor")
