/* of_float.h - the words of a text that is read once for float and once for double: from here on
 * they mean float. Such a text has no guard and is included behind of_float.h and behind
 * of_double.h. */
#undef REAL
#undef VEC
#undef V
#undef G
#undef LANES
#define REAL float                  /* a number */
#define VEC vf                      /* a vector of them; see gemm_vec.h */
#define V(op) TD_PASTE(vf, op)      /* an operation on vectors */
#define G(name) TD_PASTE(name, f32) /* a function or a table of this text */
#define LANES VF_LANES              /* numbers of a vector */
