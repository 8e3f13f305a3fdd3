/* lapack.h - LAPACK (and two routines of BLAS) in the library that blas.h found.
 * Matrices are column-major; every argument is a pointer, as in Fortran, and the lengths of texts
 * follow at the end. Integers are int64_t here whatever the library counts in: on a little-endian
 * machine the low half of one is the 32-bit integer. What the library writes (info, exchanges of
 * rows) is read by td_lapack_int. */
#ifndef TD_LAPACK_H
#define TD_LAPACK_H
#include <stddef.h>
#include "cpu/run/blas.h"
#include "runtime/dtype.h"
#include "runtime/error.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "integer arguments of LAPACK are passed as little-endian int64_t"
#endif

typedef const int64_t *td_in; /* an integer that is read */
typedef const char *td_ch;    /* one letter */

/* name, stem for real and for complex numbers (NULL: not for these), arguments */
#define TD_LAPACK_ROUTINES(R)                                                                      \
    R(gemm, "gemm", "gemm",                                                                        \
      (td_ch ta, td_ch tb, td_in m, td_in n, td_in k, const void *alpha, const void *a, td_in lda, \
       const void *b, td_in ldb, const void *beta, void *c, td_in ldc, size_t, size_t))            \
    R(trsm, "trsm", "trsm",                                                                        \
      (td_ch side, td_ch uplo, td_ch trans, td_ch diag, td_in m, td_in n, const void *alpha,       \
       const void *a, td_in lda, void *b, td_in ldb, size_t, size_t, size_t, size_t))              \
    R(laswp, "laswp", "laswp",                                                                     \
      (td_in n, void *a, td_in lda, td_in first, td_in last, const void *pivots, td_in step))      \
    R(getrf, "getrf", "getrf",                                                                     \
      (td_in m, td_in n, void *a, td_in lda, void *pivots, int64_t *info))                         \
    R(potrf, "potrf", "potrf", (td_ch uplo, td_in n, void *a, td_in lda, int64_t *info, size_t))   \
    R(geqrf, "geqrf", "geqrf",                                                                     \
      (td_in m, td_in n, void *a, td_in lda, void *tau, void *work, td_in lwork, int64_t *info))   \
    R(orgqr, "orgqr", "ungqr",                                                                     \
      (td_in m, td_in n, td_in k, void *a, td_in lda, const void *tau, void *work, td_in lwork,    \
       int64_t *info))                                                                             \
    R(gebrd, "gebrd", "gebrd",                                                                     \
      (td_in m, td_in n, void *a, td_in lda, void *d, void *e, void *tauq, void *taup, void *work, \
       td_in lwork, int64_t *info))                                                                \
    R(ormbr, "ormbr", "unmbr",                                                                     \
      (td_ch vect, td_ch side, td_ch trans, td_in m, td_in n, td_in k, const void *a, td_in lda,   \
       const void *tau, void *c, td_in ldc, void *work, td_in lwork, int64_t *info, size_t,        \
       size_t, size_t))                                                                            \
    R(bdsdc, "bdsdc", "bdsdc",                                                                     \
      (td_ch uplo, td_ch job, td_in n, void *d, void *e, void *u, td_in ldu, void *vt, td_in ldvt, \
       void *q, void *iq, void *work, void *iwork, int64_t *info, size_t, size_t))                 \
    R(gesdd, "gesdd", NULL,                                                                        \
      (td_ch job, td_in m, td_in n, void *a, td_in lda, void *s, void *u, td_in ldu, void *vt,     \
       td_in ldvt, void *work, td_in lwork, void *iwork, int64_t *info, size_t))                   \
    R(gesdd_complex, NULL, "gesdd",                                                                \
      (td_ch job, td_in m, td_in n, void *a, td_in lda, void *s, void *u, td_in ldu, void *vt,     \
       td_in ldvt, void *work, td_in lwork, void *rwork, void *iwork, int64_t *info, size_t))      \
    R(syevd, "syevd", NULL,                                                                        \
      (td_ch job, td_ch uplo, td_in n, void *a, td_in lda, void *w, void *work, td_in lwork,       \
       void *iwork, td_in liwork, int64_t *info, size_t, size_t))                                  \
    R(heevd, NULL, "heevd",                                                                        \
      (td_ch job, td_ch uplo, td_in n, void *a, td_in lda, void *w, void *work, td_in lwork,       \
       void *rwork, td_in lrwork, void *iwork, td_in liwork, int64_t *info, size_t, size_t))       \
    R(geev, "geev", NULL,                                                                          \
      (td_ch left, td_ch right, td_in n, void *a, td_in lda, void *wr, void *wi, void *vl,         \
       td_in ldvl, void *vr, td_in ldvr, void *work, td_in lwork, int64_t *info, size_t, size_t))  \
    R(geev_complex, NULL, "geev",                                                                  \
      (td_ch left, td_ch right, td_in n, void *a, td_in lda, void *w, void *vl, td_in ldvl,        \
       void *vr, td_in ldvr, void *work, td_in lwork, void *rwork, int64_t *info, size_t, size_t)) \
    R(gels, "gels", "gels",                                                                        \
      (td_ch trans, td_in m, td_in n, td_in nrhs, void *a, td_in lda, void *b, td_in ldb,          \
       void *work, td_in lwork, int64_t *info, size_t))                                            \
    R(gelsy, "gelsy", NULL,                                                                        \
      (td_in m, td_in n, td_in nrhs, void *a, td_in lda, void *b, td_in ldb, void *order,          \
       const void *rcond, int64_t *rank, void *work, td_in lwork, int64_t *info))                  \
    R(gelsy_complex, NULL, "gelsy",                                                                \
      (td_in m, td_in n, td_in nrhs, void *a, td_in lda, void *b, td_in ldb, void *order,          \
       const void *rcond, int64_t *rank, void *work, td_in lwork, void *rwork, int64_t *info))     \
    R(gelsd, "gelsd", NULL,                                                                        \
      (td_in m, td_in n, td_in nrhs, void *a, td_in lda, void *b, td_in ldb, void *s,              \
       const void *rcond, int64_t *rank, void *work, td_in lwork, void *iwork, int64_t *info))     \
    R(gelsd_complex, NULL, "gelsd",                                                                \
      (td_in m, td_in n, td_in nrhs, void *a, td_in lda, void *b, td_in ldb, void *s,              \
       const void *rcond, int64_t *rank, void *work, td_in lwork, void *rwork, void *iwork,        \
       int64_t *info))                                                                             \
    R(sytrf, "sytrf", "sytrf",                                                                     \
      (td_ch uplo, td_in n, void *a, td_in lda, void *pivots, void *work, td_in lwork,             \
       int64_t *info, size_t))                                                                     \
    R(hetrf, "sytrf", "hetrf",                                                                     \
      (td_ch uplo, td_in n, void *a, td_in lda, void *pivots, void *work, td_in lwork,             \
       int64_t *info, size_t))                                                                     \
    R(sytrs, "sytrs", "sytrs",                                                                     \
      (td_ch uplo, td_in n, td_in nrhs, const void *a, td_in lda, const void *pivots, void *b,     \
       td_in ldb, int64_t *info, size_t))                                                          \
    R(hetrs, "sytrs", "hetrs",                                                                     \
      (td_ch uplo, td_in n, td_in nrhs, const void *a, td_in lda, const void *pivots, void *b,     \
       td_in ldb, int64_t *info, size_t))

typedef struct td_lapack {
#define TD_LAPACK_FIELD(name, real, complex, arguments) void(*name) arguments;
    TD_LAPACK_ROUTINES(TD_LAPACK_FIELD)
#undef TD_LAPACK_FIELD
} td_lapack;

/* The routines for float32, float64, complex64 or complex128. RuntimeError if the machine has no
 * library with all of them. */
td_status td_lapack_of(const td_lapack **out, td_dtype dtype);

#define TD_LAPACK_INT 8 /* bytes that hold an integer of any library */
/* one of those that the library wrote */
int64_t td_lapack_int(const void *ints, int64_t at);
void td_lapack_set_int(void *ints, int64_t at, int64_t value); /* one that it is to read */
static inline void *td_lapack_ints_at(void *ints, int64_t at)
{
    return (char *)ints + at * (td_blas_is_wide() ? 8 : 4);
}

#endif
