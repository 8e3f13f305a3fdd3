/* libcublaslt_null.c - a stand-in for libcublasLt.so and for what cuBLAS has of handles, on the
 * stand-in driver; TAEDA_LIBCUBLASLT and TAEDA_LIBCUBLAS name it.
 *
 * Every argument is looked at: handles, types that go together, ranges of matrices in device
 * memory, alignment, workspace. What no correct caller does ends the process with a sentence.
 * Products are computed on the host when the stream gets to them, in the order in which our own
 * kernels add, so both have the same bits; with TF32 the factors lose bits first. Settings:
 *
 *   TAEDA_NULL_LT_REFUSE=bias   the heuristic has no answer for products with a bias;
 *                        all    for none; product: the product itself is declined
 *   TAEDA_NULL_LT_START=1       no handle can be made: this status
 *
 * The n-th call of an entry point fails by the driver's TAEDA_NULL_FAIL and td_null_fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#define ENTRY PUBLIC int
enum { OK, NOT_STARTED, NO_MEMORY = 3, INVALID = 7, FAILED = 13, UNSUPPORTED = 15 };
enum { HANDLE = 0x11, DESC, LAYOUT, WISH };
enum { R32, R64, R16, C32 = 4, C64, BF16 = 14 };

static struct {
    int (*checked)(const char *name);
    int (*current)(void);
    int (*holds)(const void *address, size_t bytes);
    int (*submit)(void (*call)(void *), const void *argument, size_t bytes, void *stream);
} driver;

/* ---- what was seen ---- */
enum { COUNTS = 8 };
static const char *const names[COUNTS] = {"products", "plans",  "tf32",    "bias",
                                          "turned",   "narrow", "batches", "live"};
static long seen[COUNTS];
enum { PRODUCTS, PLANS, TF32, BIAS, TURNED, NARROW, BATCHES, LIVE };

static void note(int what, long n) { __atomic_fetch_add(&seen[what], n, __ATOMIC_RELAXED); }
/* "products" that were queued, "plans" that were asked for; of the products those with "tf32",
 * "bias", factors "turned", matrices in "batches"; plans that allow no short sums: "narrow";
 * descriptors and layouts that are "live" */
PUBLIC long td_null_lt(const char *what)
{
    for (int k = 0; k < COUNTS; k++)
        if (!strcmp(what, names[k])) return seen[k];
    return -1;
}

#define WANT(condition, ...)                                      \
    do {                                                          \
        if (!(condition)) {                                       \
            fprintf(stderr, "stand-in cuBLASLt, %s: ", __func__); \
            fprintf(stderr, __VA_ARGS__);                         \
            fputc('\n', stderr);                                  \
            abort();                                              \
        }                                                         \
    } while (0)

/* Is this call to fail? A lost device fails whatever works on it. */
#define CHECK                                            \
    do {                                                 \
        int code_ = driver.checked(__func__);            \
        if (code_) return code_ >= 700 ? FAILED : code_; \
    } while (0)

static int asked_to(const char *setting, const char *word)
{
    const char *value = getenv(setting);
    return value && !strcmp(value, word);
}

/* ---- handles ---- */
typedef struct handle {
    int kind, device;
    void *stream;
} handle;

static int connect(void)
{
    const char *path = getenv("TAEDA_LIBCUDA");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!library) return NOT_STARTED;
    *(void **)&driver.checked = dlsym(library, "td_null_checked");
    *(void **)&driver.current = dlsym(library, "td_null_current");
    *(void **)&driver.holds = dlsym(library, "td_null_holds");
    *(void **)&driver.submit = dlsym(library, "td_null_submit");
    return driver.submit ? OK : NOT_STARTED;
}

static int start(void **made, const char *name)
{
    const char *status = getenv("TAEDA_NULL_LT_START");
    int code = connect();
    if (!code && status) code = atoi(status);
    if (!code) code = driver.checked(name);
    if (code) return code >= 700 ? FAILED : code;
    if (driver.current() < 0) return NOT_STARTED;
    handle *h = malloc(sizeof *h);
    *h = (handle){HANDLE, driver.current(), NULL};
    return *made = h, OK;
}
ENTRY cublasLtCreate(void **made) { return start(made, __func__); }
ENTRY cublasCreate_v2(void **made) { return start(made, __func__); }
ENTRY cublasSetStream_v2(handle *h, void *stream)
{
    CHECK;
    WANT(h && h->kind == HANDLE && h->device == driver.current(), "a handle of another device");
    return h->stream = stream, OK;
}
/* The stream that a handle of cuBLAS works on. */
PUBLIC void *td_null_handle_stream(const handle *h) { return h->stream; }

