/* linalg_lu.c - LU factorisation with exchanges of rows, and solutions by it. Factors are made by panels: while one thread brings the next panel up to date and
 * factorises it, the others subtract the last one from the columns to the right of it. */
#include "ops/linalg.h"

#define PANEL 64       /* columns that LAPACK factorises at once */
#define BLOCK 128      /* columns of one task to the right of them */
#define SMALL 160      /* rows or columns, up to which it takes the whole matrix */

/* ---- one matrix ---- */

typedef struct lu_job {
    const td_lapack *la;
    td_dtype d;
    int64_t item, m, n, k; /* k: the smaller of m and n */
    char *a;
    void *pivots;
    int64_t info;          /* 1 + the place of the first zero pivot */
    int64_t at, width;     /* the panel that is done */
} lu_job;

static char *element(const lu_job *j, int64_t row, int64_t col) { return j->a + (col * j->m + row) * j->item; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Columns [at, at + width) from row `at` down; exchanges count from the matrix' first row. */
static void factor_panel(lu_job *j, int64_t at, int64_t width)
{
    int64_t rows = j->m - at, info = 0;
    void *pivots = td_lapack_ints_at(j->pivots, at);
    j->la->getrf(&rows, &width, element(j, at, at), &j->m, pivots, &info);
    for (int64_t i = 0; i < least(rows, width); i++) td_lapack_set_int(pivots, i, td_lapack_int(pivots, i) + at);
    info = td_lapack_int(&info, 0);
    if (info > 0 && !j->info) j->info = at + info;
}

static void exchange_rows(const lu_job *j, int64_t col, int64_t cols, int64_t first, int64_t last)
{
    int64_t one = 1, from = first + 1;
    if (last > first) j->la->laswp(&cols, element(j, 0, col), &j->m, &from, &last, j->pivots, &one);
}

/* What the panel at j->at does to columns [col, col + cols). */
static void update(const lu_job *j, int64_t col, int64_t cols)
{
    const td_lapack *la = j->la;
    int64_t below = j->at + j->width, rows = j->m - below;
    exchange_rows(j, col, cols, j->at, below);
    la->trsm("L", "L", "N", "U", &j->width, &cols, td_linalg_one(j->d), element(j, j->at, j->at), &j->m, element(j, j->at, col), &j->m,
             1, 1, 1, 1);
    if (rows > 0)
        la->gemm("N", "N", &rows, &cols, &j->width, td_linalg_minus_one(j->d), element(j, below, j->at), &j->m, element(j, j->at, col),
                 &j->m, td_linalg_one(j->d), element(j, below, col), &j->m, 1, 1);
}

/* Task 0 is the next panel, if there is one; the others are blocks of the columns to the right of it. */
static void run_tasks(void *context, int64_t begin, int64_t end)
{
    lu_job *j = context;
    int64_t next = j->at + j->width, width = least(PANEL, j->k - next), panels = width > 0;
    for (int64_t task = begin; task < end; task++) {
        if (task < panels) {
            update(j, next, width);
            factor_panel(j, next, width);
        } else {
            int64_t col = next + panels * width + (task - panels) * BLOCK;
            update(j, col, least(BLOCK, j->n - col));
        }
    }
}

/* Exchanges that came after a panel, for its own columns. */
static void finish_panels(void *context, int64_t begin, int64_t end)
{
    const lu_job *j = context;
    for (int64_t p = begin; p < end; p++) exchange_rows(j, p * PANEL, least(PANEL, j->k - p * PANEL), (p + 1) * PANEL, j->k);
}

int64_t td_lu_factor(const td_lapack *la, td_dtype d, int64_t m, int64_t n, char *a, void *pivots)
{
    if (m <= TD_SMALL && n <= TD_SMALL) return td_small_factor(d, m, n, a, pivots);
    lu_job j = {la, d, td_itemsize(d), m, n, least(m, n), a, pivots, 0, 0, 0};
    if (j.k <= SMALL) {
        factor_panel(&j, 0, n);
        return j.info;
    }
    factor_panel(&j, 0, PANEL);
    for (; j.at < j.k; j.at += PANEL) {
        j.width = least(PANEL, j.k - j.at);
        int64_t next = least(PANEL, j.k - j.at - j.width), right = j.n - j.at - j.width - next;
        td_parallel((next > 0) + (right + BLOCK - 1) / BLOCK, 1, run_tasks, &j);
    }
    td_parallel((j.k - 1) / PANEL, 1, finish_panels, &j);
    return j.info;
}

void td_lu_solve(const td_lapack *la, td_dtype d, const char *trans, int64_t n, int64_t few, const char *a, int64_t lda,
                 const void *pivots, char *x)
{
    if (n <= TD_SMALL && lda == n && trans[0] != 'C') {
        td_small_solve(d, trans, n, few, a, pivots, x);
        return;
    }
    bool plain = trans[0] == 'N';
    int64_t first = 1, step = plain ? 1 : -1;
    td_triangle lower = {la, d, "L", "L", trans, "U", lda, n}, upper = {la, d, "L", "U", trans, "N", lda, n};
    if (plain) la->laswp(&few, x, &n, &first, &n, pivots, &step);
    td_triangle_solve(plain ? &lower : &upper, n, few, a, x);
    td_triangle_solve(plain ? &upper : &lower, n, few, a, x);
    if (!plain) la->laswp(&few, x, &n, &first, &n, pivots, &step);
}
