/* pool_settings.c - the grammar of the allocator's settings:
 *
 *   backend:native,max_split_size_mb:512,roundup_power2_divisions:[256:1,512:2,>:4] */
#include "cuda/pool_settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((int64_t)1 << 20)
#define UNSPLIT ((int64_t)20 << 20)

td_cuda_pool_settings td_cuda_settings = {.max_split = INT64_MAX, .max_unsplit = UNSPLIT};

/* PyTorch's, which this allocator can only be told to leave off */
static const char *const off[] = {"expandable_segments", "release_lock_on_cudamalloc",
                                  "pinned_use_cuda_host_register", "pinned_use_background_threads",
                                  "graph_capture_record_stream_reuse"};

typedef struct setting {
    const char *key, *value; /* not ended by NUL */
    int nkey, nvalue;
} setting;

static td_status bad(const setting *s, const char *wanted)
{
    return td_fail(TD_VALUE_ERROR, "setting of the CUDA allocator: '%.*s' is '%.*s', wanted %s",
                   s->nkey, s->key, s->nvalue, s->value, wanted);
}

static bool whole(const char *at, int n, int64_t *out)
{
    *out = 0;
    for (int k = 0; k < n; k++) {
        if (at[k] < '0' || at[k] > '9' || *out > INT64_MAX / 100 / MIB) return false;
        *out = 10 * *out + at[k] - '0';
    }
    return n > 0;
}

static td_status read_mib(const setting *s, int64_t *out)
{
    int64_t value;
    if (!whole(s->value, s->nvalue, &value) || value < 21)
        return bad(s, "a whole number of MiB above 20");
    *out = value * MIB;
    return TD_OK;
}

static bool is_power(int64_t n) { return n > 0 && !(n & (n - 1)); }
static int place_of(int64_t mib) /* in the divisions */
{
    int k = 63 - __builtin_clzll((unsigned long long)mib);
    return k < TD_CUDA_DIVISIONS ? k : TD_CUDA_DIVISIONS - 1;
}

/* "256:1": from the power of two before, up to this one; ">:4": all that is larger */
static td_status read_divisions(const setting *s, td_cuda_pool_settings *to)
{
    const char *wanted = "a power of two, or [size in MiB:power of two, ..., >:power of two] with "
                         "sizes that grow and are powers of two";
    int64_t n, size;
    if (whole(s->value, s->nvalue, &n)) {
        if (!is_power(n)) return bad(s, wanted);
        for (int k = 0; k < TD_CUDA_DIVISIONS; k++) to->divisions[k] = (int)n;
        return TD_OK;
    }
    if (s->nvalue < 2 || s->value[0] != '[' || s->value[s->nvalue - 1] != ']')
        return bad(s, wanted);
    const char *at = s->value + 1, *end = s->value + s->nvalue - 1;
    for (int next = 0; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end,
                   *colon = memchr(at, ':', (size_t)(stop - at));
        if (!colon || !whole(colon + 1, (int)(stop - colon - 1), &n) || !is_power(n))
            return bad(s, wanted);
        bool rest = colon == at + 1 && *at == '>';
        if (!rest && (!whole(at, (int)(colon - at), &size) || !is_power(size)))
            return bad(s, wanted);
        int last = rest ? TD_CUDA_DIVISIONS - 1 : place_of(size);
        if (last < next) return bad(s, wanted);
        while (next <= last) to->divisions[next++] = (int)n;
        at = comma ? comma + 1 : end;
    }
    return TD_OK;
}

static td_status read_share(const setting *s, double *out)
{
    char text[32], *end;
    snprintf(text, sizeof text, "%.*s", s->nvalue, s->value);
    *out = strtod(text, &end);
    return *end || !(*out > 0 && *out < 1) ? bad(s, "a number between 0 and 1") : TD_OK;
}

static bool is(const setting *s, const char *key)
{
    return (int)strlen(key) == s->nkey && !strncmp(s->key, key, (size_t)s->nkey);
}

static bool value_is(const setting *s, const char *value)
{
    return (int)strlen(value) == s->nvalue && !strncmp(s->value, value, (size_t)s->nvalue);
}

static td_status read_one(const setting *s, td_cuda_pool_settings *to)
{
    if (is(s, "max_split_size_mb")) return read_mib(s, &to->max_split);
    if (is(s, "max_non_split_rounding_mb")) return read_mib(s, &to->max_unsplit);
    if (is(s, "roundup_power2_divisions")) return read_divisions(s, to);
    if (is(s, "garbage_collection_threshold")) return read_share(s, &to->collect_at);
    if (is(s, "backend")) {
        to->async = value_is(s, "cudaMallocAsync");
        return to->async || value_is(s, "native") ? TD_OK : bad(s, "native or cudaMallocAsync");
    }
    for (size_t k = 0; k < sizeof off / sizeof *off; k++)
        if (is(s, off[k]))
            return value_is(s, "False")
                       ? TD_OK
                       : bad(s, "False: this allocator does not have it; leave it out");
    return td_fail(
        TD_VALUE_ERROR,
        "setting of the CUDA allocator: '%.*s' is not known; there are backend, max_split_size_mb, "
        "max_non_split_rounding_mb, roundup_power2_divisions and garbage_collection_threshold",
        s->nkey, s->key);
}

/* to the comma outside of brackets, or the end */
static const char *end_of(const char *at)
{
    for (int depth = 0; *at && (depth || *at != ','); at++) depth += (*at == '[') - (*at == ']');
    return at;
}

td_status td_cuda_settings_read(const char *text)
{
    td_cuda_pool_settings made = {.max_split = INT64_MAX, .max_unsplit = UNSPLIT};
    char plain[sizeof made.text];
    if (strlen(text) >= sizeof plain)
        return td_fail(TD_VALUE_ERROR,
                       "settings of the CUDA allocator: %zu characters, at most %zu", strlen(text),
                       sizeof plain - 1);
    int n = 0;
    for (const char *at = text; *at; at++) /* blanks do not matter */
        if (*at != ' ') plain[n++] = *at;
    plain[n] = 0;
    snprintf(made.text, sizeof made.text, "%s", plain);
    for (const char *at = plain; *at;) {
        const char *end = end_of(at), *colon = memchr(at, ':', (size_t)(end - at));
        if (!colon)
            return td_fail(TD_VALUE_ERROR, "setting of the CUDA allocator: '%.*s' is not key:value",
                           (int)(end - at), at);
        setting s = {at, colon + 1, (int)(colon - at), (int)(end - colon - 1)};
        TD_TRY(read_one(&s, &made));
        at = *end ? end + 1 : end;
    }
    td_cuda_settings = made;
    return TD_OK;
}

int64_t td_cuda_settings_round(int64_t bytes)
{
    int64_t mib = bytes / MIB;
    int parts = td_cuda_settings.divisions[mib ? place_of(mib) : 0];
    if (parts <= 1 || bytes <= 512 * (int64_t)parts) return bytes;
    int64_t power = (int64_t)1 << (63 - __builtin_clzll((unsigned long long)bytes)),
            step = power / parts;
    return (bytes + step - 1) / step * step;
}

td_status td_cuda_settings_from_environment(void)
{
    static const char *const names[] = {"TAEDA_CUDA_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF",
                                        "PYTORCH_ALLOC_CONF"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *text = getenv(names[k]);
        if (text && *text) return td_cuda_settings_read(text);
    }
    return TD_OK;
}