PUBLIC size_t cublasLtGetVersion(void) { return 120903; }
PUBLIC const char *cublasLtGetStatusName(int status)
{
    return status == OK            ? "CUBLAS_STATUS_SUCCESS"
           : status == NOT_STARTED ? "CUBLAS_STATUS_NOT_INITIALIZED"
           : status == NO_MEMORY   ? "CUBLAS_STATUS_ALLOC_FAILED"
           : status == INVALID     ? "CUBLAS_STATUS_INVALID_VALUE"
           : status == FAILED      ? "CUBLAS_STATUS_EXECUTION_FAILED"
           : status == UNSUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                   : "unknown";
}

/* ---- descriptors ---- */
typedef struct desc {
    int kind, compute, scale, turn_a, turn_b, epilogue;
    const char *bias;
} desc;
typedef struct layout {
    int kind, type;
    int64_t rows, columns, leading, step;
    int32_t batch;
} layout;
typedef struct wish {
    int kind;
    uint64_t workspace;
    uint32_t joins, aligned[4];
} wish;

static void *new_of(size_t bytes, int kind)
{
    int *made = calloc(1, bytes);
    note(LIVE, 1);
    return *made = kind, made;
}
static int destroyed(int *what, int kind)
{
    WANT(what && *what == kind, "what is destroyed is something else");
    *what = 0;
    note(LIVE, -1);
    return free(what), OK;
}

/* types of data, of alpha and beta, and of sums, that go together */
static int fit(int type, int scale, int compute)
{
    if (type == R64 || type == C64) return scale == type && compute == 70;
    if (compute != 68 && compute != 77) return 0;
    if (type == R16 || type == BF16) return scale == R32 && compute == 68;
    return (type == R32 || type == C32) && scale == type;
}

ENTRY cublasLtMatmulDescCreate(desc **made, int compute, int scale)
{
    CHECK;
    desc *d = new_of(sizeof *d, DESC);
    d->compute = compute;
    d->scale = scale;
    d->epilogue = 1;
    return *made = d, OK;
}
ENTRY cublasLtMatmulDescSetAttribute(desc *d, int what, const void *value, size_t bytes)
{
    CHECK;
    WANT(d->kind == DESC, "no description of a product");
    WANT(bytes == (what == 8 ? 8u : 4u), "attribute %d has %zu bytes", what, bytes);
    if (what == 3) memcpy(&d->turn_a, value, bytes);
    else if (what == 4) memcpy(&d->turn_b, value, bytes);
    else if (what == 7) memcpy(&d->epilogue, value, bytes);
    else if (what == 8) memcpy(&d->bias, value, bytes);
    else WANT(0, "attribute %d is not known here", what);
    return OK;
}
ENTRY cublasLtMatmulDescDestroy(desc *d) { return destroyed(&d->kind, DESC); }

ENTRY cublasLtMatrixLayoutCreate(layout **made, int type, uint64_t rows, uint64_t columns,
                                 int64_t leading)
{
    CHECK;
    WANT(rows && columns && rows <= INT32_MAX && columns <= INT32_MAX, "%lu x %lu elements",
         (unsigned long)rows, (unsigned long)columns);
    WANT(leading >= (int64_t)rows && leading <= INT32_MAX, "columns of %lu are %ld apart",
         (unsigned long)rows, (long)leading);
    layout *l = new_of(sizeof *l, LAYOUT);
    *l = (layout){LAYOUT, type, (int64_t)rows, (int64_t)columns, leading, 0, 1};
    return *made = l, OK;
}
ENTRY cublasLtMatrixLayoutSetAttribute(layout *l, int what, const void *value, size_t bytes)
{
    CHECK;
    WANT(l->kind == LAYOUT, "no layout");
    WANT(bytes == (what == 6 ? 8u : 4u), "attribute %d has %zu bytes", what, bytes);
    if (what == 5) memcpy(&l->batch, value, bytes);
    else if (what == 6) memcpy(&l->step, value, bytes);
    else WANT(0, "attribute %d is not known here", what);
    WANT(l->batch > 0 && l->step >= 0, "a batch of %d with steps of %ld", l->batch, (long)l->step);
    return OK;
}
ENTRY cublasLtMatrixLayoutDestroy(layout *l) { return destroyed(&l->kind, LAYOUT); }

