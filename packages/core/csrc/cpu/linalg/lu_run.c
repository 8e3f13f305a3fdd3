/* lu_run.c - LU factorisation with exchanges of rows, and solutions by it. Factors are made by
 * panels: while one thread brings the next panel up to date and factorises it, the others subtract
 * the last one from the columns to the right of it. */
#include <string.h>
#include "cpu/linalg/linalg.h"

#define CORNER 32 /* rows of a panel's triangle that are inverted at once; divides PANEL */
#define PANEL 64  /* columns that LAPACK factorises at once */
#define CORNERS (2 * PANEL / CORNER)
#define HARMLESS                                                                                  \
    100 /* the largest number of an inverse that is used: so many times a rounding error may grow \
         */
#define BLOCK 128 /* columns of one task to the right of them */
#define SMALL 160 /* rows or columns, up to which it takes the whole matrix */

/* ---- one matrix ---- */

typedef struct lu_job {
    const td_lapack *la;
    td_dtype d;
    int64_t item, m, n, k; /* k: the smaller of m and n */
    char *a;
    void *pivots;
    int64_t info;           /* 1 + the place of the first zero pivot */
    int64_t at, width;      /* the panel that is done */
    char *inverses;         /* of the diagonal blocks of L, of an even and an odd panel */
    bool harmless[CORNERS]; /* is the inverse, number by number, small? */
    td_scratch work;        /* CORNER rows of a block, then a product's space */
} lu_job;

static char *element(const lu_job *j, int64_t row, int64_t col)
{
    return j->a + (col * j->m + row) * j->item;
}
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t corner_of(int64_t row) { return row / CORNER % CORNERS; }
static char *inverse_at(const lu_job *j, int64_t row)
{
    return j->inverses + corner_of(row) * CORNER * CORNER * j->item;
}

/* Of every diagonal block: a product with it is ten times as fast as the library's substitution in
 * so few unknowns. */
static void invert_corners(lu_job *j, int64_t at, int64_t width)
{
    for (int64_t row = at; row < at + width; row += CORNER) {
        int64_t n = least(CORNER, at + width - row);
        char *to = inverse_at(j, row);
        memset(to, 0, (size_t)(n * n * j->item));
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * (n + 1) * j->item, td_linalg_one(j->d), (size_t)j->item);
        j->la->trsm("L", "L", "N", "U", &n, &n, td_linalg_one(j->d), element(j, row, row), &j->m,
                    to, &n, 1, 1, 1, 1);
        j->harmless[corner_of(row)] = td_largest(j->d, to, n * n) <= HARMLESS;
    }
}

/* Columns [at, at + width) from row `at` down; exchanges count from the matrix' first row. */
static void factor_panel(lu_job *j, int64_t at, int64_t width)
{
    int64_t rows = j->m - at, info = 0;
    void *pivots = td_lapack_ints_at(j->pivots, at);
    j->la->getrf(&rows, &width, element(j, at, at), &j->m, pivots, &info);
    for (int64_t i = 0; i < least(rows, width); i++)
        td_lapack_set_int(pivots, i, td_lapack_int(pivots, i) + at);
    info = td_lapack_int(&info, 0);
    if (info > 0 && !j->info) j->info = at + info;
    if (j->inverses) invert_corners(j, at, width);
}

static void exchange_rows(const lu_job *j, int64_t col, int64_t cols, int64_t first, int64_t last)
{
    int64_t one = 1, from = first + 1;
    if (last > first) j->la->laswp(&cols, element(j, 0, col), &j->m, &from, &last, j->pivots, &one);
}

/* Rows [row, row + n) of U in columns [col, col + cols). */
static void substitute(const lu_job *j, int64_t row, int64_t n, int64_t col, int64_t cols,
                       char *space)
{
    if (!j->harmless[corner_of(row)]) {
        j->la->trsm("L", "L", "N", "U", &n, &cols, td_linalg_one(j->d), element(j, row, row), &j->m,
                    element(j, row, col), &j->m, 1, 1, 1, 1);
        return;
    }
    for (int64_t c = 0; c < cols; c++)
        memcpy(space + c * n * j->item, element(j, row, col + c), (size_t)(n * j->item));
    td_block_product(j->la, j->d, TD_SET, n, cols, n, inverse_at(j, row), n, space, n,
                     element(j, row, col), j->m, space + CORNER * BLOCK * j->item);
}

/* What the panel at j->at does to columns [col, col + cols): U's rows, CORNER at a time, and what
 * they take from the rows below. */
