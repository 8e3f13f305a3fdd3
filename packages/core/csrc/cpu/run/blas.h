/* blas.h - a BLAS found at run time, for products large enough to deserve one.
 * Functions take Fortran's column-major view of matrices, their arguments by value, and 64-bit
 * sizes; where the library counts in 32 bits the caller checks td_blas_fits. The library runs on
 * the calling thread only: our pool splits the work.
 *
 * Who calls it, LAPACK's routines included, does so inside td_blas_parallel. A library that others
 * may use, too (numpy's, or the one that TAEDA_BLAS names) is told to keep to one thread there, and
 * afterwards has the number of threads that it had. And no more threads are inside at once than the
 * library has memory for: OpenBLAS ends the process when it has no more. */
#ifndef TD_BLAS_H
#define TD_BLAS_H
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include "runtime/pool.h"

/* 1 when a library is at hand, 0 if not. Looks once: the file named by TAEDA_BLAS ("mkl" for
 * libmkl_rt, "none" for none), then the path given to td_blas_set_path. */
int td_blas_load(void);
/* before the first td_blas_load; NULL for none. shared: others use it */
void td_blas_set_path(const char *path, bool shared);
bool td_blas_chosen(void);      /* is it the one that TAEDA_BLAS names? */
const char *td_blas_name(void); /* the file in use, "" when there is none */
/* may a size, stride or leading dimension be that large? */
bool td_blas_fits(int64_t largest);
bool td_blas_is_wide(void); /* does the library count in 64 bits? */
/* another routine of the library by its plain name ("sgetrf"); NULL if it has none */
void *td_blas_symbol(const char *name);

/* td_parallel for bodies that call the library; may be nested. Without a library it is td_parallel.
 */
void td_blas_parallel(int64_t n, int64_t grain, td_range_fn body, void *context);

/* c = alpha * op(a) op(b) + beta * c; ta, tb: 'N', 'T' or 'C'. Only after td_blas_load() gave 1. */
void td_blas_sgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                   int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void td_blas_dgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                   int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void td_blas_cgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float complex alpha,
                   const float complex *a, int64_t lda, const float complex *b, int64_t ldb,
                   float complex beta, float complex *c, int64_t ldc);
void td_blas_zgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, double complex alpha,
                   const double complex *a, int64_t lda, const double complex *b, int64_t ldb,
                   double complex beta, double complex *c, int64_t ldc);

#endif
