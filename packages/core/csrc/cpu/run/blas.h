/* blas.h - a BLAS found at run time, for products large enough to deserve one.
 * Functions take Fortran's column-major view of matrices, their arguments by value, and 64-bit sizes; where the library counts
 * in 32 bits the caller checks td_blas_fits. The library runs on the calling thread only: our pool splits the work. */
#ifndef TD_BLAS_H
#define TD_BLAS_H
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

/* 1 when a library is at hand, 0 if not. Looks once: the file named by TAEDA_BLAS ("mkl" for libmkl_rt, "none" for none), then
 * the path given to td_blas_set_path. */
int td_blas_load(void);
void td_blas_set_path(const char *path); /* before the first td_blas_load; NULL for none */
bool td_blas_chosen(void);               /* is it the one that TAEDA_BLAS names? */
const char *td_blas_name(void);          /* the file in use, "" when there is none */
bool td_blas_fits(int64_t largest);      /* may a size, stride or leading dimension be that large? */
bool td_blas_is_wide(void);              /* does the library count in 64 bits? */
void *td_blas_symbol(const char *name);  /* another routine of the library by its plain name ("sgetrf"); NULL if it has none */

/* c = alpha * op(a) op(b) + beta * c; ta, tb: 'N', 'T' or 'C'. Only after td_blas_load() gave 1. */
void td_blas_sgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b,
                   int64_t ldb, float beta, float *c, int64_t ldc);
void td_blas_dgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, double alpha, const double *a, int64_t lda,
                   const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void td_blas_cgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float complex alpha, const float complex *a, int64_t lda,
                   const float complex *b, int64_t ldb, float complex beta, float complex *c, int64_t ldc);
void td_blas_zgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, double complex alpha, const double complex *a,
                   int64_t lda, const double complex *b, int64_t ldb, double complex beta, double complex *c, int64_t ldc);

#endif
