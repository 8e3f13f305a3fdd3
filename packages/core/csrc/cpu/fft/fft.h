/* fft.h - discrete Fourier transforms, forward: X[k] = sum over j of x[j] exp(-2 pi i j k / n).
 *
 * The kernel transforms as many lines at once as a vector has lanes, one line a lane, so that no
 * pass needs a shuffle and every radix is as good as another. Where lines come from is the caller's
 * business (cpu/fft/fft_run.c): adjacent columns, adjacent rows, or the columns and then the rows
 * of one long line folded into a rectangle.
 *
 * Between passes lines lie in `split` memory: for each point a vector of real parts, then one of
 * imaginary parts. Backward transforms are forward ones of the conjugate: both ends can turn the
 * sign of imaginary parts. */
#ifndef TD_FFT_KERNELS_H
#define TD_FFT_KERNELS_H
#include <stdbool.h>
#include <stdint.h>
#include "runtime/cpu.h"

#define TD_FFT_MAX_PASSES 64
#define TD_FFT_MAX_PRIME \
    61 /* the largest radix; longer prime factors are not transformed by passes */
#define TD_FFT_MAX_LANES 16

/* One pass of Stockham's algorithm: `left` * `done` butterflies of `radix` points. */
typedef struct td_fft_pass {
    int64_t radix;
    int64_t left; /* n / (radix * done) */
    int64_t done; /* product of the radices before */
    /* left x (radix - 1) complex numbers: exp(-2 pi i p j / (left * radix)) */
    const void *twiddles;
    const void *roots; /* odd radices: cos and sin of 2 pi t / radix, as complex numbers */
} td_fft_pass;

typedef struct td_fft_stages {
    int64_t n;
    int count;
    td_fft_pass pass[TD_FFT_MAX_PASSES];
} td_fft_stages;

/* Where lines are read or written. */
typedef struct td_fft_end {
    void *data;
    int64_t point; /* reals from one point to the next */
    bool pairs;    /* lanes are adjacent complex numbers; else split memory */
    /* factors of the parts. A reading end of pairs has `im` only (1 or -1); split ends have none.
     */
    double re, im;
} td_fft_end;

/* Lines that lie apart: rows of complex numbers, `stride` reals from one to the next. */
typedef struct td_fft_rows {
    void *data;
    int64_t stride, count; /* count <= lanes */
    double re, im;
} td_fft_rows;

typedef struct td_fft_kernel {
    int lanes;
    /* All passes. work: two halves of n points in split memory. Pass 0 writes the first of them,
     * pass 1 the second and so on: `in` may be the second half, `out` the one whose turn it is. */
    void (*stages)(const td_fft_stages *plan, const td_fft_end *in, const td_fft_end *out,
                   void *work);
    /* Up to `lanes` adjacent columns (pairs) to split memory and back, when they do not fill the
     * vector. */
    void (*load)(void *split, const td_fft_end *in, int64_t n, int64_t lanes);
    void (*store)(const void *split, const td_fft_end *out, int64_t n, int64_t lanes);
    /* Rows to lanes and back. */
    void (*gather)(void *split, const td_fft_rows *in, int64_t n);
    void (*scatter)(const void *split, const td_fft_rows *out, int64_t n);
    /* Transformed columns [column, column + lanes) of n1 points in split memory become lines of the
     * second half: times exp(-2 pi i k column / n), and lanes change from columns to k. fine: n1
     * points in split memory, the factors of lanes; coarse: n1 complex numbers, another factor for
     * all lanes, or NULL. u: blocks of n2 points in split memory. */
    void (*turn)(const void *split, const void *fine, const void *coarse, int64_t n1, void *u,
                 int64_t n2, int64_t column, int64_t lanes);
    /* Half spectra of 2 m real points. unfold: in place, from m transformed pairs to m + 1. fold:
     * the way back, from m + 1 (each times 2 for the sum of both halves) to m pairs for a backward
     * transform. fine: exp(-2 pi i (1 + lane) / 2 m), one point in split memory; coarse: exp(-2 pi
     * i lanes b / 2 m) for blocks b. */
    void (*unfold)(void *row, int64_t m, const void *fine, const void *coarse);
    void (*fold)(void *out, const void *row, int64_t m, const void *fine, const void *coarse);
    /* The same for lines in split memory, in place, with room for m + 1 points; fold_lanes leaves
     * the conjugate, of which a forward transform is the backward one. */
    void (*unfold_lanes)(void *split, int64_t m, const void *fine, const void *coarse);
    void (*fold_lanes)(void *split, int64_t m, const void *fine, const void *coarse);
    /* Between real lines and complex ones of n points: widen gives them imaginary parts 0, narrow
     * leaves theirs out; mirror fills X[n - k] = conj X[k] from the first n / 2 + 1. */
    void (*widen)(void *out, const void *real, int64_t n);
    void (*narrow)(void *real, const void *line, int64_t n);
    void (*mirror)(void *line, int64_t n);
    /* out = (a with its imaginary parts times `sign`) * b, parts times re and im; complex numbers.
     * out may be a. */
    void (*multiply)(void *out, const void *a, const void *b, int64_t n, double sign, double re,
                     double im);
} td_fft_kernel;

typedef struct td_fft_kernels {
    td_fft_kernel real[2]; /* float, double */
} td_fft_kernels;

extern const td_fft_kernels td_fft_kernels_generic;
#ifdef __x86_64__
extern const td_fft_kernels td_fft_kernels_avx2, td_fft_kernels_avx512;
#endif
#endif
