/* loop_tables.c - finds elementwise loops by name among the tables that kernel files export. */
#include <string.h>
#include "ops/pointwise/pointwise.h"

static const td_loop_entry *in_table(const td_loop_entry *entry, const char *name, td_dtype dtype)
{
    for (; entry->name; entry++)
        if (entry->dtype == (int)dtype && strcmp(entry->name, name) == 0) return entry;
    return NULL;
}

const td_loop_entry *td_find_entry(const char *name, td_dtype dtype)
{
    for (const td_loop_entry *const *table = td_loop_tables(); *table; table++) {
        const td_loop_entry *entry = in_table(*table, name, dtype);
        if (entry) return entry;
    }
    return NULL;
}

td_loop td_find_loop(const char *name, td_dtype dtype)
{
    const td_loop_entry *entry = td_find_entry(name, dtype);
    return entry ? entry->loop : NULL;
}

td_status td_require_entry(const char *op, const char *name, td_dtype dtype,
                           const td_loop_entry **out)
{
    *out = td_find_entry(name, dtype);
    if (*out) return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED, "\"%s\" is not implemented for '%s'", op,
                   td_dtypes[dtype].type_name);
}
