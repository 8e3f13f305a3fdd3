/* svd_square_run.c - the steps of gesdd for one square matrix: to two diagonals, their singular
 * vectors, and the reflections of the first step applied to those. The last is a fifth of the time
 * and goes to all threads. */
#include "cpu/linalg/linalg.h"

#define BLOCK 128 /* vectors of one task */
#define LEAST 64  /* rows below which gesdd itself is as fast */

typedef struct svd_steps {
    const td_lapack *la;
    td_dtype d, real;
    int64_t n, blocks;
    char *a, *u, *vh;
    /* in the work space; left, right: real vectors */
    char *tau_left, *tau_right, *super, *left, *right, *ints, *work;
    int64_t lwork, apply, bytes; /* numbers for gebrd, for each task; bytes in all */
} svd_steps;

/* The next part of the work space; NULL while there is none and its size is counted. */
static char *take(char *space, int64_t *at, int64_t bytes)
{
    char *here = space ? space + *at : NULL;
    *at += (bytes + 63) / 64 * 64;
    return here;
}

static void apply(const svd_steps *j, bool left, int64_t from, int64_t count, char *work,
                  int64_t lwork, int64_t *info)
{
    int64_t item = td_itemsize(j->d), n = j->n;
    if (left)
        j->la->ormbr("Q", "L", "N", &n, &count, &n, j->a, &n, j->tau_left, j->u + from * n * item,
                     &n, work, &lwork, info, 1, 1, 1);
    else
        j->la->ormbr("P", "R", td_is_complex(j->d) ? "C" : "T", &count, &n, &n, j->a, &n,
                     j->tau_right, j->vh + from * item, &n, work, &lwork, info, 1, 1, 1);
}

static void ask_sizes(svd_steps *j)
{
    _Alignas(16) char size[16];
    int64_t n = j->n, width = n < BLOCK ? n : BLOCK, info;
    j->la->gebrd(&n, &n, j->a, &n, NULL, NULL, NULL, NULL, size, &(int64_t){-1}, &info);
    j->lwork = td_work_size(j->d, size);
    apply(j, true, 0, width, size, -1, &info);
    j->apply = td_work_size(j->d, size);
    apply(j, false, 0, width, size, -1, &info);
    if (td_work_size(j->d, size) > j->apply) j->apply = td_work_size(j->d, size);
}

static svd_steps plan(const td_lapack *la, td_dtype d, int64_t n, char *a, char *u, char *vh,
                      char *space)
{
    svd_steps j = {.la = la,
                   .d = d,
                   .real = td_to_real(d),
                   .n = n,
                   .blocks = (n + BLOCK - 1) / BLOCK,
                   .a = a,
                   .u = u,
                   .vh = vh};
    int64_t item = td_itemsize(d), real = td_itemsize(j.real), at = 0;
    ask_sizes(&j);
    j.tau_left = take(space, &at, n * item);
    j.tau_right = take(space, &at, n * item);
    j.super = take(space, &at, n * real);
    j.left = td_is_complex(d) ? take(space, &at, n * n * real) : u;
    j.right = td_is_complex(d) ? take(space, &at, n * n * real) : vh;
    j.ints = take(space, &at, 8 * n * TD_LAPACK_INT);
    int64_t most = j.lwork * item, diagonal = (3 * n * n + 4 * n) * real,
            tasks = 2 * j.blocks * j.apply * item;
    most = most > diagonal ? most : diagonal;
    j.work = take(space, &at, most > tasks ? most : tasks);
    j.bytes = at;
    return j;
}

/* Left vectors are the first tasks, right ones the others. */
static void apply_blocks(void *context, int64_t begin, int64_t end)
{
    const svd_steps *j = context;
    int64_t info;
    for (int64_t task = begin; task < end; task++) {
        int64_t from = task % j->blocks * BLOCK, count = j->n - from < BLOCK ? j->n - from : BLOCK;
        apply(j, task < j->blocks, from, count, j->work + task * j->apply * td_itemsize(j->d),
              j->apply, &info);
    }
}

static void widen(const svd_steps *j, char *to, const char *from)
{
    for (int64_t i = 0; i < j->n * j->n; i++) {
        if (j->real == TD_F32)
            ((float *)to)[2 * i] = ((const float *)from)[i], ((float *)to)[2 * i + 1] = 0;
        else ((double *)to)[2 * i] = ((const double *)from)[i], ((double *)to)[2 * i + 1] = 0;
    }
}

/* Numbers that gesdd would scale first, so that squares neither vanish nor overflow. */
static bool extreme(const svd_steps *j)
{
    double largest = td_largest(j->d, j->a, j->n * j->n), low = j->real == TD_F32 ? 1e-12 : 1e-135;
    return largest != 0 && (largest < low || largest > 0.5 / low);
}

bool td_svd_by_steps(int64_t m, int64_t n)
{
    return m == n && n >= LEAST && td_blas_fits(3 * n * n + 4 * n);
}

int64_t td_svd_steps_work(const td_lapack *la, td_dtype d, int64_t n)
{
    return plan(la, d, n, NULL, NULL, NULL, NULL).bytes;
}

bool td_svd_steps(const td_lapack *la, td_dtype d, int64_t n, char *a, char *s, char *u, char *vh,
                  char *space, int64_t *info)
{
    svd_steps j = plan(la, d, n, a, u, vh, space);
    if (extreme(&j)) return false;
    la->gebrd(&n, &n, a, &n, s, j.super, j.tau_left, j.tau_right, j.work, &j.lwork, info);
    la->bdsdc("U", "I", &n, s, j.super, j.left, &n, j.right, &n, NULL, NULL, j.work, j.ints, info,
              1, 1);
    if (td_lapack_int(info, 0)) return true;
    if (td_is_complex(d)) {
        widen(&j, u, j.left);
        widen(&j, vh, j.right);
    }
    td_blas_parallel(2 * j.blocks, 1, apply_blocks, &j);
    return true;
}
