/* program.c - the functions that are loaded, found by what they compute. */
#include "cuda/program.h"
#include "cuda/graph.h"
#include "cuda/lost.h"
#include "runtime/streams.h"
#include "cuda/pool.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

td_status (*td_cuda_compile)(const td_cuda_program *want, int arch, bool anew, void **image,
                             char **symbol);

typedef struct loaded {
    struct loaded *next;
    td_cuda_program program;
    int ordinal;
    void *function;
} loaded;

#define BUCKETS 1024
static loaded *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned bucket_of(const td_cuda_program *w, int ordinal)
{
    uint64_t h = (uint64_t)(uintptr_t)w->name ^ (uint64_t)(uintptr_t)w->how << 7 ^
                 (uint64_t)(uintptr_t)w->kind << 3 ^ (uint64_t)w->dtype << 16 ^
                 (uint64_t)w->from << 24 ^ (uint64_t)ordinal;
    return (unsigned)(h * 0x9e3779b97f4a7c15ull >> 40) % BUCKETS;
}

static bool alike(const td_cuda_program *a, const td_cuda_program *b)
{
    return a->name == b->name && a->kind == b->kind && a->how == b->how && a->dtype == b->dtype &&
           a->from == b->from;
}

/* Entries are only added, at the front: readers need no lock. */
static void *find(const td_cuda_program *w, int ordinal)
{
    loaded *at = __atomic_load_n(&buckets[bucket_of(w, ordinal)], __ATOMIC_ACQUIRE);
    for (; at; at = at->next)
        if (at->ordinal == ordinal && alike(&at->program, w)) return at->function;
    return NULL;
}

static td_status add(const td_cuda_program *w, int ordinal, void *function)
{
    loaded *made = malloc(sizeof *made);
    if (!made) return td_fail(TD_MEMORY_ERROR, "no memory to keep a loaded kernel");
    pthread_mutex_lock(&lock);
    loaded **first = &buckets[bucket_of(w, ordinal)];
    *made = (loaded){*first, *w, ordinal, function};
    __atomic_store_n(first, made, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return TD_OK;
}

static int load_image(const void *image, const char *symbol, int ordinal, void **function)
{
    void *module;
    int mode = td_cuda_relax();
    int code = td_cu.cuModuleLoadData(&module, image);
    if (code == TD_CUDA_NO_MEMORY) {
        td_cuda_relieve(ordinal);
        code = td_cu.cuModuleLoadData(&module, image);
    }
    td_cuda_strict(mode);
    return code ? code : td_cu.cuModuleGetFunction(function, module, symbol);
}

/* Is it the image that the driver does not take? */
static bool is_of_image(int code)
{
    return code == TD_CUDA_BAD_IMAGE || code == TD_CUDA_NO_BINARY || code == TD_CUDA_BAD_PTX ||
           code == TD_CUDA_NEWER_PTX;
}

static td_status load_once(const td_cuda_program *w, int ordinal, bool anew, int *code,
                           void **function)
{
    void *image = NULL;
    char *symbol = NULL;
    TD_TRY(td_cuda_compile(w, td_cuda_arch(ordinal), anew, &image, &symbol));
    *code = load_image(image, symbol, ordinal, function);
    free(image);
    free(symbol);
    return TD_OK;
}

/* Compiling asks Python, so nothing is locked meanwhile: two threads may load the same program, and
 * then either serves. An image that was kept may be of a compiler that this driver does not know.
 */
static td_status load(const td_cuda_program *w, int ordinal, void **function)
{
    int code;
    if (td_cuda_capturing(ordinal))
        TD_TRY(td_cuda_not_captured(ordinal, "compiling a kernel that was not used before"));
    TD_TRY(load_once(w, ordinal, false, &code, function));
    if (is_of_image(code)) TD_TRY(load_once(w, ordinal, true, &code, function));
    TD_CU(code, is_of_image(code) ? "loading a kernel that was compiled just now (is NVRTC newer "
                                    "than the driver? TAEDA_LIBNVRTC names another)"
                                  : "loading a kernel");
    return add(w, ordinal, *function);
}

td_status td_cuda_function(const td_cuda_program *want, int ordinal, void **function)
{
    *function = find(want, ordinal);
    return *function ? TD_OK : load(want, ordinal, function);
}

#define BLOCK 256
#define MOST_BLOCKS 4096 /* of one launch: some 30 for each multiprocessor of a large card */

td_status td_cuda_launch(void *function, int ordinal, int64_t threads, void *argument,
                         const char *doing)
{
    int64_t blocks = (threads + BLOCK - 1) / BLOCK;
    return td_cuda_launch_blocks(function, ordinal, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS,
                                 BLOCK, argument, doing);
}

static int launch(void *function, int64_t blocks, int threads, void *stream, void **argument)
{
    return td_cu.cuLaunchKernel(function, (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, 0,
                                stream, argument, NULL);
}

td_status td_cuda_launch_blocks(void *function, int ordinal, int64_t blocks, int threads,
                                void *argument, const char *doing)
{
    void *stream = td_cuda_stream(ordinal);
    int code = launch(function, blocks, threads, stream, &argument);
    if (code == TD_CUDA_NO_MEMORY) { /* for local memory of many threads */
        td_cuda_relieve(ordinal);
        code = launch(function, blocks, threads, stream, &argument);
    }
    if (!code && td_cuda_blocking() && !td_cuda_capturing(ordinal)) {
        code = td_cu.cuStreamSynchronize(stream);
        td_order_tell(TD_ORDER_STREAM_DONE, ordinal, stream, NULL, 0);
    }
    if (!code) {
        td_cuda_launched(doing);
        return TD_OK;
    }
    char what[160];
    snprintf(what, sizeof what, "launching \"%.100s\"", doing);
    return td_cuda_failed(code, what);
}

/* ---- works of families ---- */

static td_status function_of(const td_cuda_work *w, int ordinal, void **function)
{
    td_cuda_program want = {w->kind, w->how, w->name, w->dtype, w->dtype};
    return td_cuda_function(&want, ordinal, function);
}

td_status td_cuda_threads(const td_cuda_work *w, int ordinal, int64_t n, void *call)
{
    void *function;
    if (n == 0) return TD_OK;
    TD_TRY(function_of(w, ordinal, &function));
    return td_cuda_launch(function, ordinal, n, call, w->name);
}

#define UNIT_BLOCK 64
#define MOST_UNITS 65535

td_status td_cuda_blocks(const td_cuda_work *w, int ordinal, int64_t n, void *call)
{
    void *function;
    if (n == 0) return TD_OK;
    TD_TRY(function_of(w, ordinal, &function));
    return td_cuda_launch_blocks(function, ordinal, n < MOST_UNITS ? n : MOST_UNITS, UNIT_BLOCK,
                                 call, w->name);
}
