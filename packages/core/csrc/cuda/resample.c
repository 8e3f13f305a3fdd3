/* resample.c - resampling as launches of kernels/resample.h. The tables of neighbours are made by
 * the host and sent along. */
#include "cpu/resample_run.h"
#include <string.h>
#include "cuda/program.h"
#include "cuda/workers.h"

typedef struct resample_call { /* laid out as in kernels/resample.h */
    const char *from;
    char *to;
    int64_t n, inner;
    td_taps rows, columns;
} resample_call;

static int64_t round_up(int64_t bytes) { return (bytes + 15) / 16 * 16; }

static int64_t place_bytes(const td_taps *t)
{
    return t->count * t->out * (int64_t)sizeof *t->place;
}
static int64_t weight_bytes(const td_taps *t, int64_t itemsize)
{
    return t->count * t->out * itemsize;
}
static int64_t bytes_of(const td_taps *t, int64_t itemsize)
{
    return round_up(place_bytes(t)) + round_up(weight_bytes(t, itemsize));
}

static void pack(const td_taps *t, int64_t itemsize, char *at)
{
    if (!t->count) return;
    memcpy(at, t->place, (size_t)place_bytes(t));
    memcpy(at + round_up(place_bytes(t)), t->weight, (size_t)weight_bytes(t, itemsize));
}

static void point(td_taps *t, char *at)
{
    t->weight = at + round_up(place_bytes(t));
    t->place = (int32_t *)(void *)at;
}

/* All tables in one copy, for which nobody waits. */
static td_status send_all(td_tensor **sent, resample_call *c, int64_t itemsize, td_device device)
{
    int64_t rows = bytes_of(&c->rows, itemsize), bytes = rows + bytes_of(&c->columns, itemsize);
    td_tensor *tables;
    TD_TRY(td_tensor_empty(&tables, TD_U8, TD_CPU, 1, &bytes));
    pack(&c->rows, itemsize, td_data(tables));
    pack(&c->columns, itemsize, (char *)td_data(tables) + rows);
    td_status status = td_sent_constant(sent, tables, device);
    td_tensor_free(tables);
    TD_TRY(status);
    point(&c->rows, td_data(*sent));
    point(&c->columns, (char *)td_data(*sent) + rows);
    return TD_OK;
}

/* Numbers of bytes, where they lie: no tables. */
static td_status round_bytes(const td_resample_job *j, int ordinal)
{
    resample_call c = {.to = j->to, .n = j->n};
    td_cuda_work w = {
        .kind = "resample", .how = "resample_alone", .name = "bytes", .dtype = TD_F32};
    return td_cuda_threads(&w, ordinal, c.n, &c);
}

td_status td_cuda_resample(const void *job, td_device device)
{
    static const char *names[2][2] = {{"planes", "adjoint"}, {"deep", "undeep"}};
    const td_resample_job *j = job;
    int ordinal = td_device_index(device);
    td_tensor *tables;
    resample_call c = {.from = j->from, .to = j->to, .n = j->n, .inner = j->inner};
    td_cuda_work w = {.kind = "resample",
                      .how = "resample_alone",
                      .name = names[!j->columns][j->adjoint],
                      .dtype = j->wide ? TD_F64 : TD_F32};
    if (j->n == 0) return TD_OK;
    TD_TRY(td_cuda_use(ordinal));
    if (!j->rows) return round_bytes(j, ordinal);
    c.rows = *j->rows;
    if (j->columns) c.columns = *j->columns;
    TD_TRY(send_all(&tables, &c, j->wide ? 8 : 4, device));
    td_status status = td_cuda_threads(&w, ordinal, c.n, &c);
    td_tensor_free(tables); /* the next owner's work comes after, on the same stream */
    return status;
}
