/* stress.c - callers, allocations and products at once, for ThreadSanitizer: no Python, all of the
 * runtime.
 *
 * Several threads of a program call the pool at once, allocate and free each other's blocks, and
 * multiply by weights they share, while the number of threads, the allocator's limit and its
 * statistics change. Values are checked, too. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpu/matmul/gemm_run.h"
#include "runtime/alloc.h"
#include "runtime/loops.h"
#include "runtime/pool.h"
#include "runtime/tensor.h"

enum { CALLERS = 4, N = 96, SLOTS = 64 };
static int rounds = 200;
static _Atomic int wrong;
static td_tensor *weights;

const td_loop_entry *const *td_loop_tables(void) /* the program uses no elementwise loops */
{
    static const td_loop_entry *const none[] = {NULL};
    return none;
}

static void check(int right, const char *what)
{
    if (right) return;
    wrong++;
    fprintf(stderr, "wrong: %s\n", what);
}

/* ---- the pool ---- */
typedef struct sum {
    _Atomic int64_t total;
} sum;
static void add_up(void *context, int64_t begin, int64_t end)
{
    int64_t part = 0;
    for (int64_t i = begin; i < end; i++) part += i;
    ((sum *)context)->total += part;
}
static void use_pool(int round)
{
    sum s = {0};
    int64_t n = 1000 + round % 7 * 10000;
    td_parallel(n, 64, add_up, &s);
    check(s.total == n * (n - 1) / 2, "a sum over the pool");
}

/* ---- the allocator: blocks change hands ---- */
static struct {
    void *block;
    int64_t bytes;
} slots[SLOTS];
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static void use_allocator(unsigned *seed)
{
    int64_t bytes = 1 + rand_r(seed) % (rand_r(seed) % 50 ? 5000 : 6000000);
    char *mine = td_alloc(bytes);
    check(mine != NULL, "an allocation");
    if (!mine) return;
    mine[0] = mine[bytes - 1] = 1;
    int at = rand_r(seed) % SLOTS;
    pthread_mutex_lock(&slots_lock);
    void *other = slots[at].block;
    int64_t others = slots[at].bytes;
    slots[at].block = mine;
    slots[at].bytes = bytes;
    pthread_mutex_unlock(&slots_lock);
    td_free(other, others);
}

/* ---- products by the same weights ---- */
static void use_weights(int round)
{
    int64_t sizes[2] = {round % 3 ? 7 : 200, N};
    td_tensor *x, *y;
    if (td_tensor_empty(&x, TD_F32, TD_CPU, 2, sizes) ||
        td_tensor_empty(&y, TD_F32, TD_CPU, 2, sizes)) {
        check(0, "a tensor");
        return;
    }
    float *in = td_data(x), *out = td_data(y);
    for (int64_t i = 0; i < x->numel; i++) in[i] = (float)(i % 5);
    td_product p = {.dtype = TD_F32,
                    .m = sizes[0],
                    .n = N,
                    .k = N,
                    .a = td_data(x),
                    .b = td_data(weights),
                    .c = td_data(y),
                    .a_row = N,
                    .a_col = 1,
                    .b_row = N,
                    .b_col = 1,
                    .c_row = N,
                    .alpha = td_scalar_float(1),
                    .beta = td_scalar_float(0)};
    check(td_product_run(&p) == TD_OK, "a product's status");
    float first = 0;
    for (int64_t k = 0; k < N; k++) first += in[k];
    check(out[0] == first, "a product");
    td_tensor_free(x);
    td_tensor_free(y);
}

static void *caller(void *number)
{
    unsigned seed = (unsigned)(intptr_t)number;
    for (int i = 0; i < rounds; i++) {
        use_pool(i);
        for (int k = 0; k < 20; k++) use_allocator(&seed);
        use_weights(i);
    }
    return NULL;
}

static void *meddler(void *unused)
{
    td_alloc_stats s;
    for (int i = 0; i < rounds; i++) {
        td_set_num_threads(1 + i % 4);
        td_alloc_get_stats(&s);
        check(s.allocated >= 0 && s.peak >= 0, "the statistics");
        if (i % 10 == 0) td_alloc_trim();
        if (i % 17 == 0) td_alloc_set_limit(i % 2 ? 1 << 20 : 1 << 28);
        usleep(300);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[CALLERS + 1];
    int64_t sizes[2] = {N, N};
    if (argc > 1) rounds = atoi(argv[1]);
    if (td_tensor_empty(&weights, TD_F32, TD_CPU, 2, sizes)) return 2;
    for (int64_t i = 0; i < weights->numel; i++) ((float *)td_data(weights))[i] = 1;
    for (intptr_t i = 0; i < CALLERS; i++)
        pthread_create(&threads[i], NULL, caller, (void *)(i + 1));
    pthread_create(&threads[CALLERS], NULL, meddler, NULL);
    for (int i = 0; i <= CALLERS; i++) pthread_join(threads[i], NULL);
    printf("%d callers, %d rounds, %d wrong values\n", CALLERS, rounds, (int)wrong);
    return wrong != 0;
}
