/* lapack.c - finding LAPACK's routines, all at once, when linear algebra is first asked for. */
#include "cpu/run/lapack.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static td_lapack tables[4]; /* float32, float64, complex64, complex128 */
static char missing[32];    /* the first name that was not found, "" if all were */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *find(char letter, const char *stem)
{
    char name[32];
    if (!stem) return NULL;
    bool real = !strcmp(stem, "bdsdc"); /* of real numbers always */
    snprintf(name, sizeof name, "%c%s",
             !real           ? letter
             : letter == 'c' ? 's'
             : letter == 'z' ? 'd'
                             : letter,
             stem);
    void *found = td_blas_symbol(name);
    if (!found && !missing[0]) memcpy(missing, name, sizeof name);
    return found;
}

static void fill(void)
{
    for (int k = 0; k < 4; k++) {
        td_lapack *t = &tables[k];
#define FIND(name, real, complex, arguments) \
    *(void **)&t->name = find("sdcz"[k], k < 2 ? (real) : (complex));
        TD_LAPACK_ROUTINES(FIND)
#undef FIND
    }
}

td_status td_lapack_of(const td_lapack **out, td_dtype dtype)
{
    int k = dtype == TD_F32    ? 0
            : dtype == TD_F64  ? 1
            : dtype == TD_C64  ? 2
            : dtype == TD_C128 ? 3
                               : -1;
    if (k < 0)
        return td_fail(TD_NOT_IMPLEMENTED, "linear algebra is not implemented for '%s'",
                       td_dtypes[dtype].type_name);
    if (!td_blas_load())
        return td_fail(TD_RUNTIME_ERROR,
                       "linear algebra needs a library with LAPACK, and none was found; install "
                       "scipy-openblas32, or set TAEDA_BLAS to the path of an OpenBLAS, or to mkl");
    pthread_once(&once, fill);
    if (missing[0])
        return td_fail(TD_RUNTIME_ERROR,
                       "linear algebra needs a library with LAPACK, but %s has no %s; set "
                       "TAEDA_BLAS to the path of a library that has it, or leave it unset",
                       td_blas_name(), missing);
    *out = &tables[k];
    return TD_OK;
}

int64_t td_lapack_int(const void *ints, int64_t at)
{
    return td_blas_is_wide() ? ((const int64_t *)ints)[at] : ((const int32_t *)ints)[at];
}

void td_lapack_set_int(void *ints, int64_t at, int64_t value)
{
    if (td_blas_is_wide()) ((int64_t *)ints)[at] = value;
    else ((int32_t *)ints)[at] = (int32_t)value;
}
