/* graph.c - captures, and graphs that are replayed.
 *
 * Tensors that are made during a capture lie in a pool of the graph's own, so their addresses stay
 * what the graph holds. Random numbers: a captured kernel reads the seed and its first block from
 * the device; a replay takes as many blocks from the generator as the capture did, and sends where
 * they begin. So replays draw what the same calls would have drawn. */
#include "cuda/graph.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda/fault.h"
#include "cuda/graph_memory.h"
#include "cuda/lost.h"
#include "cuda/pool_history.h"
#include "runtime/random.h"
#include "runtime/streams.h"

struct td_cuda_graph {
    td_cuda_graph *next; /* of those that are captured */
    void *stream, *graph, *exec, *block;
    td_cuda_private *pool;
    uint64_t *state; /* on the device: seed, first block */
    uint64_t seed, start, blocks;
    td_cuda_held held; /* what it works on beside the pool */
    pthread_t thread;  /* that began it */
    int ordinal, mode;
    bool draws;
};
#define STATE_BYTES 16

static td_cuda_graph *capturing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

td_cuda_graph *td_cuda_capturing_on(int ordinal)
{
    void *stream = td_cuda_stream(ordinal);
    int status = 0;
    pthread_mutex_lock(&lock);
    td_cuda_graph *g = capturing;
    while (g && (g->ordinal != ordinal || g->stream != stream)) g = g->next;
    /* a stream that waited for one that is captured belongs to it */
    if (!g && stream && capturing && !td_cu.cuStreamIsCapturing(stream, &status) && status)
        for (g = capturing; g && g->ordinal != ordinal;) g = g->next;
    pthread_mutex_unlock(&lock);
    return g;
}

/* Does a capture forbid the thread what may wait or make others wait, also beside its stream? */
static bool is_forbidden_beside(void)
{
    pthread_mutex_lock(&lock);
    const td_cuda_graph *g = capturing;
    while (g && (g->mode == TD_CUDA_RELAXED ||
                 (g->mode == TD_CUDA_OF_THREAD && !pthread_equal(g->thread, pthread_self()))))
        g = g->next;
    pthread_mutex_unlock(&lock);
    return g != NULL;
}

td_status td_cuda_not_captured(int ordinal, const char *doing)
{
    char place[TD_CUDA_PLACE_TEXT] = "";
    if (!__atomic_load_n(&td_cuda_captures, __ATOMIC_RELAXED)) return TD_OK;
    bool inside = td_cuda_capturing_on(ordinal) != NULL;
    if (!inside && !is_forbidden_beside()) return TD_OK;
    if (td_cuda_fault_place) td_cuda_fault_place(place);
    return td_fail(TD_RUNTIME_ERROR, "a CUDA graph is being captured, %s: %s%s%s%s%s. %s",
                   inside ? "which cannot hold this"
                          : "whose capture_error_mode forbids this beside it",
                   doing, td_running ? " in " : "", td_running ? td_running : "",
                   place[0] ? ", called at " : "", place,
                   inside ? "Do it before the capture or after a replay"
                          : "Do it before the capture or after it; \"thread_local\" leaves other "
                            "threads alone, \"relaxed\" all");
}

static void keep(int ordinal, td_storage *s)
{
    td_cuda_graph *g = td_cuda_capturing(ordinal);
    bool here = td_device_type((td_device)s->device) == TD_CUDA;
    /* of the host: memory that somebody locked or lent, but no numbers that went along by value */
    if (g && (here ? !td_cuda_private_owns(g->pool, s) : s->release != NULL))
        td_cuda_held_add(&g->held, s);
}

static void remember(td_cuda_graph *g)
{
    pthread_mutex_lock(&lock);
    g->next = capturing;
    capturing = g;
    __atomic_add_fetch(&td_cuda_captures, 1, __ATOMIC_RELAXED);
    td_recorded = keep;
    pthread_mutex_unlock(&lock);
}

