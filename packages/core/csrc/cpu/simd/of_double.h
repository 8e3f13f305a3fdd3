/* of_double.h - the words of a text that is read once for float and once for double: from here on
 * they mean double. Such a text has no guard and is included behind of_double.h and behind
 * of_float.h. */
#undef REAL
#undef VEC
#undef V
#undef G
#undef LANES
#define REAL double                 /* a number */
#define VEC vd                      /* a vector of them; see gemm_vec.h */
#define V(op) TD_PASTE(vd, op)      /* an operation on vectors */
#define G(name) TD_PASTE(name, f64) /* a function or a table of this text */
#define LANES VD_LANES              /* numbers of a vector */