static void update(const lu_job *j, int64_t col, int64_t cols, char *space)
{
    int64_t below = j->at + j->width, ld = j->m;
    char *product_space = space + CORNER * BLOCK * j->item;
    exchange_rows(j, col, cols, j->at, below);
    for (int64_t row = j->at; row < below; row += CORNER) {
        int64_t n = least(CORNER, below - row);
        substitute(j, row, n, col, cols, space);
        if (row + n < below)
            td_block_product(j->la, j->d, TD_TAKE, below - row - n, cols, n,
                             element(j, row + n, row), ld, element(j, row, col), ld,
                             element(j, row + n, col), ld, product_space);
    }
    if (below < j->m)
        td_block_product(j->la, j->d, TD_TAKE, j->m - below, cols, j->width,
                         element(j, below, j->at), ld, element(j, j->at, col), ld,
                         element(j, below, col), ld, product_space);
}

/* Task 0 is the next panel, if there is one; the others are blocks of the columns to the right of
 * it. */
static void run_tasks(void *context, int64_t begin, int64_t end)
{
    lu_job *j = context;
    int64_t next = j->at + j->width, width = least(PANEL, j->k - next), panels = width > 0;
    char *space = td_scratch_take(&j->work);
    for (int64_t task = begin; task < end; task++) {
        if (task < panels) {
            update(j, next, width, space);
            factor_panel(j, next, width);
        } else {
            int64_t col = next + panels * width + (task - panels) * BLOCK;
            update(j, col, least(BLOCK, j->n - col), space);
        }
    }
    td_scratch_give(&j->work, space);
}

/* Exchanges that came after a panel, for its own columns. */
static void finish_panels(void *context, int64_t begin, int64_t end)
{
    const lu_job *j = context;
    for (int64_t p = begin; p < end; p++)
        exchange_rows(j, p * PANEL, least(PANEL, j->k - p * PANEL), (p + 1) * PANEL, j->k);
}

static void factor_by_panels(lu_job *j)
{
    factor_panel(j, 0, PANEL);
    for (; j->at < j->k; j->at += PANEL) {
        j->width = least(PANEL, j->k - j->at);
        int64_t next = least(PANEL, j->k - j->at - j->width),
                right = j->n - j->at - j->width - next;
        td_blas_parallel((next > 0) + (right + BLOCK - 1) / BLOCK, 1, run_tasks, j);
    }
    td_blas_parallel((j->k - 1) / PANEL, 1, finish_panels, j);
}

int64_t td_lu_factor(const td_lapack *la, td_dtype d, int64_t m, int64_t n, char *a, void *pivots)
{
    if (m <= TD_SMALL && n <= TD_SMALL) return td_small_factor(d, m, n, a, pivots);
    lu_job j = {.la = la,
                .d = d,
                .item = td_itemsize(d),
                .m = m,
                .n = n,
                .k = least(m, n),
                .a = a,
                .pivots = pivots};
    if (j.k <= SMALL) {
        factor_panel(&j, 0, n);
        return j.info;
    }
    int64_t bytes = 2 * PANEL * CORNER * j.item;
    if (td_scratch_begin(&j.work, CORNER * BLOCK * j.item +
                                      td_block_product_work(d, m, BLOCK, PANEL)) != TD_OK)
        return -1;
    j.inverses = td_alloc(bytes);
    if (j.inverses) {
        factor_by_panels(&j);
        td_free(j.inverses, bytes);
    }
    td_scratch_end(&j.work);
    return j.inverses ? j.info : -1;
}

void td_lu_solve(const td_lapack *la, td_dtype d, const char *trans, int64_t n, int64_t few,
                 const char *a, int64_t lda, const void *pivots, char *x)
{
    if (n <= TD_SMALL && lda == n && trans[0] != 'C') {
        td_small_solve(d, trans, n, few, a, pivots, x);
        return;
    }
    bool plain = trans[0] == 'N';
    int64_t first = 1, step = plain ? 1 : -1;
    td_triangle lower = {la, d, "L", "L", trans, "U", lda, n},
                upper = {la, d, "L", "U", trans, "N", lda, n};
    if (plain) la->laswp(&few, x, &n, &first, &n, pivots, &step);
    td_triangle_solve(plain ? &lower : &upper, n, few, a, x);
    td_triangle_solve(plain ? &upper : &lower, n, few, a, x);
    if (!plain) la->laswp(&few, x, &n, &first, &n, pivots, &step);
}
