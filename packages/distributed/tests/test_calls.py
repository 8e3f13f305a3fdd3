"""One collective as a rank called it."""

from __future__ import annotations

from taeda.distributed._calls import Call, users_line


def test_the_line_is_the_callers():
    assert users_line().startswith("test_calls.py:")
    call = Call("barrier", "barrier()")
    assert call.line.startswith("test_calls.py:")


def test_text_says_signature_detail_and_line():
    call = Call("send", "send(float32 (3,))", "to rank 1")
    assert str(call) == f"send(float32 (3,)), to rank 1 at {call.line}"
    assert str(Call("barrier", "barrier()")).startswith("barrier() at test_calls.py:")


def test_the_end_is_noted_and_what_came_along_is_let_go():
    call = Call("all_reduce", "all_reduce()", wants=len)
    call.payload = [1, 2]
    assert (call.state, call.ended) == ("issued", 0.0)
    call.end("done")
    assert call.state == "done" and call.ended >= call.began and call.payload is None
    facts = call.facts()
    assert facts["name"] == "all_reduce" and facts["seq"] == 0 and facts["state"] == "done"
    assert not {"wants", "payload"} & set(facts)


def test_code_of_the_library_is_no_users_code():
    import taeda.distributed._calls as calls

    assert calls._is_ours(Call.__init__.__code__)
    assert not calls._is_ours(test_the_line_is_the_callers.__code__)
    nowhere = compile("f()", "<string>", "exec")
    assert not calls._is_ours(nowhere)
