/* graphs.h - of the stand-in driver (libcuda_null.c): work that is captured instead of done.
 *
 * Streams that join a capture put their work into the same list, in the order of the calls: that is
 * one of the orders that the graph allows. */
#ifndef NULL_GRAPHS_H
#define NULL_GRAPHS_H

typedef struct graph {
    work *first, **last;
    stream *origin;
    int lost, alive, exec, mode;
    long nodes;
} graph;
enum { FOR_ALL, FOR_THREAD, FOR_NOBODY };            /* whom a capture forbids what may wait */
static int capturing;                                /* captures that forbid it to all */
static _Thread_local int capture_mode, own_captures; /* of this thread, that forbid it */
static long graph_launches;
/* How many graphs were launched. */
__attribute__((visibility("default"))) long td_null_graph_launches(void) { return graph_launches; }

/* ---- which work comes before which ---- */
/* The number of works of `of` that what `s` does next comes after. */
static long brought_to(const stream *s, const stream *of)
{
    if (s == of) return s->work;
    for (const brought *b = s->brought; b; b = b->next)
        if (b->of == of) return b->work;
    return 0;
}
static brought *bring(brought *list, const stream *of, long work)
{
    for (brought *b = list; b; b = b->next)
        if (b->of == of) return b->work = b->work > work ? b->work : work, list;
    brought *made = malloc(sizeof *made);
    *made = (brought){list, of, work};
    return made;
}
static brought *bring_all(brought *list, const stream *from)
{
    for (const brought *b = from->brought; b; b = b->next) list = bring(list, b->of, b->work);
    return bring(list, from, from->work);
}
static void drop_brought(brought *b)
{
    for (brought *next; b; b = next) {
        next = b->next;
        free(b);
    }
}
static void forget_brought(stream *s)
{
    drop_brought(s->brought);
    s->brought = NULL;
    s->work = 0;
}

static int capture(stream *s, work *w)
{
    graph *g = s->into;
    pthread_mutex_lock(&lock);
    s->work++;
    *g->last = w;
    g->last = &w->next;
    g->nodes++;
    pthread_mutex_unlock(&lock);
    return OK;
}

/* An event that each launch records, or waits for as it was recorded last. */
static int capture_mark(stream *s, event *recorded, event *waited)
{
    if (!s->into) return INVALID;
    work *w = new_work(0);
    w->recorded = recorded;
    w->waited = waited;
    (recorded ? recorded : waited)->owners++;
    return capture(s, w);
}
/* The version that a launch on a stream means. */
static work *renewed(work *w, stream *s)
{
    if (w->recorded) {
        w->version = ++w->recorded->seen->wanted;
        w->recorded->on = s;
    }
    if (w->waited) {
        w->version = w->waited->seen->wanted;
        w->on = w->waited->on;
    }
    return w;
}

/* What no capture holds: it loses the one that the stream belongs to, or those that forbid it. `s`:
 * NULL where the whole device is meant; NOWHERE where no captured work can be. */
#define NOWHERE (&devices[0].null)
static int forbidden(stream *s)
{
    if (s && s->into) return s->into->lost = 1, NOT_IN_CAPTURE;
    if (capture_mode == FOR_NOBODY) return OK;
    if (!own_captures && !(capturing && capture_mode == FOR_ALL)) return OK;
    for (stream *t = streams; t; t = t->next)
        if (t->into && t->into->mode != FOR_NOBODY) t->into->lost = 1;
    return NOT_IN_CAPTURE;
}
#define NOT_CAPTURED(s)           \
    do {                          \
        int code_ = forbidden(s); \
        if (code_) return code_;  \
    } while (0)

