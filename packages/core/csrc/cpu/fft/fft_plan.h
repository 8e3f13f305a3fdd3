/* fft_plan.h - what a Fourier transform of one length needs to know, kept for the next one of that
 * length.
 *
 * A length is transformed in one of three ways:
 *   lanes   every lane of a vector a line of its own, passes over all points (short lines, and columns)
 *   folded  one line as a rectangle of n1 x n2 points: its columns, then its rows, each many at a
 * time (long lines)
 *   chirp   Bluestein's convolution with exp(-pi i j^2 / n), by transforms of a longer line (large prime factors) */
#ifndef TD_FFT_PLAN_H
#define TD_FFT_PLAN_H
#include "cpu/fft/fft.h"
#include "runtime/error.h"

#define TD_FFT_LONGEST_LANES 4096 /* points: two copies of so many vectors fit the second cache */
#define TD_FFT_PLAN_BLOCKS 16

typedef struct td_fft_plan {
    int64_t n;
    int type;                      /* 0 float, 1 double */
    td_fft_stages *whole;          /* lanes, or NULL */
    td_fft_stages *columns, *rows; /* folded, or NULL: n1 and n2 points */
    /* the factors between the two (td_fft_kernel.turn): short lines have all in `fine` */
    void *fine, *coarse;
    bool side_by_side;        /* enough lines are quicker by lanes than folded one by one */
    struct td_fft_plan *wide; /* chirp, or NULL */
    /* exp(-pi i j^2 / n); the transform of its conjugate over wide->n */
    void *chirp, *spectrum;
    void *half_fine, *half_coarse; /* real lines of 2 n points (td_fft_kernel.unfold) */
    /* of the cache */
    int64_t bytes, refs, used;
    void *blocks[TD_FFT_PLAN_BLOCKS];
    int64_t block_bytes[TD_FFT_PLAN_BLOCKS];
    int nblocks;
} td_fft_plan;

/* A plan for n >= 1 points, from the cache if it is there. Give it back; it may be used by several
 * threads at once. */
td_status td_fft_plan_get(td_fft_plan **out, int64_t n, int type);
void td_fft_plan_give(td_fft_plan *plan);
int64_t td_fft_cached_bytes(void);
#define TD_FFT_CACHE_BYTES (32 << 20)

/* Without the cache (cpu/fft/fft_plan.c). */
td_status td_fft_plan_new(td_fft_plan **out, int64_t n, int type);
void td_fft_plan_free(td_fft_plan *plan);

static inline const td_fft_kernel *td_fft_kernel_of(const td_fft_plan *plan)
{
    return &TD_PICK(td_fft_kernels)->real[plan->type];
}
static inline int64_t td_fft_itemsize(const td_fft_plan *plan) { return plan->type ? 8 : 4; }
#endif
