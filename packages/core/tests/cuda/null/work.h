/* work.h - of the stand-in driver (libcuda_null.c): memory that is closed, and the work of streams
 * that waits for its turn. */
#ifndef NULL_WORK_H
#define NULL_WORK_H

/* ---- memory ---- */
static void set_protection(int how)
{
    for (int i = 0; protect && i < SEGMENTS; i++)
        if (segments[i].data) mprotect(segments[i].data, segments[i].bytes, how);
}
static void open_memory(void)
{
    pthread_mutex_lock(&lock);
    set_protection(PROT_READ | PROT_WRITE);
}
static void close_memory(void)
{
    set_protection(PROT_NONE);
    pthread_mutex_unlock(&lock);
}

/* a whole range within one segment of the device; else the address is nobody's */
static int holds(const void *address, size_t bytes)
{
    const char *at = address;
    for (int i = 0; i < SEGMENTS; i++)
        if (segments[i].data && at >= segments[i].data &&
            at + bytes <= segments[i].data + segments[i].bytes)
            return 1;
    return 0;
}

/* ---- work that waits ---- */
typedef struct work {
    struct work *next;
    const emulated *kernel;
    void (*call)(void *argument); /* of another library's stand-in */
    unsigned grid, block;
    char *to, *from; /* a copy of `bytes`; staged: from is the queue's own */
    size_t bytes;
    int staged;
    event *recorded, *waited;
    stream *on; /* where `waited` was recorded */
    long version;
    size_t room; /* of the argument */
    _Alignas(16) char argument[];
} work;
static stream *streams;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static stream *stream_of(void *handle) /* NULL, 1 and 2 are the default stream of the device */
{
    return (uintptr_t)handle > 2 ? handle : &devices[current < 0 ? 0 : current].null;
}

static void drop_brought(brought *b);
static void disown(event *e)
{
    if (!e || --e->owners) return;
    drop_brought(e->before);
    free(e);
}

/* With the lock held and memory open: the work of a stream, up to a version of an event if one is
 * given. Work that waits for another stream runs that stream so far. */
static int run_stream(stream *s, const event *until, long version);

/* Another process does what leads to the event: 10 s of patience. */
static int await(const event *e, long version)
{
    for (int i = 0; e->seen->done < version && i < 100000; i++) usleep(100);
    return e->seen->done < version ? 600 : OK;
}

static int perform(work *w)
{
    int code = OK;
    if (w->kernel) {
        void *argument = w->argument;
        /* threads that wait for ever */
        if (w->kernel->run(w->grid, w->block, &argument)) code = sticky = 700;
    } else if (w->call) {
        w->call(w->argument);
    } else if (w->recorded) {
        w->recorded->at = now();
        w->recorded->seen->done = w->version;
    } else if (w->waited && w->waited->remote) {
        code = await(w->waited, w->version);
    } else if (w->waited) {
        if (w->waited->seen->done < w->version) code = run_stream(w->on, w->waited, w->version);
    } else {
        memmove(w->to, w->from, w->bytes);
    }
    if (w->staged) free(w->from);
    disown(w->recorded);
    disown(w->waited);
    return code;
}

static int run_stream(stream *s, const event *until, long version)
{
    int code = OK;
    while (s->first && !(until && until->seen->done >= version)) {
        work *w = s->first;
        s->first = w->next;
        if (!s->first) s->last = &s->first;
        if (w->recorded) w->recorded->owners++; /* `until` may be it */
        event *kept = w->recorded;
        if (!code) code = perform(w);
        free(w);
        int over = kept && kept == until && kept->seen->done >= version;
        disown(kept);
        if (over) break;
    }
    return code ? code : sticky;
}

static void discard(stream *s)
{
    for (work *w = s->first, *next; w; w = next) {
        next = w->next;
        if (w->staged) free(w->from);
        if (w->recorded) w->recorded->seen->done = w->version;
        disown(w->recorded);
        disown(w->waited);
        free(w);
    }
    s->first = NULL;
    s->last = &s->first;
}
static void discard_all(void)
{
    for (int i = 0; i < DEVICES; i++) discard(&devices[i].null);
    for (stream *t = streams; t; t = t->next) discard(t);
}

static int drain(stream *s) /* NULL: all of them */
{
    int code = OK;
    open_memory();
    if (s) code = run_stream(s, NULL, 0);
    for (int i = 0; !s && i < DEVICES; i++) {
        int one = devices[i].null.last ? run_stream(&devices[i].null, NULL, 0) : OK;
        code = code ? code : one;
    }
    for (stream *t = s ? NULL : streams; t; t = t->next) {
        int one = run_stream(t, NULL, 0);
        code = code ? code : one;
    }
    close_memory();
    return code ? code : sticky;
}

static int capture(stream *s, work *w);
static int submit(work *w, stream *s)
{
    if (s->into) return capture(s, w);
    pthread_mutex_lock(&lock);
    *s->last = w;
    s->last = &w->next;
    pthread_mutex_unlock(&lock);
    return late ? OK : drain(s);
}

static work *new_work(size_t argument)
{
    size_t bytes = (sizeof(work) + argument + 15) / 16 * 16;
    work *w = aligned_alloc(16, bytes);
    memset(w, 0, sizeof *w);
    w->room = argument;
    return w;
}
#endif
