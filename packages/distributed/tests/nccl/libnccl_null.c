/* libnccl_null.c - a stand-in for libnccl.so.2 beside the stand-in driver; TAEDA_LIBNCCL names it.
 *
 * Ranks are processes that share a file, which the unique id names. Every collective is: copy my
 * bytes off the device into my slot, wait for all, compute my part out of all slots, wait for all.
 * Arguments are checked as NCCL's page on its API says; a call that differs between ranks is
 * ncclInvalidUsage. Settings:
 *
 *   TAEDA_NULL_NCCL_LOG=path       one line for each call: name, count, type, op, root or peer, stream
 *   TAEDA_NULL_NCCL_FAIL=name:n:c  the n-th call of `name` answers with code c
 *   TAEDA_NULL_NCCL_ASYNC=n:c      from the n-th collective on ncclCommGetAsyncError tells code c */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRY __attribute__((visibility("default"))) int
enum { SUCCESS, CUDA_ERROR, SYSTEM_ERROR, INTERNAL, INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR };
enum { RANKS = 8, SLOT = 1 << 22, MAIL = 1 << 18, MAGIC = 0x7ae0a, TYPES = 10, PREMUL = 5 };

typedef struct {
    char bytes[128];
} unique_id;
typedef struct {
    int arrived, turn, came[RANKS]; /* `turn` moves when all have arrived */
    char call[RANKS][128];
    size_t full[RANKS][RANKS]; /* bytes of a message + 1, 0: none */
    char mail[RANKS][RANKS][MAIL];
    char slot[RANKS][SLOT];
} shared;
typedef struct {
    int magic, rank, size, aborted, collectives;
    shared *all;
} comm;
typedef struct {
    int sends, peer;
    void *at;
    size_t bytes;
    comm *c;
} message;

