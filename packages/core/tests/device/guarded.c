/* guarded.c - a device for tests: its memory can be touched by its own functions only. Host code
 * that follows a pointer of it faults.
 *
 * The kernels are the processor's. Work runs at once, or, in the late mode, when somebody waits: a
 * missing wait then shows as a wrong number. Nothing here locks: tests drive it from one thread. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cpu/reduction/reduce_plan.h"
#include "object/schema.h"
#include "runtime/device.h"

#define EXPORT __attribute__((visibility("default")))
#define MOST 4096
#define LATE 1024

/* ---- the processor's table, for its kernels; given by whoever loads this library ---- */
static const td_device_table *host;
typedef td_status (*copy_walk)(td_walk **out, const td_walk *w);
static copy_walk keep_walk;
static void (*free_walk)(td_walk *w);

/* ---- memory ---- */
static struct block {
    char *data;
    size_t bytes;
} blocks[MOST];
static int64_t live;

static void protect(int how)
{
    for (int i = 0; i < MOST; i++)
        if (blocks[i].data) mprotect(blocks[i].data, blocks[i].bytes, how);
}
static void open_all(void) { protect(PROT_READ | PROT_WRITE); }
static void close_all(void) { protect(PROT_NONE); }

static td_status alloc(char **out, int64_t bytes, td_device device, void **block)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = ((size_t)bytes + page - 1) / page * page;
    for (int i = 0; i < MOST; i++) {
        if (blocks[i].data) continue;
        char *data = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED) return TD_MEMORY_ERROR;
        blocks[i] = (struct block){data, whole};
        *block = &blocks[i];
        *out = data;
        live += bytes;
        return TD_OK;
    }
    return TD_MEMORY_ERROR;
}

/* ---- work ---- */
static td_walk *late[LATE];
static int nlate, is_late;

static td_status run_late(void)
{
    td_status status = TD_OK;
    for (int i = 0; i < nlate; i++) {
        if (status == TD_OK) status = host->walk(late[i], TD_CPU);
        free_walk(late[i]);
    }
    nlate = 0;
    return status;
}

static void release(void *context, char *data, int64_t bytes)
{
    struct block *b = context;
    open_all();
    run_late(); /* work that still names this memory */
    close_all();
    munmap(b->data, b->bytes);
    b->data = NULL;
    live -= bytes;
}

static td_status walk(const td_walk *w, td_device device)
{
    if (is_late && nlate < LATE) return keep_walk(&late[nlate++], w);
    open_all();
    td_status status = host->walk(w, TD_CPU);
    close_all();
    return status;
}

static td_status transfer(char *to, td_device to_device, const char *from, td_device from_device,
                          int64_t bytes, bool wait)
{
    open_all();
    td_status status = run_late();
    memcpy(to, from, (size_t)bytes);
    close_all();
    return status;
}

static td_status reduce(const td_reduce_plan *plan, td_device device)
{
    open_all();
    td_status status = run_late();
    if (status == TD_OK) status = host->reduce(plan, TD_CPU);
    close_all();
    return status;
}

static td_status synchronize(td_device device)
{
    open_all();
    td_status status = run_late();
    close_all();
    return status;
}

static int two(void) { return 2; }

static const td_device_table table = {
    .size = sizeof table,
    .name = "guarded",
    .count = two,
    .alloc = alloc,
    .release = release,
    .walk = walk,
    .transfer = transfer,
    .reduce = reduce,
    .synchronize = synchronize,
};

EXPORT const void *guarded_table(const void *cpu, copy_walk copy, void (*drop)(td_walk *))
{
    host = cpu;
    keep_walk = copy;
    free_walk = drop;
    return &table;
}
EXPORT void guarded_late(int on) { is_late = on; }
EXPORT int64_t guarded_live(void) { return live; }

/* ---- functions of rows ---- */
typedef td_status (*registering)(const char *qualified, int device_type, td_impl impl);
static int calls;
static td_status answer_with_self(td_call *call)
{
    calls++;
    call->out[0] = call->args[0].tensor;
    return TD_OK;
}
static td_status refuse(td_call *call)
{
    (void)call;
    return TD_NOT_IMPLEMENTED;
}
/* what the core says to it: 0, or the number of an error */
EXPORT int guarded_register(registering enter, const char *row, int device_type, int how)
{
    return (int)enter(row, device_type, how == 0 ? NULL : how == 1 ? answer_with_self : refuse);
}
EXPORT int guarded_calls(void) { return calls; }
