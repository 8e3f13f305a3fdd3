"""The search for barriers that a split warp reaches, on small PTX."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cuda"))
from barriers import divergent

HEAD = """
.version 8.0
.target sm_90
.visible .entry kernel(
	.param .u64 kernel_param_0
)
{
	.reg .pred %p<4>;
	mov.u32 %r1, %tid.x;
	ld.param.u64 %rd1, [kernel_param_0];
"""


def faults(body: str) -> list[str]:
    return divergent(HEAD + body + "\tret;\n}\n")


def test_one_barrier_for_all_is_right():
    assert not faults("""
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra $L1;
	st.shared.u32 [slots], %r1;
$L1:
	bar.sync 0;
	ld.shared.u32 %r2, [slots];
	setp.eq.s32 %p2, %r2, 0;
	@%p2 bra $L2;
	bar.sync 0;
$L2:
""")


def test_one_on_each_way_is_a_fault():
    found = faults("""
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra $L1;
	bar.sync 0;
	bra.uni $L2;
$L1:
	bar.sync 0;
$L2:
""")
    assert len(found) == 2
    assert found[0].startswith("kernel: bar.sync 0; in a part of a warp")


def test_a_loop_that_threads_leave_at_different_times():
    loop = """
	mov.u32 %r2, {start};
$L1:
	bar.sync 0;
	add.s32 %r2, %r2, 64;
	setp.lt.s32 %p1, %r2, %r3;
	@%p1 bra $L1;
"""
    assert faults(loop.format(start="%r1"))
    assert not faults(loop.format(start="0"))


def test_what_is_written_on_a_split_way_differs():
    assert faults("""
	mov.u32 %r2, 0;
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra $L1;
	mov.u32 %r2, 1;
$L1:
	setp.ne.s32 %p2, %r2, 0;
	@%p2 bra $L2;
	bar.sync 0;
$L2:
""")


def test_a_called_function_that_waits():
    called = """
.func waits(
	.param .b32 waits_param_0
)
{
	bar.sync 0;
	ret;
}
"""
    body = """
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra $L1;
	call.uni waits, (param0);
$L1:
	ret;
}
"""
    assert len(divergent(called + HEAD + body)) == 1
