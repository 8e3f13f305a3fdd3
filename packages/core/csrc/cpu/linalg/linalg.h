/* linalg.h - what the operators of linear algebra share: stacks of column-major matrices, their
 * share of the threads, and how a failure of one of them is told. */
#ifndef TD_LINALG_H
#define TD_LINALG_H
#include "runtime/scratch.h"
#include "cpu/run/lapack.h"
#include "runtime/op.h"

/* ---- stacks (linalg_stack.c) ----
 * Matrices one after the other, each dense. A column-major one has adjacent rows. A turned one is
 * row-major in the tensor, so that the library, which knows columns only, sees its transpose. */
typedef struct td_stack {
    td_tensor *t; /* owned by whoever made the stack */
    char *data;
    int64_t count, rows, cols; /* as the library sees them */
    int64_t bytes;             /* from one matrix to the next */
    bool turned;
} td_stack;

typedef enum td_turn { TD_AS_IT_LIES, TD_COLUMNS } td_turn; /* row-major may stay so, or not */

/* A new tensor of the batch of `like` (its dimensions but the last `trailing`) and one or two more.
 */
td_status td_stack_new(td_stack *s, td_dtype dtype, const td_tensor *like, int64_t rows,
                       int64_t cols);
/* n < 0: one number a matrix */
td_status td_vectors_new(td_tensor **out, td_dtype dtype, const td_tensor *like, int64_t n);
td_status td_stack_copy(td_stack *s, const td_tensor *from, td_turn turn);
td_status td_stack_like(td_stack *s, const td_stack *other); /* not filled */
/* The same, expanded to a batch. */
td_status td_stack_expand(td_stack *s, const td_tensor *from, int dims, const int64_t *batch,
                          td_turn turn);
/* No copy if every matrix of `from` can be read where it lies (s->count and s->bytes are not set
 * then: use td_batch_offset); `ld` as the library counts. Free s->t in either case. */
td_status td_stack_read(td_stack *s, const td_tensor *from, int64_t *ld, td_turn turn);

/* Elements from the start of t to the part of it that belongs to matrix i of a result with `dims`
 * batch dimensions; t has `trailing` dimensions after its own, which broadcast. */
int64_t td_batch_offset(const td_tensor *t, int trailing, int dims, const int64_t *batch,
                        int64_t i);

static inline char *td_matrix(const td_stack *s, int64_t i) { return s->data + i * s->bytes; }
/* ones on the diagonal, zeros elsewhere */
void td_stack_fill_eye(const td_stack *s);
/* zeros under the diagonal of one dense matrix */
void td_clear_below(td_dtype d, char *a, int64_t rows, int64_t cols);
void td_clear_above(td_dtype d, char *a, int64_t rows, int64_t cols);
/* Are all n numbers finite? */
bool td_all_finite(td_dtype d, const char *x, int64_t n);
/* The largest magnitude among n numbers, of complex ones among their parts; NaN does not count. */
double td_largest(td_dtype d, const char *x, int64_t n);

/* ---- running ---- */
/* nanoseconds of so many multiplications with additions, about */
double td_linalg_ns(td_dtype d, double flops);
/* body(context, begin, end) over matrices that take `ns` each; releases the lock. */
void td_linalg_parallel(int64_t count, double ns, td_range_fn body, void *context);
/* The work space a routine asked for, as a number it wrote at `work`; at least 1. */
int64_t td_work_size(td_dtype d, const void *work);
/* RuntimeError if the library cannot count to n. */
td_status td_linalg_fits(const char *op, int64_t n);
/* td_linalg_parallel for algorithms that may not converge. The body writes a number for each matrix
 * to *info: 0, or what the library says, or -1 for a matrix with NaN or infinity, or -2 for one
 * that lacks rank. LinAlgError for the first that is not 0; `like` has the batch's shape. */
td_status td_linalg_iterate(const char *op, const td_tensor *like, int64_t count, double ns,
                            td_range_fn body, void *context, int32_t **info);

/* A number of a dtype, for alpha and beta. */
const void *td_linalg_one(td_dtype d);
const void *td_linalg_minus_one(td_dtype d);

/* ---- products of column-major blocks on the calling thread (linalg_product.c) ----
 * C = A B or C -= A B for C of m rows and n columns, by our own kernels for real numbers. `work`:
 * as many bytes as td_block_product_work says for sizes not smaller than these. */
typedef enum td_block_way { TD_SET, TD_TAKE } td_block_way;
int64_t td_block_product_work(td_dtype d, int64_t m, int64_t n, int64_t k);
void td_block_product(const td_lapack *la, td_dtype d, td_block_way way, int64_t m, int64_t n,
                      int64_t k, const char *a, int64_t lda, const char *b, int64_t ldb, char *c,
                      int64_t ldc, void *work);

/* ---- substitution (linalg_triangle.c) ----
 * op(A) X = B (side "L") or X op(A) = B ("R"), in place of B; the words are those of the library's
 * trsm. */
typedef struct td_triangle {
    const td_lapack *la;
    td_dtype d;
    const char *side, *uplo, *trans, *diag;
    int64_t lda, ldx;
} td_triangle;
/* n unknowns, few right sides */
void td_triangle_solve(const td_triangle *t, int64_t n, int64_t few, const char *a, char *x);

/* ---- singular vectors of one square matrix by all threads (linalg_svd_square.c) ---- */
bool td_svd_by_steps(int64_t m, int64_t n); /* is it for matrices of this size? */
int64_t td_svd_steps_work(const td_lapack *la, td_dtype d, int64_t n); /* bytes of `space` */
/* U, S and Vh of a, which is overwritten; *info as of gesdd. False if gesdd has to scale the matrix
 * first: nothing is done. */
bool td_svd_steps(const td_lapack *la, td_dtype d, int64_t n, char *a, char *s, char *u, char *vh,
                  char *space, int64_t *info);

/* ---- LU ---- */
/* A = P L U in place; `pivots` as the library counts. Returns 0, or 1 + the place of the first zero
 * on U's diagonal, or -1 if memory is out. Bits do not depend on the number of threads. */
int64_t td_lu_factor(const td_lapack *la, td_dtype d, int64_t m, int64_t n, char *a, void *pivots);
/* op(A) X = B in place of B, which has n rows and as many in memory */
void td_lu_solve(const td_lapack *la, td_dtype d, const char *trans, int64_t n, int64_t few,
                 const char *a, int64_t lda, const void *pivots, char *x);

/* Matrices for which calling the library takes longer than the work (linalg_small.c); dense, trans
 * "N" or "T". */
#define TD_SMALL 16
int64_t td_small_factor(td_dtype d, int64_t m, int64_t n, void *a, void *pivots);
void td_small_solve(td_dtype d, const char *trans, int64_t n, int64_t few, const void *a,
                    const void *pivots, void *x);
/* without exchanges, of any size */
int64_t td_eliminate(td_dtype d, int64_t m, int64_t n, void *a);

#endif
