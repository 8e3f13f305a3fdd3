"""One collective as a rank called it."""

from __future__ import annotations

from taeda.distributed._calls import Call, purpose, purpose_told, users_line


def test_the_line_is_the_callers():
    assert users_line().startswith("test_calls.py:")
    call = Call("barrier", "barrier()")
    assert call.line.startswith("test_calls.py:")


def test_text_says_signature_detail_and_line():
    call = Call("send", "send(float32 (3,))", "to rank 1")
    assert str(call) == f"send(float32 (3,)), to rank 1 at {call.line}"
    assert str(Call("barrier", "barrier()")).startswith("barrier() at test_calls.py:")


def test_the_purpose_stands_behind_the_line():
    with purpose("gathers unit blocks.0"):
        with purpose("saving: the index"):
            assert purpose_told() == "saving: the index"
        call = Call("barrier", "barrier()")
    assert call.line.startswith("test_calls.py:") and call.line.endswith(" (gathers unit blocks.0)")
    assert "(" not in Call("barrier", "barrier()").line and purpose_told() == ""


def test_a_context_between_two_frames_of_the_library_is_no_users_line():
    import contextlib

    import taeda.distributed._calls as calls

    assert calls._is_ours(contextlib.__file__)


def test_the_end_is_noted_and_what_came_along_is_let_go():
    call = Call("all_reduce", "all_reduce()", wants=len)
    call.payload = call.brought = [1, 2]
    assert (call.state, call.ended) == ("issued", 0.0)
    call.end("done")
    assert (
        call.state == "done" and call.ended >= call.began and call.payload is call.brought is None
    )
    facts = call.facts()
    assert facts["name"] == "all_reduce" and facts["seq"] == 0 and facts["state"] == "done"
    assert not {"wants", "payload", "brought"} & set(facts)


def test_code_of_the_library_is_no_users_code():
    import taeda.distributed._calls as calls

    assert calls._is_ours(calls.__file__)
    assert not calls._is_ours(__file__)
    assert not calls._is_ours("<string>")
    assert calls._is_ours("/x/site-packages/taeda/nn/module.py")
    assert calls._is_ours("/x/packages/nn/src/taeda/nn/module.py")
    assert not calls._is_ours("/x/taeda/train.py")
