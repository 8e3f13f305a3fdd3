/* test_shape.c - checked arithmetic on shapes. */
#include "harness.h"
#include "runtime/tensor.h"

#define NUMEL(out, ...) \
    td_numel(sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__}, out)

TEST(products_of_sizes)
{
    int64_t n = -1;
    NEED(td_numel(0, NULL, &n));
    EQUAL(n, 1);
    NEED(NUMEL(&n, 2, 3, 4));
    EQUAL(n, 24);
    NEED(NUMEL(&n, 5, 0, 7));
    EQUAL(n, 0);
    NEED(NUMEL(&n, INT64_MAX));
    EQUAL(n, INT64_MAX);
}

TEST(negative_sizes_and_overflow_are_refused_and_write_nothing)
{
    int64_t n = 77;
    REFUSED(NUMEL(&n, 2, -3), TD_RUNTIME_ERROR, "negative dimension -3 in the shape [2, -3]");
    REFUSED(NUMEL(&n, INT64_MAX, 2), TD_RUNTIME_ERROR, "overflowed 64 bits");
    REFUSED(NUMEL(&n, 0, INT64_MAX, 2), TD_RUNTIME_ERROR,
            "overflowed"); /* its strides would overflow */
    REFUSED(NUMEL(&n, (int64_t)1 << 32, (int64_t)1 << 31), TD_RUNTIME_ERROR, "overflowed");
    EQUAL(n, 77);
}

TEST(sums_and_products_tell_their_overflow)
{
    int64_t r;
    CHECK(!td_add_overflows(INT64_MAX, 0, &r) && r == INT64_MAX);
    CHECK(td_add_overflows(INT64_MAX, 1, &r) && td_add_overflows(INT64_MIN, -1, &r));
    CHECK(!td_mul_overflows(INT64_MIN, 1, &r) && r == INT64_MIN);
    CHECK(td_mul_overflows(INT64_MIN, -1, &r) &&
          td_mul_overflows((int64_t)1 << 32, (int64_t)1 << 31, &r));
}

TEST(row_major_strides)
{
    int64_t s[3];
    td_row_major(3, (int64_t[]){2, 3, 4}, s);
    CHECK(s[0] == 12 && s[1] == 4 && s[2] == 1);
    td_row_major(3, (int64_t[]){2, 0, 4}, s); /* an empty dimension counts as one */
    CHECK(s[0] == 4 && s[1] == 4 && s[2] == 1);
    td_row_major(0, NULL, s);
}

TEST(dimensions_wrap)
{
    int64_t d;
    for (int64_t n = 1; n < 5; n++)
        for (int64_t k = -n; k < n; k++) {
            NEED(td_wrap_dim(k, n, &d));
            EQUAL(d, k < 0 ? k + n : k);
        }
    NEED(td_wrap_dim(-1, 0, &d)); /* a number counts as one dimension */
    EQUAL(d, 0);
    REFUSED(td_wrap_dim(3, 3, &d), TD_INDEX_ERROR, "expected one in [-3, 2], but got 3");
    REFUSED(td_wrap_dim(-4, 3, &d), TD_INDEX_ERROR, "but got -4");
    REFUSED(td_wrap_dim(1, 0, &d), TD_INDEX_ERROR, "[-1, 0]");
    REFUSED(td_wrap_dim(INT64_MIN, 2, &d), TD_INDEX_ERROR, "out of range");
    REFUSED(td_wrap_dim(INT64_MAX, 2, &d), TD_INDEX_ERROR, "out of range");
}

TEST(shapes_broadcast_from_the_last_dimension)
{
    int64_t out[TD_MAX_DIMS];
    int n;
    NEED(td_broadcast(2, (int64_t[]){3, 1}, 1, (int64_t[]){4}, &n, out));
    CHECK(n == 2 && out[0] == 3 && out[1] == 4);
    NEED(td_broadcast(1, (int64_t[]){1}, 2, (int64_t[]){0, 1}, &n, out));
    CHECK(n == 2 && out[0] == 0 && out[1] == 1);
    NEED(td_broadcast(0, NULL, 0, NULL, &n, out));
    EQUAL(n, 0);
    int64_t own[3] = {2, 1, 5}; /* out may be an input */
    NEED(td_broadcast(3, own, 2, (int64_t[]){3, 1}, &n, own));
    CHECK(n == 3 && own[0] == 2 && own[1] == 3 && own[2] == 5);
    REFUSED(td_broadcast(2, (int64_t[]){2, 3}, 1, (int64_t[]){4}, &n, out), TD_RUNTIME_ERROR,
            "shapes [2, 3] and [4] do not broadcast: sizes 3 and 4 must match at non-singleton "
            "dimension 1");
    REFUSED(td_broadcast(1, (int64_t[]){0}, 1, (int64_t[]){2}, &n, out), TD_RUNTIME_ERROR,
            "sizes 0 and 2");
}

TEST(long_shapes_are_cut_in_messages)
{
    char text[TD_SHAPE_TEXT];
    int64_t sizes[TD_MAX_DIMS];
    CHECK(!strcmp(td_shape_text(0, NULL, text), "[]"));
    CHECK(!strcmp(td_shape_text(2, (int64_t[]){2, -3}, text), "[2, -3]"));
    for (int i = 0; i < TD_MAX_DIMS; i++) sizes[i] = INT64_MIN + i;
    for (int n = 0; n <= TD_MAX_DIMS; n++) {
        td_shape_text(n, sizes, text);
        CHECK(strlen(text) < TD_SHAPE_TEXT && text[strlen(text) - 1] == ']');
    }
    CHECK(strstr(text, "...]") != NULL);
}
