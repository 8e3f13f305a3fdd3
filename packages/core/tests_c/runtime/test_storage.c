/* test_storage.c - bytes with owners: the last one frees, a pin keeps what was lost, a resize keeps
 * the old bytes. */
#include "harness.h"
#include "runtime/alloc.h"
#include "runtime/tensor.h"

static int64_t allocated(void)
{
    td_alloc_stats s;
    td_alloc_get_stats(&s);
    return s.allocated;
}

TEST(the_last_owner_frees)
{
    int64_t before = allocated();
    td_storage *s;
    NEED(td_storage_new(&s, 1000, TD_CPU));
    td_storage_keep(s);
    td_storage_drop(s);
    EQUAL(allocated(), before + 1000);
    td_storage_drop(s);
    td_storage_drop(NULL);
    EQUAL(allocated(), before);
}

TEST(a_resize_keeps_the_old_bytes)
{
    td_storage *s;
    NEED(td_storage_new(&s, 4, TD_CPU));
    memcpy(s->data, "abcd", 4);
    NEED(td_storage_resize(s, 5000));
    CHECK(!memcmp(s->data, "abcd", 4));
    NEED(td_storage_resize(s, 2));
    CHECK(!memcmp(s->data, "ab", 2));
    NEED(td_storage_resize(s, 2));
    NEED(td_storage_resize(s, 0));
    NEED(td_storage_resize(s, 8));
    REFUSED(td_storage_resize(s, -1), TD_RUNTIME_ERROR, "must not be negative");
    td_alloc_fail_at(1);
    REFUSED(td_storage_resize(s, 100), TD_MEMORY_ERROR, "out of memory");
    EQUAL(s->nbytes, 8);
    s->fixed = 1;
    REFUSED(td_storage_resize(s, 100), TD_RUNTIME_ERROR, "belongs to another owner");
    s->fixed = 0;
    td_storage_drop(s);
}

TEST(a_pinned_storage_keeps_its_old_bytes_for_the_reader)
{
    int64_t before = allocated();
    td_storage *s;
    NEED(td_storage_new(&s, 100, TD_CPU));
    char *old = s->data;
    old[0] = 'x';
    td_pin(s);
    td_pin(s);
    NEED(td_storage_resize(s, 10000));
    NEED(td_storage_resize(s, 20000));
    CHECK(s->data != old && old[0] == 'x' && s->left);
    td_unpin(s);
    CHECK(s->left);
    td_unpin(s);
    CHECK(!s->left);
    td_storage_drop(s);
    EQUAL(allocated(), before);
}

TEST(sizes_that_cannot_be_are_refused_and_meta_has_no_bytes)
{
    td_storage *s;
    REFUSED(td_storage_new(&s, -5, TD_CPU), TD_RUNTIME_ERROR, "cannot have -5 bytes");
    td_alloc_fail_at(1);
    REFUSED(td_storage_new(&s, 10, TD_CPU), TD_MEMORY_ERROR, "10 bytes");
    td_alloc_fail_at(2);
    REFUSED(td_storage_new(&s, 10, TD_CPU), TD_MEMORY_ERROR, "storage object");
    NEED(td_storage_new(&s, (int64_t)1 << 60, TD_META));
    CHECK(s->data == NULL);
    NEED(td_storage_resize(s, 10));
    td_storage_drop(s);
}
