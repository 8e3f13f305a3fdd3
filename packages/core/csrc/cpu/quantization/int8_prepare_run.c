/* int8_prepare_run.c - panels, and the numbers of every row of a matrix that follow a product. */
#include "cpu/quantization/int8_prepare_run.h"
#include <string.h>
#include "runtime/alloc.h"

static int64_t panels_of(int64_t n) { return (n + TD_PANEL - 1) / TD_PANEL; }
static int64_t words_of(int64_t k) { return (k + TD_WORD - 1) / TD_WORD; }

static int64_t bytes_of(int64_t n, int64_t k) /* of a group's panels */
{
    return panels_of(n) * words_of(k) * TD_PANEL * TD_WORD;
}

static void pack_group(const int8_t *rows, int64_t n, int64_t k, int8_t *panels, int32_t *sums)
{
    int64_t words = words_of(k);
    memset(panels, 0, (size_t)bytes_of(n, k));
    for (int64_t i = 0; i < n; i++, rows += k) {
        int8_t *to = panels + (i / TD_PANEL * words * TD_PANEL + i % TD_PANEL) * TD_WORD;
        uint32_t sum = 0;
        for (int64_t w = 0; w < words; w++)
            memcpy(to + w * TD_PANEL * TD_WORD, rows + w * TD_WORD,
                   (size_t)(k - w * TD_WORD < TD_WORD ? k - w * TD_WORD : TD_WORD));
        for (int64_t q = 0; q < k; q++) sum += (uint32_t)(int32_t)rows[q];
        sums[i] = (int32_t)sum;
    }
}

void td_int8_pack(const int8_t *rows, int64_t groups, int64_t n, int64_t k, int8_t *panels,
                  int32_t *sums)
{
    for (int64_t g = 0; g < groups; g++)
        pack_group(rows + g * n * k, n, k, panels + g * bytes_of(n, k), sums + g * n);
}

/* One row of the matrix; `at` counts whole panels. */
static void fill_row(td_int8_prepared *p, const td_int8_matrix *w, float x_scale,
                     const td_int8_results *out, int64_t row, int64_t at)
{
    float both = x_scale * w->scales[w->each ? row : 0], bias = w->bias ? w->bias[row] : 0;
    int32_t *start = (int32_t *)p->first.start, *zero = (int32_t *)p->first.weight_zero;
    float *factor = (float *)p->first.factor, *add = (float *)p->first.bias;
    start[at] = (int32_t)(0u - (uint32_t)p->zero * (uint32_t)w->sums[row]);
    if (zero) zero[at] = w->zeros[row];
    factor[at] = out->floats ? both : both / out->to.scale;
    add[at] = !w->bias || out->floats ? bias : bias / both;
}

static void fill_ends(td_int8_product *p, const td_int8_results *out)
{
    int64_t zero = out->to.zero + (out->to.with_sign ? 128 : 0);
    p->to_bytes = !out->floats;
    p->relu = out->relu;
    p->zero = (float)zero;
    p->least = out->relu ? (float)zero : 0;
    p->flip = out->to.with_sign ? 0x80 : 0;
}

td_status td_int8_prepare(td_int8_prepared *p, const td_int8_matrix *w, const td_int8_numbers *x,
                          bool narrow, const td_int8_results *out)
{
    int64_t each = w->n / w->groups;
    p->columns = panels_of(each) * TD_PANEL;
    p->panel_bytes = bytes_of(each, w->k);
    p->zero = x->zero + (x->with_sign ? 128 : 0);
    int64_t all = p->columns * w->groups;
    p->bytes = 4 * all * (int64_t)sizeof(float);
    p->memory = td_alloc(p->bytes);
    if (!p->memory)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space",
                       (long long)p->bytes);
    memset(p->memory, 0, (size_t)p->bytes);
    float *numbers = p->memory;
    p->first = (td_int8_product){.n = each,
                                 .words = words_of(w->k),
                                 .panels = w->panels,
                                 .start = (int32_t *)numbers,
                                 .factor = numbers + all,
                                 .bias = numbers + 2 * all,
                                 .weight_zero = w->zeros ? (int32_t *)(numbers + 3 * all) : NULL,
                                 .narrow = narrow};
    fill_ends(&p->first, out);
    for (int64_t row = 0; row < w->n; row++)
        fill_row(p, w, x->scale, out, row, row / each * p->columns + row % each);
    return TD_OK;
}

void td_int8_prepare_end(td_int8_prepared *p) { td_free(p->memory, p->bytes); }

td_int8_product td_int8_of_group(const td_int8_prepared *p, int64_t group)
{
    td_int8_product own = p->first;
    int64_t skip = group * p->columns;
    own.panels += group * p->panel_bytes;
    own.start += skip;
    own.factor += skip;
    own.bias += skip;
    if (own.weight_zero) own.weight_zero += skip;
    return own;
}

bool td_int8_narrow(const td_int8_numbers *x, int64_t n)
{
    const uint8_t *from = x->data, flip = x->with_sign ? 0x80 : 0;
    uint8_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        uint8_t q = from[i] ^ flip;
        most = q > most ? q : most;
    }
    return most <= 128;
}

void td_int8_copy(uint8_t *to, const uint8_t *from, int64_t n, bool with_sign)
{
    if (!with_sign) memcpy(to, from, (size_t)n);
    else
        for (int64_t i = 0; i < n; i++) to[i] = from[i] ^ 0x80;
}

void td_int8_row_sums(const uint8_t *x, int64_t m, int64_t row, int64_t k, int64_t zero,
                      int32_t *sums)
{
    for (int64_t i = 0; i < m; i++) {
        uint32_t sum = 0u - (uint32_t)k * (uint32_t)zero;
        for (int64_t q = 0; q < k; q++) sum += x[i * row + q];
        sums[i] = (int32_t)sum;
    }
}
