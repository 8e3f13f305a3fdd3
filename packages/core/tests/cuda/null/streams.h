/* streams.h - of the stand-in driver (libcuda_null.c): copies, streams and events. */
#ifndef NULL_STREAMS_H
#define NULL_STREAMS_H

/* ---- copies ---- */
static int copy(char *to, char *from, size_t bytes, int staged, void *on)
{
    work *w = new_work(0);
    w->to = to;
    w->from = from;
    w->bytes = bytes;
    w->staged = staged;
    return submit(w, stream_of(on));
}
static long crossed[2]; /* bytes to devices, and back */
__attribute__((visibility("default"))) long td_null_crossed(int back) { return crossed[back]; }
ENTRY cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    CHECK;
    __atomic_fetch_add(&crossed[0], (long)bytes, __ATOMIC_RELAXED);
    if (!holds((void *)to, bytes)) return INVALID;
    if (is_host(from, bytes)) return copy((char *)to, (char *)from, bytes, 0, stream);
    char *staged = malloc(bytes); /* from pageable memory the driver returns after staging */
    memcpy(staged, from, bytes);
    return copy((char *)to, staged, bytes, 1, stream);
}
ENTRY cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    CHECK;
    __atomic_fetch_add(&crossed[1], (long)bytes, __ATOMIC_RELAXED);
    if (!holds((void *)from, bytes)) return INVALID;
    return copy(to, (char *)from, bytes, 0, stream);
}
ENTRY cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    CHECK;
    if (!holds((void *)to, bytes) || !holds((void *)from, bytes)) return INVALID;
    return copy((char *)to, (char *)from, bytes, 0, stream);
}
ENTRY cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
                        size_t bytes, void *stream)
{
    CHECK;
    if (!holds((void *)to, bytes) || !holds((void *)from, bytes)) return INVALID;
    return copy((char *)to, (char *)from, bytes, 0, stream);
}

/* ---- streams and events ---- */
ENTRY cuCtxSynchronize(void)
{
    CHECK;
    NOT_CAPTURED(NULL);
    return drain(NULL);
}
ENTRY cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CHECK;
    return *least = 0, *greatest = -5, OK;
}
ENTRY cuStreamCreateWithPriority(void **made, unsigned flags, int priority)
{
    CHECK;
    stream *s = malloc(sizeof *s);
    pthread_mutex_lock(&lock);
    *s = (stream){.last = &s->first, .device = current, .priority = priority, .next = streams};
    streams = s;
    pthread_mutex_unlock(&lock);
    return *made = s, OK;
}
ENTRY cuStreamGetPriority(void *on, int *priority)
{
    CHECK;
    return *priority = stream_of(on)->priority, OK;
}
ENTRY cuStreamSynchronize(void *on)
{
    CHECK;
    NOT_CAPTURED(stream_of(on));
    return drain(stream_of(on));
}

/* Time passes with questions: the fourth one is answered with yes. */
enum { PATIENCE = 4 };
ENTRY cuStreamQuery(void *on)
{
    CHECK;
    stream *s = stream_of(on);
    NOT_CAPTURED(s);
    if (!s->first) return OK;
    if (++s->asked < PATIENCE) return 600;
    s->asked = 0;
    return drain(s);
}
ENTRY cuStreamWaitEvent(void *on, void *waited, unsigned flags)
{
    CHECK;
    event *e = waited;
    if (flags) return flags == 1 ? capture_mark(stream_of(on), NULL, e) : INVALID;
    if (e->captured && e->captured->alive) { /* the order of the calls is the order of the graph */
        stream *s = stream_of(on);
        if ((uintptr_t)on <= 2) return e->captured->lost = 1, OF_DEFAULT;
        s->into = e->captured;
        for (const brought *b = e->before; b; b = b->next)
            if (b->of != s) s->brought = bring(s->brought, b->of, b->work);
        return OK;
    }
    if (!e->seen->wanted) return OK;
    if (stream_of(on)->into) return stream_of(on)->into->lost = 1, CROSSED;
    work *w = new_work(0);
    w->waited = e;
    w->version = e->seen->wanted;
    w->on = e->on;
    e->owners++;
    return submit(w, stream_of(on));
}
ENTRY cuEventCreate(void **made, unsigned flags)
{
    CHECK;
    event *e = calloc(1, sizeof *e);
    e->timed = !(flags & 2);
    e->blocking = flags & 1;
    e->owners = 1;
    e->seen = &e->own;
    if (flags & 4 && !(flags & 2)) return free(e), INVALID; /* such have no times */
    int code = flags & 4 ? share_event(e) : OK;
    if (code) return free(e), code;
    return *made = e, OK;
}
ENTRY cuEventDestroy_v2(void *e)
{
    CHECK;
    disown(e);
    return OK;
}
ENTRY cuEventRecord(void *recorded, void *on)
{
    CHECK;
    event *e = recorded;
    e->captured = stream_of(on)->into;
    drop_brought(e->before);
    e->before = e->captured ? bring_all(NULL, stream_of(on)) : NULL;
    if (e->captured) return OK;
    work *w = new_work(0);
    w->recorded = e;
    w->version = ++e->seen->wanted;
    e->on = stream_of(on);
    e->owners++;
    e->asked = 0;
    return submit(w, e->on);
}
/* As work of its own, which each launch of the graph does anew; refused outside of a capture. */
ENTRY cuEventRecordWithFlags(void *recorded, void *on, unsigned flags)
{
    if (!flags) return cuEventRecord(recorded, on);
    CHECK;
    event *e = recorded;
    e->captured = NULL;
    return flags == 1 ? capture_mark(stream_of(on), e, NULL) : INVALID;
}
ENTRY cuEventQuery(void *asked)
{
    CHECK;
    event *e = asked;
    if (e->captured) return CAPTURED;
    NOT_CAPTURED(NOWHERE);
    if (e->seen->done >= e->seen->wanted) return OK;
    if (e->remote) return 600;
    if (++e->asked < PATIENCE) return 600;
    e->asked = 0;
    open_memory();
    int code = run_stream(e->on, e, e->seen->wanted);
    close_memory();
    return code;
}
ENTRY cuEventSynchronize(void *waited)
{
    CHECK;
    event *e = waited;
    if (e->captured) return CAPTURED;
    NOT_CAPTURED(NOWHERE);
    if (e->seen->done >= e->seen->wanted) return OK;
    if (e->remote) return await(e, e->seen->wanted);
    open_memory();
    int code = run_stream(e->on, e, e->seen->wanted);
    close_memory();
    return code;
}
ENTRY cuEventElapsedTime(float *ms, void *begin, void *end)
{
    CHECK;
    event *a = begin, *b = end;
    if (!a->timed || !b->timed || !a->seen->wanted || !b->seen->wanted) return BAD_HANDLE;
    if (a->seen->done < a->seen->wanted || b->seen->done < b->seen->wanted) return 600;
    return *ms = (float)(b->at - a->at), OK;
}
#endif
