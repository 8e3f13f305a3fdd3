/* chains.h - loops of elementwise work that were compiled as one (waiting.h).
 *
 *   td_wait_run ─▶ td_chain_of: what waits, as a key ─▶ known: its chain, which may have a function
 *
 * A chain is loops in their order, with which operand each reads and which result nobody keeps.
 * Sizes, addresses and numbers are no part of it. Somebody may compile a function that does the
 * same to one element after the other; runs are then timed in turns, and the faster way stays.
 *
 * All of this is done by whoever holds the interpreter's lock; only the function runs without it.
 */
#ifndef TD_CHAINS_H
#define TD_CHAINS_H
#include "ops/pointwise/waiting.h"

typedef struct td_chain_arg { /* an argument of a loop's call, as cpu/simd/chain reads it */
    int32_t kind, word;       /* word: the first letter of a str; of a tensor, 1 for a number */
    union {
        td_scalar scalar;
        int64_t i;
        double f;
    };
} td_chain_arg;

enum { /* in a key, in place of a range */
       TD_CHAIN_NUMBER = 255,
       TD_CHAIN_WIDE = 254 /* one of float32 beside short floats */
};

/* data: of each range, in the order of td_waiting; numbers: of each loop's operands that are one,
 * one after the other; args: of each loop, TD_MAX_ARGS places */
typedef void (*td_chain_function)(char *const *data, const char *const *numbers,
                                  const td_chain_arg *args, int64_t begin, int64_t end);

typedef enum td_chain_state {
    TD_CHAIN_NEW,   /* seen a few times */
    TD_CHAIN_ASKED, /* somebody was asked for a function */
    TD_CHAIN_TRIED, /* there is one, and both ways are timed */
    TD_CHAIN_TAKEN, /* by the function */
    TD_CHAIN_LEFT,  /* loop by loop, for good */
    TD_CHAIN_WRONG  /* the same, as the function gave other bits */
} td_chain_state;

enum {
    TD_CHAIN_BYTES =
        8 + TD_WAITING_MOST * (16 + TD_MAX_OPERANDS + 2 * TD_MAX_ARGS) + TD_WAITING_RANGES,
    TD_CHAINS = 4096,      /* more are not told apart */
    TD_CHAIN_PATIENCE = 3, /* runs before somebody is asked */
    TD_CHAIN_TURNS = 24
}; /* runs that are timed */

typedef struct td_chain {
    td_chain_state state;
    td_chain_function function;
    int number, runs, turns;
    double seconds[2]; /* of an element at best: loop by loop, by the function */
    int64_t length;
    int nloops, nranges;
    uint8_t key[]; /* of `length` bytes: see td_chain_of */
} td_chain;

/* The chain of what waits; NULL without memory, or if there are too many. */
td_chain *td_chain_of(const td_waiting *j);
/* By number, from 0 to td_chain_count() - 1. */
td_chain *td_chain_at(int number);
int td_chain_count(void);
/* Count a run; whether it goes by the function. */
bool td_chain_turn(td_chain *c);
/* A run of n elements took so many seconds. */
void td_chain_took(td_chain *c, bool by_function, double seconds, int64_t n);
/* Whether this run, by loops, is to be compared with the function. */
bool td_chain_is_new(const td_chain *c);
/* It gave other bits: it is not used. */
void td_chain_refuse(td_chain *c);
/* How many chains wait for somebody to look at them: grows. */
int td_chains_asked(void);
/* Give a chain its function: used at once, or timed first. */
void td_chain_give(td_chain *c, td_chain_function function, bool at_once);
/* The arguments of a loop's call as a function reads them. */
void td_chain_arguments(td_chain_arg *to, const td_waiting_loop *l);
#endif