ENTRY cublasLtMatmulPreferenceCreate(wish **made)
{
    CHECK;
    wish *w = new_of(sizeof *w, WISH);
    w->joins = 7;
    for (int k = 0; k < 4; k++) w->aligned[k] = 256;
    return *made = w, OK;
}
ENTRY cublasLtMatmulPreferenceSetAttribute(wish *w, int what, const void *value, size_t bytes)
{
    CHECK;
    WANT(w->kind == WISH, "no preference");
    WANT(bytes == (what == 1 ? 8u : 4u), "attribute %d has %zu bytes", what, bytes);
    if (what == 1) memcpy(&w->workspace, value, bytes);
    else if (what == 3) memcpy(&w->joins, value, bytes);
    else if (what >= 5 && what <= 8) memcpy(&w->aligned[what - 5], value, bytes);
    else WANT(0, "attribute %d is not known here", what);
    return OK;
}
ENTRY cublasLtMatmulPreferenceDestroy(wish *w) { return destroyed(&w->kind, WISH); }

/* ---- choosing ---- */
typedef struct algo {
    uint64_t kind, workspace, aligned[4], bias_aligned, digest;
} algo;
typedef struct choice {
    algo algo;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} choice;

static size_t size_of(int type)
{
    return type == C64 ? 16 : type == R64 || type == C32 ? 8 : type == R16 || type == BF16 ? 2 : 4;
}

static uint64_t digest_of(const desc *d, const layout *a, const layout *b, const layout *c)
{
    int64_t parts[] = {d->compute, d->turn_a,  d->turn_b, d->epilogue, a->rows,
                       a->columns, a->leading, a->step,   a->batch,    b->rows,
                       b->columns, b->leading, b->step,   c->rows,     c->columns,
                       c->leading, c->step,    a->type,   c->type};
    uint64_t h = 1;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        h = (h ^ (uint64_t)parts[k]) * 0x100000001b3u;
    return h;
}

/* Do the matrices make a product? Gives m, n and k of D as it is stored. */
static void check_shapes(const desc *d, const layout *a, const layout *b, const layout *c,
                         int64_t sizes[3])
{
    int64_t m = d->turn_a ? a->columns : a->rows, k = d->turn_a ? a->rows : a->columns;
    int64_t deep = d->turn_b ? b->columns : b->rows, n = d->turn_b ? b->rows : b->columns;
    WANT(d->kind == DESC && a->kind == LAYOUT && b->kind == LAYOUT && c->kind == LAYOUT, "handles");
    WANT(k == deep && m == c->rows && n == c->columns, "%ldx%ld by %ldx%ld for %ldx%ld", (long)m,
         (long)k, (long)deep, (long)n, (long)c->rows, (long)c->columns);
    int wide = (a->type == R16 || a->type == BF16) && c->type == R32;
    WANT(a->type == b->type && (b->type == c->type || wide) && fit(a->type, d->scale, d->compute),
         "types %d %d %d with sums %d and numbers %d", a->type, b->type, c->type, d->compute,
         d->scale);
    WANT(a->batch == b->batch && b->batch == c->batch, "batches of %d %d %d", a->batch, b->batch,
         c->batch);
    int behind = c->step >= c->leading * (c->columns - 1) + c->rows;
    int between = c->step >= c->rows && c->step * (c->batch - 1) + c->rows <= c->leading;
    WANT(c->batch == 1 || behind || between, "results overlap");
    WANT(d->epilogue == 1 || (d->epilogue == 4 && d->bias), "epilogue %d", d->epilogue);
    sizes[0] = m, sizes[1] = n, sizes[2] = k;
}

ENTRY cublasLtMatmulAlgoGetHeuristic(handle *h, desc *d, layout *a, layout *b, layout *c,
                                     layout *result, wish *w, int wanted, choice *choices,
                                     int *found)
{
    CHECK;
    int64_t sizes[3];
    WANT(h->kind == HANDLE && w->kind == WISH && wanted >= 1 && c == result, "arguments");
    check_shapes(d, a, b, c, sizes);
    note(PLANS, 1);
    note(NARROW, w->joins == 2);
    if (asked_to("TAEDA_NULL_LT_REFUSE", "all") ||
        (d->epilogue != 1 && asked_to("TAEDA_NULL_LT_REFUSE", "bias")))
        return *found = 0, UNSUPPORTED;
    algo chosen = {.kind = 0x77, .digest = digest_of(d, a, b, c)};
    chosen.workspace = sizes[2] >= 16 ? 1024 * (uint64_t)(sizes[2] / 16) : 0;
    if (chosen.workspace > w->workspace) chosen.workspace = w->workspace;
    for (int k = 0; k < 4; k++) {
        WANT(w->aligned[k] && !(w->aligned[k] & (w->aligned[k] - 1)), "aligned to %u",
             w->aligned[k]);
        chosen.aligned[k] = w->aligned[k];
    }
    uint64_t bias = (uint64_t)(uintptr_t)d->bias | 256;
    chosen.bias_aligned = bias & (~bias + 1);
    choices[0] = (choice){.algo = chosen, .workspace = chosen.workspace, .state = OK};
    return *found = 1, OK;
}