ENTRY cuStreamBeginCapture_v2(void *on, int mode)
{
    CHECK;
    stream *s = stream_of(on);
    if ((uintptr_t)on <= 2 || mode < 0 || mode > 2) return NOT_IN_CAPTURE;
    if (s->into) return INVALID;
    graph *g = calloc(1, sizeof *g);
    *g = (graph){.last = &g->first, .origin = s, .alive = 1, .mode = mode};
    g->last = &g->first;
    s->into = g;
    s->brought = NULL;
    if (mode == FOR_ALL) __atomic_add_fetch(&capturing, 1, __ATOMIC_RELAXED);
    if (mode != FOR_NOBODY) own_captures++;
    return OK;
}
ENTRY cuStreamIsCapturing(void *on, int *status)
{
    CHECK;
    stream *s = stream_of(on);
    return *status = !s->into ? 0 : s->into->lost ? 2 : 1, OK;
}
ENTRY cuThreadExchangeStreamCaptureMode(int *mode)
{
    CHECK;
    int before = capture_mode;
    capture_mode = *mode;
    return *mode = before, OK;
}

static void drop_works(graph *g)
{
    for (work *w = g->first, *next; w; w = next) {
        next = w->next;
        if (w->staged) free(w->from);
        disown(w->recorded);
        disown(w->waited);
        free(w);
    }
    free(g);
}
/* With the lock held: what was captured on a device that was lost, by this thread. */
static void discard_captures(void)
{
    for (stream *t = streams; t; t = t->next) {
        if (t->into && t->into->origin == t) drop_works(t->into);
        if (t->into) forget_brought(t);
    }
    for (stream *t = streams; t; t = t->next) t->into = NULL;
    capturing = own_captures = 0;
}
ENTRY cuStreamEndCapture(void *on, void **made)
{
    CHECK;
    stream *s = stream_of(on);
    graph *g = s->into;
    if (!g || g->origin != s) return INVALID;
    int left = 0;
    for (stream *t = streams; t; t = t->next) left += t->into == g && t->work > brought_to(s, t);
    for (stream *t = streams; t; t = t->next)
        if (t->into == g) forget_brought(t), t->into = NULL;
    if (g->mode == FOR_ALL) __atomic_sub_fetch(&capturing, 1, __ATOMIC_RELAXED);
    if (g->mode != FOR_NOBODY) own_captures--;
    *made = NULL;
    if (g->lost || left) {
        int lost = g->lost;
        drop_works(g);
        return lost ? LOST_CAPTURE : LEFT_CAPTURE;
    }
    return *made = g, OK;
}

static work *copy_of(const work *w)
{
    work *made = new_work(w->room);
    memcpy(made, w, sizeof *w + w->room);
    made->next = NULL;
    made->staged = 0; /* what was staged stays the graph's */
    if (made->recorded) made->recorded->owners++;
    if (made->waited) made->waited->owners++;
    return made;
}
ENTRY cuGraphInstantiateWithFlags(void **exec, void *of, unsigned long long flags)
{
    CHECK;
    graph *g = of, *made = calloc(1, sizeof *made);
    if (g->exec || flags) return free(made), INVALID;
    *made = (graph){.alive = 1, .exec = 1, .nodes = g->nodes};
    made->last = &made->first;
    for (const work *w = g->first; w; w = w->next) {
        *made->last = copy_of(w);
        made->last = &(*made->last)->next;
    }
    return *exec = made, OK;
}
ENTRY cuGraphLaunch(void *exec, void *on)
{
    CHECK;
    graph *g = exec;
    if (!g->exec) return INVALID;
    graph_launches++;
    int code = OK;
    for (const work *w = g->first; w && !code; w = w->next)
        code = submit(renewed(copy_of(w), stream_of(on)), stream_of(on));
    return code;
}
ENTRY cuGraphExecDestroy(void *exec)
{
    CHECK;
    if (drain(NULL)) return sticky;
    return drop_works(exec), OK;
}
ENTRY cuGraphDestroy(void *g)
{
    CHECK;
    return drop_works(g), OK;
}
ENTRY cuGraphDebugDotPrint(void *of, const char *path, unsigned flags)
{
    CHECK;
    const graph *g = of;
    FILE *file = fopen(path, "w");
    if (!file) return INVALID;
    fprintf(file, "digraph stand_in {\n");
    long k = 0;
    for (const work *w = g->first; w; w = w->next, k++)
        fprintf(file, "  n%ld [label=\"%s\"];\n", k,
                w->kernel  ? w->kernel->name
                : w->call  ? "product"
                : w->bytes ? "copy"
                           : "event");
    fprintf(file, "}\n");
    return fclose(file) ? INVALID : OK;
}
#endif
