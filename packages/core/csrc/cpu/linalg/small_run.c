/* small_run.c - LU of matrices so small that a call of the library costs more than the work, and LU
 * without exchanges. Matrices are column-major and dense. */
#include <complex.h>
#include <math.h>
#include "cpu/linalg/linalg.h"

/* By which LAPACK chooses a pivot: of complex numbers not quite the magnitude. */
static inline float size_f32(float x) { return fabsf(x); }
static inline double size_f64(double x) { return fabs(x); }
static inline float size_c64(float complex x) { return fabsf(crealf(x)) + fabsf(cimagf(x)); }
static inline double size_c128(double complex x) { return fabs(creal(x)) + fabs(cimag(x)); }

#define SMALL_LU(suffix, type)                                                                  \
    /* Column j leaves the columns to the right of it. */                                       \
    static void reduce_##suffix(int64_t m, int64_t n, type *a, int64_t j)                       \
    {                                                                                           \
        type *head = a + j * m, pivot = head[j];                                                \
        for (int64_t i = j + 1; i < m && pivot != 0; i++) head[i] /= pivot;                     \
        for (int64_t c = j + 1; c < n; c++) {                                                   \
            type *col = a + c * m, factor = col[j];                                             \
            for (int64_t i = j + 1; i < m; i++) col[i] -= head[i] * factor;                     \
        }                                                                                       \
    }                                                                                           \
    static int64_t eliminate_##suffix(int64_t m, int64_t n, type *a)                            \
    {                                                                                           \
        int64_t info = 0;                                                                       \
        for (int64_t j = 0; j < m && j < n; j++) {                                              \
            if (a[j * m + j] == 0 && !info) info = j + 1;                                       \
            reduce_##suffix(m, n, a, j);                                                        \
        }                                                                                       \
        return info;                                                                            \
    }                                                                                           \
    static void swap_##suffix(type *a, int64_t step, int64_t count, int64_t one, int64_t other) \
    {                                                                                           \
        for (int64_t c = 0; c < count && one != other; c++, a += step) {                        \
            type kept = a[one];                                                                 \
            a[one] = a[other];                                                                  \
            a[other] = kept;                                                                    \
        }                                                                                       \
    }                                                                                           \
    static int64_t factor_##suffix(int64_t m, int64_t n, type *a, void *pivots)                 \
    {                                                                                           \
        int64_t info = 0;                                                                       \
        for (int64_t j = 0; j < m && j < n; j++) {                                              \
            int64_t best = j;                                                                   \
            for (int64_t i = j + 1; i < m; i++)                                                 \
                if (size_##suffix(a[j * m + i]) > size_##suffix(a[j * m + best])) best = i;     \
            td_lapack_set_int(pivots, j, best + 1);                                             \
            if (a[j * m + best] == 0 && !info) info = j + 1;                                    \
            swap_##suffix(a, m, n, j, best);                                                    \
            reduce_##suffix(m, n, a, j);                                                        \
        }                                                                                       \
        return info;                                                                            \
    }                                                                                           \
    /* L U x = P^T b */                                                                         \
    static void solve_##suffix(int64_t n, const type *a, type *x)                               \
    {                                                                                           \
        for (int64_t j = 0; j < n; j++)                                                         \
            for (int64_t i = j + 1; i < n; i++) x[i] -= a[j * n + i] * x[j];                    \
        for (int64_t j = n - 1; j >= 0; j--) {                                                  \
            x[j] /= a[j * n + j];                                                               \
            for (int64_t i = 0; i < j; i++) x[i] -= a[j * n + i] * x[j];                        \
        }                                                                                       \
    }                                                                                           \
    /* U^T L^T (P^T x) = b */                                                                   \
    static void solve_turned_##suffix(int64_t n, const type *a, type *x)                        \
    {                                                                                           \
        for (int64_t j = 0; j < n; j++) {                                                       \
            for (int64_t i = 0; i < j; i++) x[j] -= a[j * n + i] * x[i];                        \
            x[j] /= a[j * n + j];                                                               \
        }                                                                                       \
        for (int64_t j = n - 1; j >= 0; j--)                                                    \
            for (int64_t i = j + 1; i < n; i++) x[j] -= a[j * n + i] * x[i];                    \
    }                                                                                           \
    static void solve_all_##suffix(bool turned, int64_t n, int64_t few, const type *a,          \
                                   const void *pivots, type *x)                                 \
    {                                                                                           \
        for (int64_t j = 0; j < n && !turned; j++)                                              \
            swap_##suffix(x, n, few, j, td_lapack_int(pivots, j) - 1);                          \
        for (int64_t c = 0; c < few; c++)                                                       \
            (turned ? solve_turned_##suffix : solve_##suffix)(n, a, x + c * n);                 \
        for (int64_t j = n - 1; j >= 0 && turned; j--)                                          \
            swap_##suffix(x, n, few, j, td_lapack_int(pivots, j) - 1);                          \
    }
SMALL_LU(f32, float)
SMALL_LU(f64, double)
SMALL_LU(c64, float complex)
SMALL_LU(c128, double complex)

/* The function of a dtype, called. */
#define PICK(d, name, ...)                     \
    ((d) == TD_F32   ? name##_f32(__VA_ARGS__) \
     : (d) == TD_F64 ? name##_f64(__VA_ARGS__) \
     : (d) == TD_C64 ? name##_c64(__VA_ARGS__) \
                     : name##_c128(__VA_ARGS__))

int64_t td_eliminate(td_dtype d, int64_t m, int64_t n, void *a)
{
    return PICK(d, eliminate, m, n, a);
}

int64_t td_small_factor(td_dtype d, int64_t m, int64_t n, void *a, void *pivots)
{
    return PICK(d, factor, m, n, a, pivots);
}

void td_small_solve(td_dtype d, const char *trans, int64_t n, int64_t few, const void *a,
                    const void *pivots, void *x)
{
    bool turned = trans[0] != 'N';
    PICK(d, solve_all, turned, n, few, a, pivots, x);
}