/* ---- computing ---- */
typedef struct job {
    desc d;
    layout a, b, c;
    int64_t sizes[3];
    const char *from_a, *from_b;
    char *to;
    double alpha[2], beta[2];
} job;

static float short_load(int type, const char *at)
{
    uint16_t bits;
    uint32_t wide;
    float made;
    memcpy(&bits, at, 2);
    if (type == R16) {
        _Float16 half;
        memcpy(&half, at, 2);
        return (float)half;
    }
    wide = (uint32_t)bits << 16;
    return memcpy(&made, &wide, 4), made;
}
static void short_store(int type, char *at, float value)
{
    uint32_t wide;
    _Float16 half = (_Float16)value;
    if (type == R16) {
        memcpy(at, &half, 2);
        return;
    }
    memcpy(&wide, &value, 4);
    uint16_t bits = (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
    if (isnan(value)) bits = 0x7fff;
    memcpy(at, &bits, 2);
}
/* 10 bits of the fraction stay */
static float tf32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (isfinite(value)) bits = (bits + 0x0fff + (bits >> 13 & 1)) & ~0x1fffu;
    return memcpy(&value, &bits, 4), value;
}
static float single(int type, const char *at)
{
    float value;
    if (type == R16 || type == BF16) return short_load(type, at);
    memcpy(&value, at, 4);
    return value;
}
static const char *element(const char *data, const layout *l, int turned, int64_t i, int64_t k)
{
    int64_t row = turned ? k : i, column = turned ? i : k;
    return data + (row + column * l->leading) * (int64_t)size_of(l->type);
}

/* D[i, l] of a real type that is summed in float32 */
static void one_single(const job *j, const char *a, const char *b, char *to, int64_t i, int64_t l)
{
    float sum = 0, x, y;
    int rounds = j->d.compute == 77;
    for (int64_t k = 0; k < j->sizes[2]; k++) {
        x = single(j->a.type, element(a, &j->a, j->d.turn_a, i, k));
        y = single(j->b.type, element(b, &j->b, j->d.turn_b, k, l));
        if (rounds) x = tf32(x), y = tf32(y);
        sum = fmaf(y, x, sum);
    }
    if (j->alpha[0] != 1) sum = (float)j->alpha[0] * sum;
    if (j->beta[0] != 0) sum += (float)j->beta[0] * single(j->c.type, to);
    if (j->d.epilogue == 4) sum += single(j->c.type, j->d.bias + i * (int64_t)size_of(j->c.type));
    if (j->c.type == R32) memcpy(to, &sum, 4);
    else short_store(j->c.type, to, sum);
}
static void one_double(const job *j, const char *a, const char *b, char *to, int64_t i, int64_t l)
{
    double sum = 0, x, y;
    for (int64_t k = 0; k < j->sizes[2]; k++) {
        memcpy(&x, element(a, &j->a, j->d.turn_a, i, k), 8);
        memcpy(&y, element(b, &j->b, j->d.turn_b, k, l), 8);
        sum = fma(y, x, sum);
    }
    if (j->alpha[0] != 1) sum = j->alpha[0] * sum;
    memcpy(&x, to, 8);
    if (j->beta[0] != 0) sum += j->beta[0] * x;
    memcpy(&y, j->d.epilogue == 4 ? j->d.bias + i * 8 : to, 8);
    if (j->d.epilogue == 4) sum += y;
    memcpy(to, &sum, 8);
}
#define COMPLEX(name, real)                                                                      \
    static void name(const job *j, const char *a, const char *b, char *to, int64_t i, int64_t l) \
    {                                                                                            \
        real sum[2] = {0, 0}, x[2], y[2], alpha[2] = {(real)j->alpha[0], (real)j->alpha[1]};     \
        real beta[2] = {(real)j->beta[0], (real)j->beta[1]};                                     \
        for (int64_t k = 0; k < j->sizes[2]; k++) {                                              \
            memcpy(x, element(b, &j->b, j->d.turn_b, k, l), sizeof x);                           \
            memcpy(y, element(a, &j->a, j->d.turn_a, i, k), sizeof y);                           \
            sum[0] += x[0] * y[0] - x[1] * y[1];                                                 \
            sum[1] += x[0] * y[1] + x[1] * y[0];                                                 \
        }                                                                                        \
        if (alpha[0] != 1 || alpha[1] != 0) {                                                    \
            real re = alpha[0] * sum[0] - alpha[1] * sum[1];                                     \
            sum[1] = alpha[0] * sum[1] + alpha[1] * sum[0];                                      \
            sum[0] = re;                                                                         \
        }                                                                                        \
        memcpy(x, to, sizeof x);                                                                 \
        if (beta[0] != 0 || beta[1] != 0) {                                                      \
            sum[0] += beta[0] * x[0] - beta[1] * x[1];                                           \
            sum[1] += beta[0] * x[1] + beta[1] * x[0];                                           \
        }                                                                                        \
        memcpy(to, sum, sizeof sum);                                                             \
    }
