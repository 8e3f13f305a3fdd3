/* chains.c - loops of elementwise work that were compiled as one (chains.h).
 *
 * A key: for each loop its entry, how many operands, the range of each (or what stands for a
 * number), how many arguments, a kind and a fact of each, which for the exponent of pow says also
 * whether it is one of those with rows of their own; then for each range whether its last value is
 * kept. */
#include "ops/pointwise/chains.h"
#include <stdlib.h>
#include <string.h>

static td_chain *chains[TD_CHAINS];
static int count, asked;

/* ---- keys ---- */

/* What a compiler wants to know of an argument and what hardly varies: flags, letters, whether a
 * factor is 1. */
static uint8_t fact_of(const td_arg *arg)
{
    switch (arg->kind) {
        case TD_ARG_SCALAR: return arg->scalar.re == 1 && arg->scalar.im == 0;
        case TD_ARG_BOOL: return arg->i != 0;
        case TD_ARG_STR: return (uint8_t)arg->str[0];
        case TD_ARG_TENSOR: return (arg->tensor->flags & TD_FLAG_WRAPPED) != 0;
        default: return 0;
    }
}

static int range_of(const td_waiting *j, const char *data)
{
    int i = 0;
    while (j->ranges[i].begin != data) i++;
    return i;
}

static int64_t write_key(uint8_t *key, const td_waiting *j)
{
    uint8_t *to = key;
    for (int i = 0; i < j->n; i++) {
        const td_waiting_loop *l = &j->loops[i];
        memcpy(to, &l->entry, sizeof l->entry);
        to += sizeof l->entry;
        *to++ = (uint8_t)(l->same_dtype << 4 | l->nop);
        for (int k = 0; k < l->nop; k++)
            *to++ = l->steps[k]          ? (uint8_t)range_of(j, l->data[k])
                    : td_wait_wide(l, k) ? TD_CHAIN_WIDE
                                         : TD_CHAIN_NUMBER;
        *to++ = (uint8_t)l->nargs;
        for (int k = 0; k < l->nargs; k++) {
            *to++ = (uint8_t)l->context[k].kind;
            *to++ = (uint8_t)(fact_of(&l->context[k]) + (k == 1 ? l->power : 0));
        }
    }
    for (int i = 0; i < j->nranges; i++) {
        bool dead = false;
        for (int k = 0; !dead && k < j->ndead; k++) dead = j->dead[k] == j->ranges[i].begin;
        *to++ = dead;
    }
    return to - key;
}

static td_chain *added(const uint8_t *key, int64_t length, const td_waiting *j)
{
    td_chain *c = count < TD_CHAINS ? calloc(1, sizeof *c + (size_t)length) : NULL;
    if (!c) return NULL;
    c->number = count;
    c->length = length;
    c->nloops = j->n;
    c->nranges = j->nranges;
    c->seconds[0] = c->seconds[1] = 1e9;
    memcpy(c->key, key, (size_t)length);
    return chains[count++] = c;
}

td_chain *td_chain_of(const td_waiting *j)
{
    static td_chain *last; /* one program after the other runs the same */
    uint8_t key[TD_CHAIN_BYTES];
    int64_t length = write_key(key, j);
    if (last && last->length == length && !memcmp(last->key, key, (size_t)length)) return last;
    for (int i = 0; i < count; i++) {
        td_chain *c = chains[i];
        if (c->length == length && c->nloops == j->n && !memcmp(c->key, key, (size_t)length))
            return last = c;
    }
    return added(key, length, j);
}

/* ---- chains ---- */

td_chain *td_chain_at(int number) { return chains[number]; }

int td_chain_count(void) { return count; }

int td_chains_asked(void) { return asked; }

void td_chain_give(td_chain *c, td_chain_function function, bool at_once)
{
    c->function = function;
    c->turns = 0;
    c->seconds[0] = c->seconds[1] = 1e9;
    c->state = !function ? TD_CHAIN_LEFT : at_once ? TD_CHAIN_TAKEN : TD_CHAIN_TRIED;
}

bool td_chain_turn(td_chain *c)
{
    if (c->state == TD_CHAIN_NEW && ++c->runs == TD_CHAIN_PATIENCE) {
        c->state = TD_CHAIN_ASKED;
        asked++;
    }
    if (c->state == TD_CHAIN_TRIED) /* in no rhythm that calls could have as well */
        return __builtin_popcount((unsigned)c->turns) & 1;
    return c->state == TD_CHAIN_TAKEN;
}

void td_chain_took(td_chain *c, bool by_function, double seconds, int64_t n)
{
    double each = seconds / (double)n;
    if (c->state != TD_CHAIN_TRIED) return;
    if (each < c->seconds[by_function]) c->seconds[by_function] = each;
    if (++c->turns == TD_CHAIN_TURNS)
        c->state = c->seconds[1] < c->seconds[0] ? TD_CHAIN_TAKEN : TD_CHAIN_LEFT;
}

bool td_chain_is_new(const td_chain *c) { return c->state == TD_CHAIN_TRIED && c->turns == 0; }

void td_chain_refuse(td_chain *c) { c->state = TD_CHAIN_WRONG; }

void td_chain_arguments(td_chain_arg *to, const td_waiting_loop *l)
{
    for (int k = 0; k < l->nargs; k++) {
        const td_arg *from = &l->context[k];
        to[k].kind = (int32_t)from->kind;
        to[k].word = 0;
        switch (from->kind) {
            case TD_ARG_SCALAR: to[k].scalar = from->scalar; break;
            case TD_ARG_FLOAT: to[k].f = from->f; break;
            case TD_ARG_STR:
            case TD_ARG_TENSOR: to[k].word = fact_of(from); break;
            case TD_ARG_NONE: break;
            default: to[k].i = from->i;
        }
    }
}
