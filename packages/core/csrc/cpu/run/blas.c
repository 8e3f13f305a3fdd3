/* blas.c - finding a BLAS by dlopen and calling it.
 * Wheels of OpenBLAS prefix their names with scipy_, and add 64_ where integers have 64 bits; MKL's
 * runtime library and the systems' libraries use the plain names with 32 bits. */
#define _GNU_SOURCE
#include "cpu/run/blas.h"
#include "runtime/thread_local.h"
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*gemm32)(const char *, const char *, const int *, const int *, const int *,
                       const void *, const void *, const int *, const void *, const int *,
                       const void *, void *, const int *, size_t, size_t);
typedef void (*gemm64)(const char *, const char *, const int64_t *, const int64_t *,
                       const int64_t *, const void *, const void *, const int64_t *, const void *,
                       const int64_t *, const void *, void *, const int64_t *, size_t, size_t);

enum { SINGLE, DOUBLE, COMPLEX_SINGLE, COMPLEX_DOUBLE, KINDS };
static const char *const GEMM_NAMES[KINDS] = {"sgemm", "dgemm", "cgemm", "zgemm"};

static struct {
    void *gemm[KINDS];
    bool wide, chosen; /* 64-bit integers; named by the user */
    bool shared;       /* others in this process use it, or may */
    void *library;
    const char *prefix, *suffix; /* around the plain names */
    char path[4096], name[4096];
} blas;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* How the library is told how many threads to use, and who is inside it. */
static struct {
    int (*get)(void); /* of the whole process; NULL if it need not be put back */
    void (*set)(int);
    int (*set_local)(int); /* of the calling thread: gives what was before */
    int room, inside, before;
    pthread_mutex_t lock;
    pthread_cond_t left;
} control = {.room = INT_MAX, .lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

/* ---- finding ---- */
static void *symbol(void *library, const char *prefix, const char *stem, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", prefix, stem, suffix);
    return dlsym(library, name);
}

static bool find_gemms(void *library, const char *prefix, const char *suffix)
{
    for (int k = 0; k < KINDS; k++)
        if (!(blas.gemm[k] = symbol(library, prefix, GEMM_NAMES[k], suffix))) return false;
    return true;
}

/* A number that follows a name in OpenBLAS's description of itself. */
static int stated(const char *text, const char *name, int otherwise)
{
    const char *at = text ? strstr(text, name) : NULL;
    int n = at ? atoi(at + strlen(name)) : 0;
    return n > 0 ? n : otherwise;
}

/* OpenBLAS has memory for at least 50 callers, and for twice the threads it was built for. */
enum { LEAST_ROOM = 48 };

static void learn_control(void *library, const char *prefix, const char *suffix)
{
    const char *(*config)(void) =
        (const char *(*)(void))symbol(library, prefix, "openblas_get_config", suffix);
    control.get = (int (*)(void))symbol(library, prefix, "openblas_get_num_threads", suffix);
    control.set = (void (*)(int))symbol(library, prefix, "openblas_set_num_threads", suffix);
    control.set_local = (int (*)(int))dlsym(library, "MKL_Set_Num_Threads_Local");
    control.room = control.set ? LEAST_ROOM : INT_MAX;
    if (!config) return;
    int threads = stated(config(), "MAX_THREADS=", LEAST_ROOM);
    if (threads > control.room) control.room = threads;
}

/* Nobody else has it: nobody else minds. */
static void settle_control(void)
{
    if (blas.shared || !control.set) return;
    control.set(1);
    control.get = NULL;
}

static bool adopt(const char *file)
{
    static const struct {
        const char *prefix, *gemm_suffix, *suffix;
        bool wide;
    } styles[] = {{"scipy_", "_", "", false},
                  {"scipy_", "_64_", "64_", true},
                  {"", "_64_", "64_", true},
                  {"", "_", "", false}};
    void *known = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD),
         *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (known) dlclose(known);
    if (!library) return false;
    blas.shared |= known != NULL;
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        if (!find_gemms(library, styles[i].prefix, styles[i].gemm_suffix)) continue;
        learn_control(library, styles[i].prefix, styles[i].suffix);
        blas.wide = styles[i].wide;
        blas.library = library;
        blas.prefix = styles[i].prefix;
        blas.suffix = styles[i].gemm_suffix;
        snprintf(blas.name, sizeof blas.name, "%s", file);
        return true;
    }
    dlclose(library);
    return false;
}

static bool adopt_mkl(void) { return adopt("libmkl_rt.so.2") || adopt("libmkl_rt.so"); }

