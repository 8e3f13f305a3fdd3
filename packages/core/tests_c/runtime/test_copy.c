/* test_copy.c - copies between any two dtypes and layouts against one element after the other. */
#include <stdlib.h>
#include "harness.h"
#include "runtime/alloc.h"
#include "runtime/loops.h"

enum { ROWS = 5, COLS = 7 };

static td_tensor *strided(td_dtype dtype, bool turned)
{
    td_tensor *t = NULL;
    int64_t sizes[2] = {ROWS, COLS}, strides[2] = {turned ? 1 : COLS, turned ? ROWS : 1};
    if (td_tensor_empty_strided(&t, dtype, TD_CPU, 2, sizes, strides))
        FAIL("no tensor: %s", td_error_message());
    return t;
}

static char *element(const td_tensor *t, int64_t i, int64_t j)
{
    return (char *)td_data(t) +
           (i * t->strides[0] + j * t->strides[1]) * td_itemsize((td_dtype)t->dtype);
}

static bool converts(int d) { return d < TD_QINT8; }

TEST(every_dtype_to_every_dtype_in_any_layout)
{
    for (int from = 0; from < TD_NDTYPES; from++)
        for (int to = 0; to < TD_NDTYPES; to++) {
            if (!converts(from) || !converts(to)) continue;
            for (int layout = 0; layout < 4; layout++) {
                td_tensor *a = strided((td_dtype)from, layout & 1),
                          *b = strided((td_dtype)to, layout & 2);
                for (int64_t k = 0; k < ROWS * COLS; k++) {
                    td_scalar value = td_scalar_float((double)(k % 3)); /* what every type holds */
                    td_scalar_store(&value, (td_dtype)from, element(a, k / COLS, k % COLS));
                }
                NEED(td_copy(b, a));
                for (int64_t k = 0; k < ROWS * COLS; k++) {
                    char wanted[16] = {0};
                    td_scalar value =
                        td_scalar_load((td_dtype)from, element(a, k / COLS, k % COLS));
                    td_scalar_store(&value, (td_dtype)to, wanted);
                    if (memcmp(wanted, element(b, k / COLS, k % COLS),
                               (size_t)td_itemsize((td_dtype)to)))
                        FAIL("%s to %s, layout %d: element %d", td_dtypes[from].name,
                             td_dtypes[to].name, layout, (int)k);
                }
                td_tensor_free(a);
                td_tensor_free(b);
            }
        }
}

TEST(a_number_fills_and_a_copy_is_an_alias_where_nothing_changes)
{
    td_tensor *t = strided(TD_F32, true), *dense, *same;
    td_scalar seven = td_scalar_int(7);
    NEED(td_fill(t, &seven));
    for (int64_t k = 0; k < ROWS * COLS; k++) CHECK(*(float *)element(t, k / COLS, k % COLS) == 7);
    NEED(td_contiguous(&dense, t));
    CHECK(td_is_contiguous(dense) && dense->storage != t->storage);
    NEED(td_contiguous(&same, dense));
    CHECK(same->storage == dense->storage);
    td_tensor_free(same);
    td_tensor_free(dense);
    td_tensor_free(t);
}

TEST(memory_that_runs_out_leaves_nothing_behind)
{
    td_tensor *t = strided(TD_F32, true), *copy = NULL;
    for (int n = 1; n < 4; n++) {
        td_alloc_fail_at(n);
        td_status status = td_cast(&copy, t, TD_F64);
        td_alloc_fail_at(0);
        if (status == TD_OK) td_tensor_free(copy);
        else EQUAL(status, TD_MEMORY_ERROR);
    }
    td_tensor_free(t);
}
