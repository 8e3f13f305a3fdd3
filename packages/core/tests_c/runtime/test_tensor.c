/* test_tensor.c - what a layout is, against the addresses of its elements. */
#include <stdlib.h>
#include "harness.h"
#include "runtime/address.h"
#include "runtime/alloc.h"
#include "runtime/tensor.h"

enum { PLACES = 4096 };

/* How often each element of the storage is met; -1 if the tensor has too many. */
static int most_often(const td_tensor *t, int64_t *distinct, int64_t *last)
{
    static int seen[PLACES];
    memset(seen, 0, sizeof seen);
    int most = 0;
    *distinct = *last = 0;
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t rest = i, at = 0;
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += rest % t->sizes[d] * t->strides[d];
            rest /= t->sizes[d];
        }
        *distinct += seen[at] == 0;
        if (++seen[at] > most) most = seen[at];
        if (at > *last) *last = at;
    }
    return most;
}

TEST(questions_of_layout_are_answered_as_the_elements_lie)
{
    for (int round = 0; round < 4000; round++) {
        int ndim = (int)below(5);
        int64_t sizes[5], strides[5], distinct, last;
        for (int d = 0; d < ndim; d++) {
            sizes[d] = below(12) ? 1 + below(4) : 0;
            strides[d] = below(20);
        }
        if (round % 2) td_row_major(ndim, sizes, strides);
        td_tensor *t;
        NEED(td_tensor_empty_strided(&t, TD_U8, TD_CPU, ndim, sizes, strides));
        int most = most_often(t, &distinct, &last);
        if (t->numel) CHECK(last < t->storage->nbytes);
        if (t->numel && td_is_contiguous(t)) CHECK(td_is_dense(t));
        if (t->numel) EQUAL(td_is_dense(t), most == 1 && last + 1 == t->numel);
        if (td_has_zero_stride(t)) CHECK(most > 1);
        if (most > 1) CHECK(td_may_overlap_itself(t)); /* it may err to the safe side */
        if (round % 2) CHECK(td_is_contiguous(t));
        td_tensor_free(t);
    }
}

TEST(shapes_that_cannot_be_are_refused)
{
    td_tensor *t = NULL;
    int64_t sizes[70] = {0}, strides[2] = {INT64_MAX, 1};
    REFUSED(td_tensor_empty(&t, TD_F32, TD_CPU, 65, sizes), TD_RUNTIME_ERROR,
            "at most 64 dimensions");
    REFUSED(td_tensor_empty(&t, TD_F32, TD_CPU, -1, sizes), TD_RUNTIME_ERROR, "dimensions");
    REFUSED(td_tensor_empty(&t, TD_F64, TD_CPU, 1, (int64_t[]){INT64_MAX}), TD_RUNTIME_ERROR,
            "overflowed");
    REFUSED(td_tensor_empty_strided(&t, TD_U8, TD_CPU, 2, (int64_t[]){3, 3}, strides),
            TD_RUNTIME_ERROR, "overflowed");
    REFUSED(td_tensor_empty_strided(&t, TD_U8, TD_CPU, 1, (int64_t[]){3}, (int64_t[]){-1}),
            TD_RUNTIME_ERROR, "negative");
    CHECK(t == NULL);
}

TEST(memory_that_runs_out_at_any_place_leaves_nothing_behind)
{
    td_alloc_stats before, after;
    int64_t sizes[8] = {2, 1, 3, 1, 1, 2, 1, 1}; /* more than fit into the struct */
    td_alloc_get_stats(&before);
    for (int n = 1; n < 6; n++) {
        td_tensor *t = NULL;
        td_alloc_fail_at(n);
        td_status status = td_tensor_empty(&t, TD_F32, TD_CPU, 8, sizes);
        td_alloc_fail_at(0);
        CHECK(status == (n <= 4 ? TD_MEMORY_ERROR : TD_OK));
        td_tensor_free(t);
    }
    td_alloc_get_stats(&after);
    EQUAL(after.allocated, before.allocated);
}

TEST(views_share_bytes_and_versions)
{
    td_tensor *t, *view, *apart;
    NEED(td_tensor_empty(&t, TD_F32, TD_CPU, 2, (int64_t[]){4, 6}));
    NEED(td_tensor_view(&view, t, 1, (int64_t[]){4}, (int64_t[]){6}, 2));
    EQUAL((char *)td_data(view) - (char *)td_data(t), 8);
    td_version_bump(view);
    EQUAL(td_version_of(t), 1);
    NEED(td_tensor_alias(&apart, t));
    NEED(td_tensor_detach_version(apart));
    td_version_bump(apart);
    EQUAL(td_version_of(t), 1);
    CHECK(td_same_layout(t, apart) && !td_same_layout(t, view) && td_may_overlap(t, view));
    EQUAL(td_overlap_of(t, apart), TD_IDENTICAL);
    EQUAL(td_overlap_of(t, view), TD_UNCLEAR);
    td_tensor_free(t);
    td_tensor_free(apart);
    td_tensor_free(view);
}
