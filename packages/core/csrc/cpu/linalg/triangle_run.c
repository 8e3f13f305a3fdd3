/* triangle_run.c - substitution by halves: half of the unknowns, a product that takes them out of
 * the other equations, the other half. The library's own substitution reaches half the speed of its
 * products. */
#include "cpu/linalg/linalg.h"

#define LEAF 64 /* unknowns that the library finds at once */

static void leaf(const td_triangle *t, int64_t n, int64_t few, const char *a, char *x)
{
    const int64_t *rows = t->side[0] == 'L' ? &n : &few, *cols = t->side[0] == 'L' ? &few : &n;
    t->la->trsm(t->side, t->uplo, t->trans, t->diag, rows, cols, td_linalg_one(t->d), a, &t->lda, x,
                &t->ldx, 1, 1, 1, 1);
}

/* Unknowns `known` (n of them) leave the equations of the `m` others, `open`. */
static void take_out(const td_triangle *t, int64_t m, int64_t n, int64_t few, const char *off,
                     const char *known, char *open)
{
    const void *one = td_linalg_one(t->d), *minus = td_linalg_minus_one(t->d);
    if (t->side[0] == 'L')
        t->la->gemm(t->trans, "N", &m, &few, &n, minus, off, &t->lda, known, &t->ldx, one, open,
                    &t->ldx, 1, 1);
    else
        t->la->gemm("N", t->trans, &few, &m, &n, minus, known, &t->ldx, off, &t->lda, one, open,
                    &t->ldx, 1, 1);
}

void td_triangle_solve(const td_triangle *t, int64_t n, int64_t few, const char *a, char *x)
{
    if (n <= LEAF) {
        leaf(t, n, few, a, x);
        return;
    }
    bool left = t->side[0] == 'L', upper = t->uplo[0] == 'U',
         as_upper = upper == (t->trans[0] == 'N');
    int64_t item = td_itemsize(t->d), half = (n / 2 + LEAF - 1) / LEAF * LEAF, rest = n - half;
    const char *corner = a + half * (t->lda + 1) * item,
               *off = a + half * (upper ? t->lda : 1) * item;
    char *second = x + half * (left ? 1 : t->ldx) * item;
    if (as_upper != left) { /* from the first unknown to the last */
        td_triangle_solve(t, half, few, a, x);
        take_out(t, rest, half, few, off, x, second);
        td_triangle_solve(t, rest, few, corner, second);
    } else {
        td_triangle_solve(t, rest, few, corner, second);
        take_out(t, half, rest, few, off, second, x);
        td_triangle_solve(t, half, few, a, x);
    }
}
