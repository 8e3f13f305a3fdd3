/* indexing.h - the loops behind indexing: reading and writing at places that other tensors name.
 * Indices are int64 and free of negative ones. The caller has looked at them, but another thread
 * may write to them since: every loop looks again at the very number that it uses. One instance per
 * instruction set (TD_PICK). */
#ifndef TD_INDEX_KERNELS_H
#define TD_INDEX_KERNELS_H
#include <stdatomic.h>
#include "runtime/loops.h"
#include "runtime/work.h"

/* How a written element meets the one that was there. */
typedef enum td_put {
    TD_PUT_COPY,
    TD_PUT_ADD,
    TD_PUT_MUL,
    TD_PUT_DIV,
    TD_PUT_MAX,
    TD_PUT_MIN,
    TD_PUTS
} td_put;

/* Blocks of `run` bytes: in the dense operand one after the other, in the indexed one at the sum of
 * three offsets (bytes).
 *
 *     for o < outer, i < count, k < inner:   dense block (o, i, k)  <->  indexed + outer_at[o] + at[i] + inner_at[k] */
typedef struct td_index_dims {
    int n;
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS]; /* bytes */
} td_index_dims;
typedef struct td_index_walk {
    int64_t outer, count, inner, run;
    const int64_t *outer_at, *at, *inner_at;
    /* on devices `at` lies in their memory, and the other offsets are those of all places of these
     */
    const td_index_dims *before, *after;
} td_index_walk;

/* Places of a dimension: their byte distance and their number. What names another place is neither
 * read nor written. */
typedef struct td_gather_places {
    int64_t apart, size;
    /* set if an index was outside; NULL, but not of gather: the indices are the call's own, checked
     */
    atomic_bool *outside;
} td_gather_places;

/* What a device with kernels of its own is asked for (TD_WORK_PLACES). It looks at the indices, and
 * the next wait raises what was wrong with one. */
typedef enum td_places {
    TD_PLACES_OFFSETS, /* out (+)= step * at: offsets of a walk, of indices that are checked here */
    TD_PLACES_TAKE,    /* out, row-major: what stands at the places of `walk` in `from` */
    TD_PLACES_PUT,     /* out at the places of `walk` op= from, row-major, in the indices' order */
    TD_PLACES_GATHER,  /* out = from[..., at, ...] along dim */
    TD_PLACES_SCATTER, /* out[..., at, ...] op= from along dim; `from` may be 0-dim */
    TD_PLACES_COMBINE, /* out op= from, which broadcasts */
    TD_PLACES_FILL     /* out = at ? value : from; both broadcast */
} td_places;
typedef struct td_places_job {
    td_places what;
    td_tensor *out;
    const td_tensor *at, *from; /* on the device or the host's */
    const td_index_walk *walk;
    int64_t dim;
    td_put put;
    const td_scalar *value;
    /* of indices that name no place: the operator, the error, the dimension's size */
    const char *name;
    td_status error;
    int64_t size;
    bool wraps, more; /* more: `out` holds offsets of other dimensions */
    int64_t step;
} td_places_job;

typedef struct td_index_kernels {
    /* out, index, base; by log2 of the itemsize; the context is td_gather_places */
    td_loop gather[5];
    /* base, index, source; NULL: no such arithmetic; the context is td_gather_places */
    td_loop scatter[TD_PUTS][TD_NDTYPES];
    td_loop combine[TD_PUTS][TD_NDTYPES]; /* target, source: target op= source */
    td_loop masked_fill[5];               /* out, in, mask; the context is the element */
    /* dense blocks of rows begin <= o * count + i < end */
    void (*take)(char *dense, const char *indexed, const td_index_walk *w, int64_t begin,
                 int64_t end);
    /* Sums and products of float16 and bfloat16: n numbers at `to` meet the n numbers of every row
     * from[of[k] * apart], k < count, in float32, and are rounded once. NULL: other arithmetic. */
    void (*many[TD_PUTS][TD_NDTYPES])(char *to, const char *from, const int64_t *of, int64_t count,
                                      int64_t apart, int64_t n);
    /* Masks: n bytes, true unless 0; `found` is the number of true ones. Where another thread has
     * cleared some of them since, the rest of `to` is 0. */
    int64_t (*count)(const uint8_t *mask, int64_t n);
    void (*compress[5])(char *to, const char *from, const uint8_t *mask, int64_t n, int64_t found);
    void (*positions)(int64_t *to, const uint8_t *mask, int64_t first, int64_t n, int64_t found);
    bool (*in_range)(const int64_t *index, int64_t n, int64_t size);
} td_index_kernels;

extern const td_index_kernels td_index_kernels_generic;
#ifdef __x86_64__
extern const td_index_kernels td_index_kernels_avx2;
extern const td_index_kernels td_index_kernels_avx512;
#endif

#endif
