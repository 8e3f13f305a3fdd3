/* blas.c - stands for an OpenBLAS that others in the process use: computes nothing, tells who was
 * inside. */
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int inside, most, threads = 7, wrong, calls;

static void product(void)
{
    int now = atomic_fetch_add(&inside, 1) + 1, before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now)) {}
    atomic_fetch_add(&calls, 1);
    if (atomic_load(&threads) != 1) atomic_fetch_add(&wrong, 1);
    usleep(20000);
    atomic_fetch_sub(&inside, 1);
}
void sgemm_(void) { product(); }
void dgemm_(void) { product(); }
void cgemm_(void) { product(); }
void zgemm_(void) { product(); }

const char *openblas_get_config(void) { return "OpenBLAS 0.3.99 DYNAMIC_ARCH MAX_THREADS=50"; }
int openblas_get_num_threads(void) { return atomic_load(&threads); }
void openblas_set_num_threads(int n) { atomic_store(&threads, n); }

int most_inside(void) { return atomic_load(&most); }
int calls_made(void) { return atomic_load(&calls); }
int calls_on_several_threads(void) { return atomic_load(&wrong); }
