/* wide_run.c - loops of short floats as loops of the dtype in which they compute. */
#include "cpu/pointwise/wide_run.h"
#include "cpu/convert.h"
#include "runtime/cpu.h"

enum {
    BLOCK = 4096 /* bytes */,
    WIDEST = 16 /* bytes of an element */,
    APART = 192 /* so that no two buffers share their low address bits */
};

/* n elements between a short dtype and the one it computes in; complex numbers by halves. */
static inline void convert(const td_convert_kernels *kernels, td_dtype to, char *out, int64_t so,
                           td_dtype from, const char *in, int64_t si, int64_t n)
{
    bool complex = to == TD_C64 || to == TD_C32;
    td_dtype part = complex ? td_to_real(to) : to, source = complex ? td_to_real(from) : from;
    for (int half = 0; half <= complex; half++)
        kernels->real[part][source]((char *const[]){out + half * td_itemsize(part),
                                                    (char *)in + half * td_itemsize(source)},
                                    (int64_t[]){so, si}, n, NULL);
}

/* Where the loop finds operand k from element `done` on: itself, or m of its elements in a buffer;
 * a repeated element is converted once. */
static inline char *operand(const td_convert_kernels *kernels, const td_wide *w, int k,
                            char *buffer, char *const *data, const int64_t *strides, int64_t *steps,
                            int64_t done, int64_t m)
{
    td_dtype own = (td_dtype)w->dtypes[k], wide = td_row_dtype(own);
    char *at = data[k] + done * strides[k];
    steps[k] = strides[k];
    if (wide == own) return at;
    if (strides[k]) steps[k] = td_itemsize(wide);
    if (strides[k] || !done)
        convert(kernels, wide, buffer, td_itemsize(wide), own, at, strides[k], strides[k] ? m : 1);
    return buffer;
}

/* Elements of a block. */
static int64_t block_of(const td_wide *w)
{
    int64_t widest = 1;
    for (int k = 0; k < w->nop; k++) {
        int64_t size = td_itemsize(td_row_dtype((td_dtype)w->dtypes[k]));
        if (size > widest) widest = size;
    }
    return BLOCK / widest;
}

static __attribute__((noinline)) void in_blocks(const td_wide *w, char *const *data,
                                                const int64_t *strides, int64_t n)
{
    _Alignas(64) char buffers[TD_MAX_OPERANDS][BLOCK + APART];
    const td_convert_kernels *kernels = TD_PICK(td_convert_kernels);
    td_dtype own = (td_dtype)w->dtypes[0], result = td_row_dtype(own);
    char *at[TD_MAX_OPERANDS];
    int64_t steps[TD_MAX_OPERANDS], block = n <= BLOCK / WIDEST ? n : block_of(w);
    for (int64_t done = 0; done < n; done += block) {
        int64_t m = n - done < block ? n - done : block;
        for (int k = 1; k < w->nop; k++)
            at[k] = operand(kernels, w, k, buffers[k], data, strides, steps, done, m);
        char *to = data[0] + done * strides[0];
        bool rounds = result != own;
        at[0] = rounds ? buffers[0] : to;
        steps[0] = rounds ? td_itemsize(result) : strides[0];
        w->loop(at, steps, m, w->context);
        if (rounds) convert(kernels, own, to, strides[0], result, at[0], steps[0], m);
    }
}

void td_wide_loop(char *const *data, const int64_t *strides, int64_t n, const void *wide)
{
    const td_wide *w = wide;
    if (w->number && td_beside_number(w->nop, strides)) w->number(data, strides, n, w->context);
    else in_blocks(w, data, strides, n);
}
