import pytest

import taeda
from taeda.profiler import profile, record_function
from taeda.profiler._events import MemRecordsAcc, StringTable


@pytest.fixture(scope="module")
def prof():
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as made:
        with record_function("outer"):
            x = taeda.ones(4, 8)
            y = x @ x.mT
        y @ y
    return made


def test_self_and_total_add_up(prof):
    outer, *rest = prof.events()
    inside = [e for e in rest if e.cpu_parent is outer]
    assert inside and outer.self_cpu_time_total == pytest.approx(
        outer.cpu_time_total - sum(e.cpu_time_total for e in inside)
    )
    tops = [e for e in prof.events() if e.cpu_parent is None]
    assert prof.events().self_cpu_time_total == pytest.approx(sum(e.cpu_time_total for e in tops))
    assert prof.total_average().count == len(prof.events())
    assert (
        outer.self_cpu_memory_usage + sum(e.cpu_memory_usage for e in inside)
        == outer.cpu_memory_usage
    )


def test_sums_by_name_and_by_shape(prof):
    by_name = {e.key: e for e in prof.key_averages()}
    products = by_name["aten::matmul"]
    assert products.count == 2 and products.flops == 2 * (4 * 4 * 8 + 4 * 4 * 4)
    apart = [
        e.input_shapes
        for e in prof.key_averages(group_by_input_shape=True)
        if e.key == "aten::matmul"
    ]
    assert apart == [[[4, 8], [8, 4]], [[4, 4], [4, 4]]]


def test_attributes_as_text():
    with profile() as prof:
        taeda.ones(1)
    assert prof.events()[0].cpu_time_str.endswith("s")
    with pytest.raises(AttributeError, match="nothing"):
        prof.events()[0].nothing


def test_what_old_programs_name():
    assert StringTable()["x"] == "x"

    class Record:
        def __init__(self, at):
            self.at = at

        def start_ns(self):
            return self.at

    records = [(Record(5000), 0), (Record(1000), 0), (Record(9000), 0)]
    assert [r[0].at for r in MemRecordsAcc(records).in_interval(1, 6)] == [1000, 5000]
