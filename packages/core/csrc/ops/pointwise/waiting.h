/* waiting.h - elementwise work that waits, and is then done tile by tile, all of it on a tile
 * before the next one is touched.
 *
 *   td_pointwise_run ──(td_waits is set, flat operands)──▶ td_wait: noted      td_wait_run: for each tile, every loop in order
 *
 * Results are written to where they belong, but for those that nobody reads any more: these live in
 * a tile's scratch. The loops, and the order in which an element meets them, are those of one
 * operator after the other, so the bits are the same. Bools among floats, which an operator by
 * itself converts first, are converted by a loop that waits in front of it. */
#ifndef TD_WAITING_H
#define TD_WAITING_H
#include "cpu/pointwise/wide_run.h"
#include "ops/pointwise/pointwise.h"
#include "runtime/op.h"
#include "runtime/thread_local.h"

enum {
    TD_WAITING_MOST = 48,
    TD_WAITING_RANGES = 64,
    TD_WAITING_WORTH = 16384 /* elements: fewer stay in cache anyway */
};

/* A row of pow that serves one exponent. */
typedef struct td_power_row {
    const char *name;
    double exponent;
} td_power_row;
extern const td_power_row td_power_rows[];
extern const int td_power_row_count;

typedef struct td_waiting_loop {
    td_loop loop;
    const td_loop_entry *entry;
    double cost;
    int nop, nargs;
    bool same_dtype; /* the result has the dtype of the computation */
    int tag;         /* what td_waiting said when it was noted */
    /* what `loop` is given where a number is wider than the short floats beside it */
    td_wide wide;
    uint8_t power; /* of pow: which of td_power_rows, from 1; 0: any exponent */
    char *data[TD_MAX_OPERANDS];
    /* bytes from one element to the next; 0: a number, which lies in `numbers` */
    int64_t steps[TD_MAX_OPERANDS];
    char numbers[TD_MAX_OPERANDS][16];
    td_arg context[TD_MAX_ARGS];
} td_waiting_loop;

typedef struct td_waiting {
    int n, nranges, ndead, nturned;
    int tag;      /* of the loops to come: the step of a program */
    int *chained; /* for each tag, the number of the chain that its loop was a part of, or -1 */
    int64_t numel;
    /* of all operands: equal or disjoint */
    struct {
        char *begin;
        int64_t step;
        uint8_t dtype;
    } ranges[TD_WAITING_RANGES];
    char *dead[TD_WAITING_MOST];        /* operands that are scratch */
    td_tensor *turned[TD_WAITING_MOST]; /* owned: bools as numbers, for one reader each */
    td_waiting_loop loops[TD_WAITING_MOST];
} td_waiting;

/* Whether operand k of a loop is a number that is as wide as the loop computes, not as short as its
 * dtype. */
static inline bool td_wait_wide(const td_waiting_loop *l, int k)
{
    return !l->steps[k] && l->wide.loop && l->wide.dtypes[k] != l->entry->dtype;
}

extern TD_THREAD_LOCAL td_waiting *td_waits; /* NULL: nothing waits */

/* Nothing waits. */
static inline void td_wait_begin(td_waiting *j) { j->n = j->nranges = j->ndead = j->nturned = 0; }
/* Note the work; false if it cannot wait (then what waits has been done). `out` is the row-major
 * result of n elements, operands are row-major or numbers, and floats or bools. */
bool td_wait(const td_pointwise *p, const td_tensor *out, int64_t n);
/* Whether operand k is of bools that would be made numbers first. */
bool td_wait_turns(const td_pointwise *p, int k);
/* Nobody reads the memory of this result once the work is done. */
void td_wait_dead(td_waiting *j, char *data);
/* Do what waits. */
void td_wait_run(td_waiting *j);
/* Before memory is read or written by other means. */
static inline void td_wait_settle(void)
{
    if (td_waits && td_waits->n) td_wait_run(td_waits);
}
#endif
