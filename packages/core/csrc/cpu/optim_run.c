/* optim_run.c - chunks of a flat index space, each with the kernel of its slice's dtype. */
#include "cpu/optim_run.h"
#include <math.h>
#include "runtime/cpu.h"
#include "runtime/pool.h"

int td_optim_kind(td_dtype d)
{
    return d == TD_F32    ? TD_OPTIM_F32
           : d == TD_F64  ? TD_OPTIM_F64
           : d == TD_F16  ? TD_OPTIM_F16
           : d == TD_BF16 ? TD_OPTIM_BF16
                          : -1;
}

typedef struct flat_job {
    const td_flat *flat;
    const td_slice_kernel *kernels;
    const void *params;
} flat_job;

/* The slice that a chunk belongs to; slices without elements have no chunk. */
static int64_t slice_of(const td_flat *f, int64_t chunk)
{
    int64_t low = 0, high = f->count - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (f->first[middle] <= chunk) low = middle;
        else high = middle - 1;
    }
    return low;
}

static void run_chunks(void *context, int64_t begin, int64_t end)
{
    const flat_job *job = context;
    const td_flat *f = job->flat;
    for (int64_t chunk = begin, i = slice_of(f, begin); chunk < end; chunk++) {
        while (f->first[i + 1] <= chunk) i++;
        int64_t from = (chunk - f->first[i]) * TD_CHUNK, left = f->slices[i].numel - from;
        int kind = td_optim_kind((td_dtype)f->lists[0][i]->dtype);
        job->kernels[kind](&f->slices[i], from, left < TD_CHUNK ? left : TD_CHUNK, job->params);
    }
}

/* kernels[kind of the slice's dtype] on every chunk, in parallel; about `cost` ns per element */
static void run(const td_flat *f, const td_slice_kernel *kernels, const void *params, double cost)
{
    int64_t chunks = f->first[f->count], elements = 0;
    for (int64_t i = 0; i < f->count; i++) elements += f->slices[i].numel;
    if (elements == 0) return;
    flat_job job = {f, kernels, params};
    void *token = td_heavy_begin((double)elements * cost);
    /* from 20 us a chunk */
    td_parallel(chunks, 1 + (int64_t)(20000 / cost) * chunks / elements, run_chunks, &job);
    td_heavy_end(token);
}

void td_flat_run(const td_flat *f, td_flat_work work, const void *params)
{
    const td_optim_kernels *k = TD_PICK(td_optim_kernels);
    switch (work) {
        case TD_FLAT_SGD: run(f, k->sgd, params, 0.8); break;
        case TD_FLAT_ADAM: run(f, k->adam, params, 2); break;
        case TD_FLAT_ADAGRAD: run(f, k->adagrad, params, 1.5); break;
        case TD_FLAT_MULTIPLY: run(f, k->multiply, params, 0.5); break;
        case TD_FLAT_DIVIDE: run(f, k->divide, params, 0.5); break;
        case TD_FLAT_ADD: run(f, k->add, params, 0.5); break;
    }
}

/* ---- norms ---- */
typedef struct norm_job {
    const td_flat *flat;
    const td_norm_kernel *kernels;
    double p, *partial; /* one number a chunk */
} norm_job;

static void norm_chunk(const norm_job *job, int kind, int itemsize, const td_slice *s,
                       int64_t begin, int64_t n)
{
    job->partial[job->flat->first[s - job->flat->slices] + begin / TD_CHUNK] =
        job->kernels[kind](s->data[0] + begin * itemsize, n, job->p);
}

#define CHUNK_OF(name, kind, itemsize)                                             \
    static void name(const td_slice *s, int64_t begin, int64_t n, const void *job) \
    {                                                                              \
        norm_chunk(job, kind, itemsize, s, begin, n);                              \
    }
CHUNK_OF(chunk_f16, TD_OPTIM_F16, 2)
CHUNK_OF(chunk_bf16, TD_OPTIM_BF16, 2)
CHUNK_OF(chunk_f32, TD_OPTIM_F32, 4)
CHUNK_OF(chunk_f64, TD_OPTIM_F64, 8)

static const td_slice_kernel CHUNKS[TD_OPTIM_KINDS] = {[TD_OPTIM_F16] = chunk_f16,
                                                       [TD_OPTIM_BF16] = chunk_bf16,
                                                       [TD_OPTIM_F32] = chunk_f32,
                                                       [TD_OPTIM_F64] = chunk_f64};

void td_flat_power_sums(const td_flat *f, double p, double *partial)
{
    norm_job job = {f, TD_PICK(td_optim_kernels)->power_sum, p, partial};
    run(f, CHUNKS, &job, p == 2 || p == 1 || p == 0 || isinf(p) ? 0.3 : 20);
}
