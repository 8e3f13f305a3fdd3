/* product_plan.c - plans and the table that keeps them. */
#include "cuda/product_plan.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- making one ---- */
#define LT(call)                       \
    do {                               \
        int lt_code = (call);          \
        if (lt_code) return (lt_code); \
    } while (0)

static int set_layout(void **made, const td_lt_matrix *m, const td_lt_kind *k, int32_t type)
{
    int32_t count = (int32_t)k->batch;
    LT(td_lt.cublasLtMatrixLayoutCreate(made, type, (uint64_t)m->rows, (uint64_t)m->columns,
                                        m->leading));
    if (count == 1) return 0;
    LT(td_lt.cublasLtMatrixLayoutSetAttribute(*made, TD_LT_BATCH_COUNT, &count, sizeof count));
    return td_lt.cublasLtMatrixLayoutSetAttribute(*made, TD_LT_BATCH_STRIDE, &m->step,
                                                  sizeof m->step);
}

static int set_bias(td_lt_plan *p, const void *bias)
{
    if (!bias) return 0;
    return td_lt.cublasLtMatmulDescSetAttribute(p->desc, TD_LT_BIAS_POINTER, &bias, sizeof bias);
}

static int set_desc(td_lt_plan *p, const void *bias)
{
    const td_lt_kind *k = &p->kind;
    LT(td_lt.cublasLtMatmulDescCreate(&p->desc, k->compute, k->scale));
    LT(td_lt.cublasLtMatmulDescSetAttribute(p->desc, TD_LT_TURN_A, &k->a.turned, sizeof(int32_t)));
    LT(td_lt.cublasLtMatmulDescSetAttribute(p->desc, TD_LT_TURN_B, &k->b.turned, sizeof(int32_t)));
    LT(td_lt.cublasLtMatmulDescSetAttribute(p->desc, TD_LT_EPILOGUE, &k->epilogue,
                                            sizeof(int32_t)));
    return set_bias(p, bias);
}

#define WORKSPACE ((uint64_t)32 << 20)

static int wish_for(void *wish, const td_lt_kind *k)
{
    uint64_t most = WORKSPACE;
    uint32_t joins = (uint32_t)k->reductions;
    /* of A, B, C and D, in the library's order */
    uint32_t aligned[] = {(uint32_t)k->a.aligned, (uint32_t)k->b.aligned, (uint32_t)k->d.aligned,
                          (uint32_t)k->d.aligned};
    LT(td_lt.cublasLtMatmulPreferenceSetAttribute(wish, TD_LT_WISH_WORKSPACE, &most, sizeof most));
    LT(td_lt.cublasLtMatmulPreferenceSetAttribute(wish, TD_LT_WISH_REDUCTIONS, &joins,
                                                  sizeof joins));
    for (int i = 0; i < 4; i++)
        LT(td_lt.cublasLtMatmulPreferenceSetAttribute(wish, TD_LT_WISH_ALIGNMENT + i, &aligned[i],
                                                      sizeof aligned[i]));
    return 0;
}

static int choose(td_lt_plan *p, void *handle, void *wish)
{
    td_lt_choice choice = {.state = TD_LT_UNSUPPORTED};
    int found = 0;
    LT(wish_for(wish, &p->kind));
    LT(td_lt.cublasLtMatmulAlgoGetHeuristic(handle, p->desc, p->a, p->b, p->d, p->d, wish, 1,
                                            &choice, &found));
    if (found < 1) return TD_LT_UNSUPPORTED;
    LT(choice.state);
    p->algo = choice.algo;
    p->workspace = choice.workspace;
    return 0;
}

static int make(td_lt_plan *p, void *handle, const void *bias)
{
    void *wish = NULL;
    LT(set_desc(p, bias));
    LT(set_layout(&p->a, &p->kind.a, &p->kind, p->kind.type));
    LT(set_layout(&p->b, &p->kind.b, &p->kind, p->kind.type));
    LT(set_layout(&p->d, &p->kind.d, &p->kind, p->kind.result));
    LT(td_lt.cublasLtMatmulPreferenceCreate(&wish));
    int code = choose(p, handle, wish);
    td_lt.cublasLtMatmulPreferenceDestroy(wish);
    return code;
}

static void forget(td_lt_plan *p)
{
    if (!p) return;
    void *layouts[] = {p->a, p->b, p->d};
    if (p->desc) td_lt.cublasLtMatmulDescDestroy(p->desc);
    for (int i = 0; i < 3; i++)
        if (layouts[i]) td_lt.cublasLtMatrixLayoutDestroy(layouts[i]);
    free(p);
}

/* ---- keeping them: sets of a few, of which the one that was not used for longest goes ---- */
enum { SETS = 256, WAYS = 4 };
static td_lt_plan *table[SETS][WAYS];
static uint64_t clock_;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static td_lt_plan **set_of(const td_lt_kind *k)
{
    uint64_t words[sizeof *k / sizeof(uint64_t)], h = 0;
    _Static_assert(sizeof *k == sizeof words, "read word by word");
    memcpy(words, k, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        h = ((h ^ words[i]) * 0x9e3779b97f4a7c15u) ^ h >> 29;
    return table[(h >> 40) % SETS];
}

static td_lt_plan *kept(const td_lt_kind *k)
{
    td_lt_plan **set = set_of(k), *found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < WAYS && !found; i++)
        if (set[i] && !set[i]->lent && !memcmp(&set[i]->kind, k, sizeof *k)) found = set[i];
    if (found) found->lent = true, found->used = ++clock_;
    pthread_mutex_unlock(&lock);
    return found;
}

td_lt_plan *td_lt_borrow(const td_lt_kind *kind, void *handle, const void *bias)
{
    td_lt_plan *p = kept(kind);
    if (p) {
        if (!p->refused) p->refused = set_bias(p, bias);
        return p;
    }
    p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->kind = *kind;
    p->lent = true;
    p->refused = make(p, handle, bias);
    return p;
}

/* Only what the library says of such products is worth remembering: not that memory was short. */
static bool lasts(int status) { return !status || td_lt_declines(status); }

/* Where a plan may be put: an empty place, or that of the one not used for longest; NULL if all are
 * lent. */
static td_lt_plan **place_in(td_lt_plan **set)
{
    td_lt_plan **best = NULL;
    for (int i = 0; i < WAYS; i++) {
        if (!set[i]) return &set[i];
        if (!set[i]->lent && (!best || set[i]->used < (*best)->used)) best = &set[i];
    }
    return best;
}

void td_lt_give_back(td_lt_plan *p)
{
    td_lt_plan *goes = NULL, **place = NULL;
    pthread_mutex_lock(&lock);
    p->lent = false;
    if (p->kept) {
        if (!lasts(p->refused)) p->refused = 0;
    } else {
        if (lasts(p->refused)) place = place_in(set_of(&p->kind));
        goes = place ? *place : p;
        if (place) {
            *place = p;
            p->kept = true;
            p->used = ++clock_;
        }
    }
    pthread_mutex_unlock(&lock);
    forget(goes);
}
