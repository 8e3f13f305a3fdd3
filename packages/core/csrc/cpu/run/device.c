/* device.c - the processor's row in the table of devices. */
#include "cpu/run/device.h"
#include "cpu/matmul/gemm_run.h"
#include "cpu/reduction/reduce_plan.h"
#include <string.h>
#include "runtime/alloc.h"

static int one(void) { return 1; }

/* Storages of the processor come from td_alloc directly (runtime/storage.c); this serves whoever
 * goes by the table. */
static td_status alloc(char **out, int64_t bytes, td_device device, void **block)
{
    *block = NULL;
    *out = bytes ? td_alloc(bytes) : NULL;
    return *out || !bytes
               ? TD_OK
               : td_fail(TD_MEMORY_ERROR, "out of memory: %lld bytes could not be allocated",
                         (long long)bytes);
}

static void release(void *block, char *data, int64_t bytes)
{
    if (data) td_free(data, bytes);
}

static td_status walk(const td_walk *w, td_device device)
{
    switch (w->kind) {
        case TD_WALK_LOOP: return td_cpu_pointwise(w);
        case TD_WALK_COPY: return td_cpu_copy(w);
        default: return td_cpu_negate(w);
    }
}

static td_status transfer(char *to, td_device to_device, const char *from, td_device from_device,
                          int64_t bytes, bool wait)
{
    memcpy(to, from, (size_t)bytes);
    return TD_OK;
}

static td_status reduce(const td_reduce_plan *plan, td_device device)
{
    return td_cpu_reduce(plan);
}

static td_status synchronize(td_device device) { return TD_OK; }

static const td_device_table table = {
    .size = sizeof table,
    .name = "cpu",
    .count = one,
    .alloc = alloc,
    .release = release,
    .walk = walk,
    .transfer = transfer,
    .reduce = reduce,
    .gemm = td_cpu_product,
    .synchronize = synchronize,
};

/* Before anything else runs: tensors of the processor need no set-up. */
__attribute__((constructor)) static void enter(void) { td_device_tables[TD_CPU] = &table; }
