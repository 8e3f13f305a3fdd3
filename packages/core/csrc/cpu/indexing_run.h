/* indexing_run.h - reading and writing at places that indices name, shared out among threads.
 * Indices are int64. */
#ifndef TD_INDEXING_RUN_H
#define TD_INDEXING_RUN_H
#include "cpu/indexing.h"
#include "runtime/tensor.h"

/* ---- index tensors, row-major ---- */
bool td_index_all_in_range(const int64_t *index, int64_t n, int64_t size);
typedef struct td_index_steps {
    int64_t size, stride;
    bool wraps; /* negative ones count from the end */
} td_index_steps;

/* Both return whether all indices name a place; if not, what they made is of no use. */
/* negative ones count from the end */
bool td_index_wrap(td_tensor *out, const td_tensor *index, int64_t size);
/* at[i] += stride * index */
bool td_index_add_offsets(int64_t *at, const td_tensor *index, const td_index_steps *steps);
/* IndexError: an index that was right named no place when it was used */
td_status td_index_changed(void);
/* how often each place is named, at least 1; in both, indices that name none do not count */
void td_index_counts(td_tensor *counts, const td_tensor *index, bool start);
/* how often the place of each index is named, of int64 */
td_status td_index_frequencies(td_tensor *out, const td_tensor *index, int64_t size);
bool td_index_holds(const td_tensor *index, int64_t value);

/* ---- blocks at the places of a walk ---- */
bool td_index_can_put(td_put put, td_dtype dtype); /* is there such arithmetic? */
void td_index_take(td_tensor *out, const td_tensor *self, const td_index_walk *walk);
void td_index_put(td_tensor *self, const td_index_walk *walk, const td_tensor *source, td_put put);

/* ---- an index of its own for every element along `dim`; a 0-dim tensor counts as one of size 1
 * ---- */
bool td_index_can_scatter(td_put put, td_dtype dtype);
/* false: one names no place */
bool td_index_gather(td_tensor *out, const td_tensor *at, const td_tensor *self, int64_t dim);
/* src: 0-dim, or large enough */
td_status td_index_scatter(td_tensor *target, int64_t dim, const td_tensor *index,
                           const td_tensor *src, td_put put);
/* how many places the dimension has, and how many bytes they lie apart */
int64_t td_index_places(const td_tensor *target, int64_t dim, int64_t *apart);
/* rows of (target without `dim`, index, src), one after the other */
void td_index_walk_serial(td_tensor *target, int64_t dim, const td_tensor *index,
                          const td_tensor *src, td_loop loop, const void *context);

/* ---- dense rows ---- */
/* false: one names no place */
bool td_index_take_row(td_tensor *out, const td_tensor *at, const td_tensor *row);
void td_index_put_row(td_tensor *row, const td_tensor *at, const td_tensor *values, td_put put);
/* Rows of a gradient: 0 where the index is `padding` (-1: none), divided by how often the index
 * comes if asked. */
td_status td_index_scale_rows(td_tensor *grad, const td_tensor *index, int64_t rows,
                              int64_t padding, bool by_frequency);

/* target op= source, element by element; source broadcasts */
td_status td_index_combine(td_tensor *target, const td_tensor *source, td_put put, double cost);
/* places of target may stand for several elements */
td_status td_index_combine_serial(td_tensor *target, const td_tensor *source, td_put put);

#endif