COMPLEX(one_complex, float)
COMPLEX(one_complex_double, double)

static void compute(void *argument)
{
    const job *j = argument;
    int64_t item = (int64_t)size_of(j->c.type), from = (int64_t)size_of(j->a.type);
    void (*one)(const job *, const char *, const char *, char *, int64_t, int64_t) =
        j->c.type == R64   ? one_double
        : j->c.type == C32 ? one_complex
        : j->c.type == C64 ? one_complex_double
                           : one_single;
    for (int64_t n = 0; n < j->c.batch; n++)
        for (int64_t l = 0; l < j->sizes[1]; l++)
            for (int64_t i = 0; i < j->sizes[0]; i++)
                one(j, j->from_a + n * j->a.step * from, j->from_b + n * j->b.step * from,
                    j->to + (n * j->c.step + i + l * j->c.leading) * item, i, l);
}

static void check_range(const char *what, const void *at, const layout *l, uint64_t aligned)
{
    int64_t elements = (l->batch - 1) * l->step + (l->columns - 1) * l->leading + l->rows;
    WANT((uintptr_t)at % aligned == 0, "%s at %p is not aligned to %lu as was told", what, at,
         (unsigned long)aligned);
    WANT(driver.holds(at, (size_t)elements * size_of(l->type)),
         "%s: %ld elements at %p are not in the device's memory", what, (long)elements, at);
}

ENTRY cublasLtMatmul(handle *h, desc *d, const void *alpha, const void *a, layout *la,
                     const void *b, layout *lb, const void *beta, const void *c, layout *lc,
                     void *to, layout *ld, const algo *chosen, void *workspace, size_t bytes,
                     void *stream)
{
    CHECK;
    job j = {.d = *d, .a = *la, .b = *lb, .c = *ld, .from_a = a, .from_b = b, .to = to};
    WANT(h->kind == HANDLE && h->device == driver.current(), "a handle of another device");
    WANT(c == to && lc == ld, "C and D are not the same");
    check_shapes(d, la, lb, ld, j.sizes);
    if (asked_to("TAEDA_NULL_LT_REFUSE", "product")) return UNSUPPORTED;
    WANT(chosen->kind == 0x77 && chosen->digest == digest_of(d, la, lb, ld),
         "the algorithm is of another product");
    check_range("A", a, la, chosen->aligned[0]);
    check_range("B", b, lb, chosen->aligned[1]);
    check_range("D", to, ld, chosen->aligned[3]);
    WANT(bytes >= chosen->workspace, "a workspace of %zu bytes", bytes);
    WANT(!bytes || ((uintptr_t)workspace % 256 == 0 && driver.holds(workspace, bytes)),
         "the workspace is not in the device's memory");
    layout row = {LAYOUT, ld->type, ld->rows, 1, ld->rows, 0, 1};
    if (d->epilogue == 4) check_range("bias", d->bias, &row, chosen->bias_aligned);
    int doubles = d->scale == R64 || d->scale == C64, parts = d->scale == C32 || d->scale == C64;
    for (int k = 0; k <= parts; k++) {
        j.alpha[k] = doubles ? ((const double *)alpha)[k] : (double)((const float *)alpha)[k];
        j.beta[k] = doubles ? ((const double *)beta)[k] : (double)((const float *)beta)[k];
    }
    note(PRODUCTS, 1);
    note(TF32, d->compute == 77);
    note(BIAS, d->epilogue == 4);
    note(TURNED, d->turn_a + d->turn_b);
    note(BATCHES, ld->batch > 1 ? ld->batch : 0);
    return driver.submit(compute, &j, sizeof j, stream) ? FAILED : OK;
}
