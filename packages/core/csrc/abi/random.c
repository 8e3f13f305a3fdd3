/* random.c - random bits for kernels, out of the streams that all operations draw from. */
#include "abi/abi.h"
#include "runtime/random.h"

static td_generator *stream_of(const taeda_value *v)
{
    if (v->kind == TAEDA_KIND_NONE) return &td_default_generator;
    return v->kind == TAEDA_KIND_GENERATOR ? (td_generator *)v->as.generator : NULL;
}

int32_t td_abi_random_reserve(const taeda_value *generator, int64_t blocks, taeda_random *out,
                              taeda_error *error)
{
    int32_t code = td_abi_size("taeda_random", out, sizeof *out, out->size, error);
    if (code) return code;
    td_generator *g = stream_of(generator);
    if (!g)
        return td_abi_error(error, TAEDA_TYPE_ERROR,
                            "random_reserve: wanted a value of kind GENERATOR or NONE, got kind %d",
                            generator->kind);
    if (blocks < 0)
        return td_abi_error(error, TAEDA_VALUE_ERROR, "random_reserve: %lld blocks cannot exist",
                            (long long)blocks);
    if (td_abi_in_loop())
        return td_abi_fail(error, TAEDA_RUNTIME_ERROR,
                           "random_reserve: not inside a body of parallel_for");
    TD_NO_UNWIND_BEGIN
    PyGILState_STATE state = PyGILState_Ensure(); /* a stream is advanced under the lock */
    out->reserved = 0;
    out->seed = g->seed;
    out->offset = td_generator_take(g, (uint64_t)blocks);
    PyGILState_Release(state);
    TD_NO_UNWIND_END
    return 0;
}

void td_abi_random_bits(const taeda_random *random, int64_t first, int64_t count, uint32_t *words)
{
    for (int64_t i = 0; i < count; i++)
        td_philox(random->seed, random->offset + (uint64_t)(first + i), words + 4 * i);
}