static message pending[256];
static int depth, npending;
static const size_t width[TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

/* ---- the driver's copies ---- */
static int (*to_host)(void *, uint64_t, size_t, void *);
static int (*to_device)(uint64_t, const void *, size_t, void *);
static int (*all_done)(void *);
static int driver(void)
{
    if (all_done) return SUCCESS;
    void *library = dlopen(getenv("TAEDA_LIBCUDA"), RTLD_NOW);
    if (!library) return SYSTEM_ERROR;
    *(void **)&to_host = dlsym(library, "cuMemcpyDtoHAsync_v2");
    *(void **)&to_device = dlsym(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&all_done = dlsym(library, "cuStreamSynchronize");
    return all_done ? SUCCESS : SYSTEM_ERROR;
}
static int fetch(void *to, const void *from, size_t bytes, void *stream)
{
    if (!bytes) return SUCCESS;
    return to_host(to, (uint64_t)(uintptr_t)from, bytes, stream) || all_done(stream) ? CUDA_ERROR
                                                                                     : SUCCESS;
}
static int store(void *to, const void *from, size_t bytes, void *stream)
{
    if (!bytes) return SUCCESS;
    return to_device((uint64_t)(uintptr_t)to, from, bytes, stream) || all_done(stream) ? CUDA_ERROR
                                                                                       : SUCCESS;
}

/* ---- what was asked ---- */
static int note(const char *name, size_t count, int type, int op, int root, void *stream)
{
    static long calls;
    const char *path = getenv("TAEDA_NULL_NCCL_LOG"), *fail = getenv("TAEDA_NULL_NCCL_FAIL");
    if (path) {
        FILE *file = fopen(path, "a");
        fprintf(file, "%s count=%zu type=%d op=%d root=%d stream=%d\n", name, count, type, op, root,
                stream != NULL);
        fclose(file);
    }
    char wanted[64];
    long number;
    int code;
    if (fail && sscanf(fail, "%63[^:]:%ld:%d", wanted, &number, &code) == 3 &&
        !strcmp(wanted, name) && ++calls == number)
        return code;
    return SUCCESS;
}
static int meet(comm *c)
{
    shared *s = c->all;
    int turn = __atomic_load_n(&s->turn, __ATOMIC_SEQ_CST);
    if (__atomic_add_fetch(&s->arrived, 1, __ATOMIC_SEQ_CST) == c->size) {
        s->arrived = 0;
        __atomic_add_fetch(&s->turn, 1, __ATOMIC_SEQ_CST);
        return SUCCESS;
    }
    while (__atomic_load_n(&s->turn, __ATOMIC_SEQ_CST) == turn) {
        if (__atomic_load_n(&c->aborted, __ATOMIC_SEQ_CST)) return INVALID_USAGE;
        sched_yield();
    }
    return SUCCESS;
}
static int begin(comm *c, const char *name, const void *in, size_t bytes, size_t count, int type,
                 int op, int root, void *stream)
{
    if (!c || c->magic != MAGIC || type < 0 || type >= TYPES || op < -1 || op > PREMUL ||
        root < -1 || root >= c->size || bytes > SLOT)
        return INVALID_ARGUMENT;
    int code = note(name, count, type, op, root, stream);
    if (code || (code = driver())) return code;
    c->collectives++;
    if (in && (code = fetch(c->all->slot[c->rank], in, bytes, stream))) return code;
    snprintf(c->all->call[c->rank], 128, "%s %zu %d %d %d", name, count, type, op, root);
    if ((code = meet(c))) return code;
    for (int r = 0; r < c->size; r++)
        if (strcmp(c->all->call[r], c->all->call[c->rank])) return INVALID_USAGE;
    return SUCCESS;
}

/* ---- sums ---- */
static float from_half(uint16_t bits)
{
    _Float16 value;
    memcpy(&value, &bits, 2);
    return (float)value;
}
static uint16_t to_half(float x)
{
    _Float16 value = (_Float16)x;
    uint16_t bits;
    memcpy(&bits, &value, 2);
    return bits;
}
static float from_bfloat(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, 4);
    return x;
}
static uint16_t to_bfloat(float x)
{
    uint32_t wide;
    memcpy(&wide, &x, 4);
    return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}
#define JOIN(op, a, b)                     \
    ((op) == 1   ? (a) * (b)               \
     : (op) == 2 ? ((b) > (a) ? (b) : (a)) \
     : (op) == 3 ? ((b) < (a) ? (b) : (a)) \
                 : (a) + (b))
#define SAME(x) (x)
#define SUM(symbol, type, wide, load, keep)                                               \
    static void symbol(comm *c, type *out, size_t from, size_t n, int op)                 \
    {                                                                                     \
        for (size_t i = 0; i < n; i++) {                                                  \
            wide total = load(((type *)c->all->slot[0])[from + i]);                       \
            for (int r = 1; r < c->size; r++)                                             \
                total = (wide)JOIN(op, total, load(((type *)c->all->slot[r])[from + i])); \
            out[i] = keep(total);                                                         \
        }                                                                                 \
    }
SUM(sum_i8, int8_t, int8_t, SAME, SAME)
SUM(sum_u8, uint8_t, uint8_t, SAME, SAME)
SUM(sum_i32, int32_t, int32_t, SAME, SAME)
SUM(sum_u32, uint32_t, uint32_t, SAME, SAME)
SUM(sum_i64, int64_t, int64_t, SAME, SAME)
SUM(sum_u64, uint64_t, uint64_t, SAME, SAME)
SUM(sum_half, uint16_t, float, from_half, to_half)
SUM(sum_f32, float, float, SAME, SAME)
SUM(sum_f64, double, double, SAME, SAME)
SUM(sum_bfloat, uint16_t, float, from_bfloat, to_bfloat)

static int reduced(comm *c, void *out, size_t from, size_t n, int type, int op, void *stream)
{
    void *made = malloc(n * width[type] + 1);
    switch (type) {
        case 0: sum_i8(c, made, from, n, op); break;
        case 1: sum_u8(c, made, from, n, op); break;
        case 2: sum_i32(c, made, from, n, op); break;
        case 3: sum_u32(c, made, from, n, op); break;
        case 4: sum_i64(c, made, from, n, op); break;
        case 5: sum_u64(c, made, from, n, op); break;
        case 6: sum_half(c, made, from, n, op); break;
        case 7: sum_f32(c, made, from, n, op); break;
        case 8: sum_f64(c, made, from, n, op); break;
        default: sum_bfloat(c, made, from, n, op);
    }
    int code = store(out, made, n * width[type], stream);
    free(made);
    return code;
}

/* ---- communicators ---- */
ENTRY ncclGetVersion(int *version) { return *version = 22703, SUCCESS; }
ENTRY ncclGetUniqueId(unique_id *id)
{
    memset(id, 0, sizeof *id);
    snprintf(id->bytes, 128, "/tmp/taeda_nccl_null_XXXXXX");
    int file = mkstemp(id->bytes);
    if (file < 0 || ftruncate(file, sizeof(shared))) return SYSTEM_ERROR;
    return close(file), note("GetUniqueId", 0, 0, 0, 0, NULL);
}
ENTRY ncclCommInitRank(comm **made, int size, unique_id id, int rank)
{
    if (rank < 0 || rank >= size || size > RANKS) return INVALID_ARGUMENT;
    int code = note("CommInitRank", (size_t)size, 0, 0, rank, NULL);
    if (code) return code;
    int file = open(id.bytes, O_RDWR);
    if (file < 0) return INVALID_ARGUMENT;
    comm *c = calloc(1, sizeof *c);
    c->magic = MAGIC;
    c->rank = rank;
    c->size = size;
    c->all = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    *made = c;
    if ((code = meet(c))) return code;
    unlink(id.bytes);
    return SUCCESS;
}
ENTRY ncclCommGetAsyncError(comm *c, int *told)
{
    const char *fail = getenv("TAEDA_NULL_NCCL_ASYNC");
    int number, code;
    *told = SUCCESS;
    if (fail && sscanf(fail, "%d:%d", &number, &code) == 2 && c->collectives >= number)
        *told = code;
    return SUCCESS;
}
ENTRY ncclCommAbort(comm *c)
{
    __atomic_store_n(&c->aborted, 1, __ATOMIC_SEQ_CST);
    return note("CommAbort", 0, 0, 0, c->rank, NULL);
}
ENTRY ncclCommDestroy(comm *c)
{
    c->magic = 0;
    return note("CommDestroy", 0, 0, 0, c->rank, NULL);
}
__attribute__((visibility("default"))) const char *ncclGetErrorString(int code)
{
    static const char *words[] = {"no error",
                                  "unhandled cuda error",
                                  "unhandled system error",
                                  "internal error",
                                  "invalid argument",
                                  "invalid usage",
                                  "remote process exited or there was a network error"};
    return code >= 0 && code <= REMOTE_ERROR ? words[code] : "unknown result code";
}
__attribute__((visibility("default"))) const char *ncclGetLastError(comm *c)
{
    return c ? "the stand-in says so" : "";
}

/* ---- collectives ---- */
ENTRY ncclAllReduce(const void *in, void *out, size_t count, int type, int op, comm *c,
                    void *stream)
{
    int code = begin(c, "AllReduce", in, count * width[type], count, type, op, -1, stream);
    if (!code) code = reduced(c, out, 0, count, type, op, stream);
    return code ? code : meet(c);
}
ENTRY ncclReduce(const void *in, void *out, size_t count, int type, int op, int root, comm *c,
                 void *stream)
{
    int code = begin(c, "Reduce", in, count * width[type], count, type, op, root, stream);
    if (!code && c->rank == root) code = reduced(c, out, 0, count, type, op, stream);
    return code ? code : meet(c);
}
ENTRY ncclBroadcast(const void *in, void *out, size_t count, int type, int root, comm *c,
                    void *stream)
{
    int code = begin(c, "Broadcast", c->rank == root ? in : NULL, count * width[type], count, type,
                     -1, root, stream);
    if (!code) code = store(out, c->all->slot[root], count * width[type], stream);
    return code ? code : meet(c);
}
ENTRY ncclAllGather(const void *in, void *out, size_t count, int type, comm *c, void *stream)
{
    size_t bytes = count * width[type];
    int code = begin(c, "AllGather", in, bytes, count, type, -1, -1, stream);
    for (int r = 0; r < c->size && !code; r++)
        code = store((char *)out + r * bytes, c->all->slot[r], bytes, stream);
    return code ? code : meet(c);
}
ENTRY ncclReduceScatter(const void *in, void *out, size_t count, int type, int op, comm *c,
                        void *stream)
{
    size_t bytes = count * width[type] * (size_t)c->size;
    int code = begin(c, "ReduceScatter", in, bytes, count, type, op, -1, stream);
    if (!code) code = reduced(c, out, count * (size_t)c->rank, count, type, op, stream);
    return code ? code : meet(c);
}

/* ---- messages: all of a group go before any is waited for ---- */
static int deliver(void *stream)
{
    int code = SUCCESS;
    for (int i = 0; i < npending && !code; i++) {
        message *m = &pending[i];
        if (!m->sends) continue;
        size_t *full = &m->c->all->full[m->c->rank][m->peer];
        while (__atomic_load_n(full, __ATOMIC_SEQ_CST)) sched_yield();
        code = fetch(m->c->all->mail[m->c->rank][m->peer], m->at, m->bytes, stream);
        __atomic_store_n(full, m->bytes + 1, __ATOMIC_SEQ_CST);
    }
    for (int i = 0; i < npending && !code; i++) {
        message *m = &pending[i];
        if (m->sends) continue;
        size_t *full = &m->c->all->full[m->peer][m->c->rank];
        while (!__atomic_load_n(full, __ATOMIC_SEQ_CST)) {
            if (__atomic_load_n(&m->c->aborted, __ATOMIC_SEQ_CST))
                return npending = 0, INVALID_USAGE;
            sched_yield();
        }
        if (*full != m->bytes + 1) code = INVALID_USAGE;
        else code = store(m->at, m->c->all->mail[m->peer][m->c->rank], m->bytes, stream);
        __atomic_store_n(full, 0, __ATOMIC_SEQ_CST);
    }
    npending = 0;
    return code;
}
static int post(int sends, void *at, size_t count, int type, int peer, comm *c, void *stream)
{
    if (!c || c->magic != MAGIC || type < 0 || type >= TYPES || peer < 0 || peer >= c->size ||
        count * width[type] > MAIL || npending == 256)
        return INVALID_ARGUMENT;
    int code = note(sends ? "Send" : "Recv", count, type, -1, peer, stream);
    if (code || (code = driver())) return code;
    pending[npending++] = (message){sends, peer, at, count * width[type], c};
    return depth ? SUCCESS : deliver(stream);
}
ENTRY ncclSend(const void *at, size_t count, int type, int peer, comm *c, void *stream)
{
    return post(1, (void *)at, count, type, peer, c, stream);
}
ENTRY ncclRecv(void *at, size_t count, int type, int peer, comm *c, void *stream)
{
    return post(0, at, count, type, peer, c, stream);
}
ENTRY ncclGroupStart(void) { return depth++, note("GroupStart", 0, 0, 0, 0, NULL); }
ENTRY ncclGroupEnd(void)
{
    int code = note("GroupEnd", 0, 0, 0, 0, NULL);
    return --depth || code ? code : deliver(NULL);
}