static void forget(td_cuda_graph *g)
{
    pthread_mutex_lock(&lock);
    for (td_cuda_graph **at = &capturing; *at; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            __atomic_sub_fetch(&td_cuda_captures, 1, __ATOMIC_RELAXED);
            if (!capturing) td_recorded = NULL;
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* From the graph's pool: nobody else is given its place while the graph lives. */
static td_status make_state(td_cuda_graph *g)
{
    td_cuda_private *before;
    TD_TRY(td_cuda_private_enter(g->ordinal, g->pool, &before));
    td_status status = td_cuda_alloc((char **)&g->state, STATE_BYTES,
                                     td_device_of(TD_CUDA, g->ordinal), &g->block);
    td_cuda_private *own;
    td_status left = td_cuda_private_enter(g->ordinal, before, &own);
    return status ? status : left;
}

td_status td_cuda_graph_begin(td_cuda_graph **out, int ordinal, td_cuda_private *pool, int mode)
{
    TD_TRY(td_cuda_use(ordinal));
    void *stream = td_cuda_stream(ordinal);
    if (!stream)
        return td_fail(TD_RUNTIME_ERROR, "CUDA graphs must be captured on a non-default stream: "
                                         "enter taeda.cuda.graph, or a taeda.cuda.Stream first");
    if (td_cuda_capturing(ordinal))
        return td_fail(TD_RUNTIME_ERROR, "the current stream is being captured already");
    td_cuda_graph *g = calloc(1, sizeof *g);
    if (!g) return td_fail(TD_MEMORY_ERROR, "no memory for a CUDA graph");
    *g = (td_cuda_graph){.stream = stream,
                         .thread = pthread_self(),
                         .ordinal = ordinal,
                         .mode = mode,
                         .pool = pool,
                         .seed = td_default_generator.seed,
                         .start = td_default_generator.offset};
    td_status status = make_state(g);
    int code = status ? 0 : td_cu.cuStreamBeginCapture_v2(stream, mode);
    if (code) status = td_cuda_failed(code, "beginning to capture a CUDA graph");
    if (status != TD_OK) return td_cuda_graph_free(g), status;
    remember(g);
    *out = g;
    return TD_OK;
}

td_status td_cuda_graph_end(td_cuda_graph *g)
{
    TD_TRY(td_cuda_use(g->ordinal));
    forget(g);
    int code = td_cu.cuStreamEndCapture(g->stream, &g->graph);
    /* nothing was drawn yet: replays do */
    if (td_default_generator.seed == g->seed && td_default_generator.offset >= g->start) {
        g->blocks = td_default_generator.offset - g->start;
        td_default_generator.offset = g->start;
    }
    TD_CU(code, "ending it");
    return g->held.lost ? td_fail(TD_MEMORY_ERROR, "no memory to note what a CUDA graph works on")
                        : TD_OK;
}

td_status td_cuda_graph_make(td_cuda_graph *g)
{
    TD_TRY(td_cuda_use(g->ordinal));
    if (!g->graph) return td_fail(TD_RUNTIME_ERROR, "a CUDA graph without a finished capture");
    if (g->exec) return TD_OK;
    int code = td_cu.cuGraphInstantiateWithFlags(&g->exec, g->graph, 0);
    if (code == TD_CUDA_NO_MEMORY) {
        td_cuda_relieve(g->ordinal);
        code = td_cu.cuGraphInstantiateWithFlags(&g->exec, g->graph, 0);
    }
    TD_CU(code, "making a CUDA graph ready");
    return TD_OK;
}

static td_status send_state(td_cuda_graph *g)
{
    if (!g->draws) return TD_OK;
    uint64_t state[2] = {td_default_generator.seed,
                         td_generator_take(&td_default_generator, g->blocks)};
    return td_cuda_transfer((char *)g->state, td_device_of(TD_CUDA, g->ordinal), (char *)state,
                            TD_CPU, STATE_BYTES, false);
}

td_status td_cuda_graph_replay(td_cuda_graph *g, void *stream)
{
    TD_TRY(td_cuda_graph_make(g));
    TD_TRY(td_cuda_held_check(&g->held));
    TD_TRY(send_state(g));
    td_cuda_launched("a CUDA graph");
    int code = td_cu.cuGraphLaunch(g->exec, stream);
    if (code == TD_CUDA_NO_MEMORY) {
        td_cuda_relieve(g->ordinal);
        code = td_cu.cuGraphLaunch(g->exec, stream);
    }
    TD_CU(code, "replaying a CUDA graph");
    return td_cuda_blocking() ? td_cuda_synchronize(td_device_of(TD_CUDA, g->ordinal)) : TD_OK;
}

td_status td_cuda_graph_dump(const td_cuda_graph *g, const char *path)
{
    TD_TRY(td_cuda_use(g->ordinal));
    if (!g->graph) return td_fail(TD_RUNTIME_ERROR, "a CUDA graph without a finished capture");
    TD_CU(td_cu.cuGraphDebugDotPrint(g->graph, path, 0), "describing a CUDA graph in a file");
    return TD_OK;
}

void *td_cuda_graph_raw(const td_cuda_graph *g) { return g->graph; }
td_cuda_private *td_cuda_graph_pool(const td_cuda_graph *g) { return g->pool; }

void td_cuda_graph_free(td_cuda_graph *g)
{
    void *left = NULL;
    forget(g);
    if (!td_cuda_forked() && td_cuda_use(g->ordinal) == TD_OK) {
        int status = 0;
        bool open = !g->graph && !td_cu.cuStreamIsCapturing(g->stream, &status) && status;
        if (open && !td_cu.cuStreamEndCapture(g->stream, &left) && left) td_cu.cuGraphDestroy(left);
        if (g->exec) td_cu.cuGraphExecDestroy(g->exec);
        if (g->graph) td_cu.cuGraphDestroy(g->graph);
        if (g->block) td_cuda_release(g->block, (char *)g->state, STATE_BYTES);
    }
    td_cuda_held_drop(&g->held);
    free(g);
}

td_status td_cuda_graph_random(td_cuda_graph *g, uint64_t seed, uint64_t block, const void **state,
                               uint64_t *from)
{
    if (seed != g->seed || block < g->start)
        return td_fail(
            TD_RUNTIME_ERROR,
            "a CUDA graph is being captured, and %s draws from another generator than the default "
            "one, or from a state that was set since: graphs draw from the default generator alone",
            td_running ? td_running : "an operator");
    g->draws = true;
    *state = g->state;
    *from = block - g->start;
    return TD_OK;
}