/* In a forked process: those who were inside are not here. Its library has what the last one was to
 * put back. */
static void nobody_inside(void)
{
    pthread_mutex_init(&control.lock, NULL);
    pthread_cond_init(&control.left, NULL);
    control.inside = 0;
}

static void find(void)
{
    const char *wanted = getenv("TAEDA_BLAS");
    if (wanted && !strcmp(wanted, "none")) return;
    bool shared = blas.shared;
    blas.shared = true;
    blas.chosen = wanted && *wanted && (!strcmp(wanted, "mkl") ? adopt_mkl() : adopt(wanted));
    if (!blas.chosen) {
        blas.shared = shared;
        if (blas.path[0]) adopt(blas.path);
    }
    settle_control();
    pthread_atfork(NULL, NULL, nobody_inside);
}

int td_blas_load(void)
{
    pthread_once(&once, find);
    return blas.name[0] != 0;
}

void td_blas_set_path(const char *path, bool shared)
{
    snprintf(blas.path, sizeof blas.path, "%s", path ? path : "");
    blas.shared = shared;
}
bool td_blas_chosen(void) { return td_blas_load() && blas.chosen; }
const char *td_blas_name(void) { return td_blas_load() ? blas.name : ""; }
bool td_blas_fits(int64_t largest) { return blas.wide || largest <= INT_MAX; }
bool td_blas_is_wide(void) { return blas.wide; }
void *td_blas_symbol(const char *name)
{
    return td_blas_load() ? symbol(blas.library, blas.prefix, name, blas.suffix) : NULL;
}

/* ---- calling ---- */
static TD_THREAD_LOCAL int depth;

static void wait_for_room(void)
{
    pthread_mutex_lock(&control.lock);
    while (control.inside >= control.room) pthread_cond_wait(&control.left, &control.lock);
    if (control.inside++ == 0 && control.get) {
        int threads = control.get();
        if (threads != 1) control.before = threads;
        if (threads != 1) control.set(1);
    }
    pthread_mutex_unlock(&control.lock);
}

static void give_room(void)
{
    pthread_mutex_lock(&control.lock);
    if (--control.inside == 0 && control.before) {
        /* else somebody has chosen another number meanwhile */
        if (control.get() == 1) control.set(control.before);
        control.before = 0;
    }
    pthread_cond_signal(&control.left);
    pthread_mutex_unlock(&control.lock);
}

typedef struct guarded {
    td_range_fn body;
    void *context;
} guarded;

static void run_guarded(void *context, int64_t begin, int64_t end)
{
    const guarded *g = context;
    bool first = depth++ == 0;
    int before = 0;
    if (first && control.set_local) before = control.set_local(1);
    if (first && control.set) wait_for_room();
    g->body(g->context, begin, end);
    if (first && control.set) give_room();
    if (first && control.set_local) control.set_local(before);
    depth--;
}

void td_blas_parallel(int64_t n, int64_t grain, td_range_fn body, void *context)
{
    td_parallel(n, grain, run_guarded, &(guarded){body, context});
}

static void gemm(int kind, char ta, char tb, const int64_t sizes[3], const void *alpha,
                 const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                 int64_t ldc)
{
    if (blas.wide) {
        ((gemm64)blas.gemm[kind])(&ta, &tb, &sizes[0], &sizes[1], &sizes[2], alpha, a, &lda, b,
                                  &ldb, beta, c, &ldc, 1, 1);
        return;
    }
    int m = (int)sizes[0], n = (int)sizes[1], k = (int)sizes[2], la = (int)lda, lb = (int)ldb,
        lc = (int)ldc;
    ((gemm32)blas.gemm[kind])(&ta, &tb, &m, &n, &k, alpha, a, &la, b, &lb, beta, c, &lc, 1, 1);
}

#define GEMM(symbol, kind, type)                                                                \
    void symbol(char ta, char tb, int64_t m, int64_t n, int64_t k, type alpha, const type *a,   \
                int64_t lda, const type *b, int64_t ldb, type beta, type *c, int64_t ldc)       \
    {                                                                                           \
        gemm(kind, ta, tb, (const int64_t[3]){m, n, k}, &alpha, a, lda, b, ldb, &beta, c, ldc); \
    }
GEMM(td_blas_sgemm, SINGLE, float)
GEMM(td_blas_dgemm, DOUBLE, double)
GEMM(td_blas_cgemm, COMPLEX_SINGLE, float complex)
GEMM(td_blas_zgemm, COMPLEX_DOUBLE, double complex)
