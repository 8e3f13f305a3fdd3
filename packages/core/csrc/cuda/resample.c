/* resample.c - resampling as launches of kernels/resample.h. The tables of neighbours are made by
 * the host and sent along. */
#include "cpu/resample_run.h"
#include "cuda/program.h"
#include "cuda/workers.h"

typedef struct resample_call { /* laid out as in kernels/resample.h */
    const char *from;
    char *to;
    int64_t n, inner;
    td_taps rows, columns;
} resample_call;

/* Tables on the device, in one block. */
typedef struct tables {
    char *at;
    void *block;
    int64_t bytes;
} tables;

static int64_t round_up(int64_t bytes) { return (bytes + 15) / 16 * 16; }

static td_status send(void **to, const void *from, int64_t bytes, char **next, td_device device)
{
    *to = *next;
    *next += round_up(bytes);
    return bytes ? td_cuda_transfer(*to, device, from, TD_CPU, bytes, true) : TD_OK;
}

static td_status send_taps(td_taps *t, int64_t itemsize, char **next, td_device device)
{
    int64_t n = t->count * t->out;
    void *place;
    TD_TRY(send(&place, t->place, n * (int64_t)sizeof *t->place, next, device));
    t->place = place;
    return send(&t->weight, t->weight, n * itemsize, next, device);
}

static int64_t bytes_of(const td_taps *t, int64_t itemsize)
{
    int64_t n = t->count * t->out;
    return round_up(n * (int64_t)sizeof *t->place) + round_up(n * itemsize);
}

static td_status send_all(tables *s, resample_call *c, int64_t itemsize, td_device device)
{
    s->bytes = bytes_of(&c->rows, itemsize) + bytes_of(&c->columns, itemsize);
    TD_TRY(td_cuda_alloc(&s->at, s->bytes, device, &s->block));
    char *next = s->at;
    td_status status = send_taps(&c->rows, itemsize, &next, device);
    if (status == TD_OK) status = send_taps(&c->columns, itemsize, &next, device);
    if (status != TD_OK) td_cuda_release(s->block, s->at, s->bytes);
    return status;
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
    tables s;
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
    TD_TRY(send_all(&s, &c, j->wide ? 8 : 4, device));
    td_status status = td_cuda_threads(&w, ordinal, c.n, &c);
    /* the next owner's work comes after, on the same stream */
    td_cuda_release(s.block, s.at, s.bytes);
    return status;
}
