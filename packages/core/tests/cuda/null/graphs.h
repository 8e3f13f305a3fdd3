/* graphs.h - of the stand-in driver (libcuda_null.c): work that is captured instead of done.
 *
 * Streams that join a capture put their work into the same list, in the order of the calls: that is
 * one of the orders that the graph allows. */
#ifndef NULL_GRAPHS_H
#define NULL_GRAPHS_H

typedef struct graph {
    work *first, **last;
    stream *origin;
    int lost, alive, joined, exec; /* joined: streams beside the origin that have not come back */
    long nodes;
} graph;
static int capturing; /* captures that allow nobody what they forbid */
static _Thread_local int capture_mode;
static long graph_launches;
/* How many graphs were launched. */
__attribute__((visibility("default"))) long td_null_graph_launches(void) { return graph_launches; }

static int capture(graph *g, work *w)
{
    pthread_mutex_lock(&lock);
    *g->last = w;
    g->last = &w->next;
    g->nodes++;
    pthread_mutex_unlock(&lock);
    return OK;
}

/* What no capture holds: it loses the one that the stream belongs to, or that allows it to nobody.
 */
static int forbidden(stream *s)
{
    if (s && s->into) return s->into->lost = 1, NOT_IN_CAPTURE;
    if (!s && capturing && capture_mode != 2) {
        for (stream *t = streams; t; t = t->next)
            if (t->into) t->into->lost = 1;
        return NOT_IN_CAPTURE;
    }
    return OK;
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
    *g = (graph){.last = &g->first, .origin = s, .alive = 1};
    g->last = &g->first;
    s->into = g;
    __atomic_add_fetch(&capturing, 1, __ATOMIC_RELAXED);
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
ENTRY cuStreamEndCapture(void *on, void **made)
{
    CHECK;
    stream *s = stream_of(on);
    graph *g = s->into;
    if (!g || g->origin != s) return INVALID;
    int left = 0;
    for (stream *t = streams; t; t = t->next)
        if (t->into == g) left += t != s, t->into = NULL;
    __atomic_sub_fetch(&capturing, 1, __ATOMIC_RELAXED);
    *made = NULL;
    if (g->lost || left > g->joined) {
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
        code = submit(copy_of(w), stream_of(on));
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
