/* numbers.c - what C's enumerations and flags are worth, by name, for Python: it asks here and
 * types none of them a second time. A list that misses an entry does not compile. */
#include "dispatch/custom.h"
#include "ops/pointwise/chains.h"

typedef struct named {
    const char *name;
    int value;
} named;

#define TD_NAMED(name, value) {#name, value},
static const named row_flags[] = {TD_ROW_FLAGS(TD_NAMED){NULL, 0}};
static const named casts[] = {TD_CASTS(TD_NAMED){NULL, 0}};
static const named layers[] = {TD_LAYERS(TD_NAMED){NULL, 0}};

#define TD_END {NULL, 0}
#define TD_COUNTED(list, count) \
    _Static_assert(sizeof(list) / sizeof *(list) == (count) + 1, #list " misses an entry")

#define TD_ARG(name) {#name, TD_ARG_##name}
static const named arg_kinds[] = {
    TD_ARG(NONE),      TD_ARG(TENSOR), TD_ARG(TENSORS), TD_ARG(SCALAR), TD_ARG(INT),
    TD_ARG(INTS),      TD_ARG(FLOAT),  TD_ARG(FLOATS),  TD_ARG(BOOL),   TD_ARG(BOOLS),
    TD_ARG(STR),       TD_ARG(DTYPE),  TD_ARG(DEVICE),  TD_ARG(LAYOUT), TD_ARG(MEMORY_FORMAT),
    TD_ARG(GENERATOR), TD_END};
TD_COUNTED(arg_kinds, TD_ARG_GENERATOR + 1);

static const named param_types[] = {/* as schemas spell them */
                                    {"Tensor", TD_T_TENSOR},
                                    {"Scalar", TD_T_SCALAR},
                                    {"int", TD_T_INT},
                                    {"float", TD_T_FLOAT},
                                    {"bool", TD_T_BOOL},
                                    {"str", TD_T_STR},
                                    {"ScalarType", TD_T_DTYPE},
                                    {"Layout", TD_T_LAYOUT},
                                    {"Device", TD_T_DEVICE},
                                    {"MemoryFormat", TD_T_MEMORY_FORMAT},
                                    {"Generator", TD_T_GENERATOR},
                                    TD_END};
TD_COUNTED(param_types, TD_T_GENERATOR + 1);

#define TD_P(name) {#name, TD_P_##name}
static const named param_flags[] = {TD_P(LIST),    TD_P(OPTIONAL), TD_P(ELEMENT_OPTIONAL),
                                    TD_P(KEYWORD), TD_P(NUMBER),   TD_P(MUTATED),
                                    TD_P(DEFAULT), TD_END};
TD_COUNTED(param_flags, 7);
_Static_assert(TD_P_DEFAULT == 1 << 6, "param_flags misses an entry");

#define TD_DTYPE(name) {#name, TD_##name}
static const named dtype_numbers[] = {
    TD_DTYPE(BOOL),        TD_DTYPE(U8),          TD_DTYPE(I8),
    TD_DTYPE(I16),         TD_DTYPE(I32),         TD_DTYPE(I64),
    TD_DTYPE(U16),         TD_DTYPE(U32),         TD_DTYPE(U64),
    TD_DTYPE(F16),         TD_DTYPE(BF16),        TD_DTYPE(F32),
    TD_DTYPE(F64),         TD_DTYPE(C32),         TD_DTYPE(C64),
    TD_DTYPE(C128),        TD_DTYPE(F8_E4M3FN),   TD_DTYPE(F8_E5M2),
    TD_DTYPE(F8_E4M3FNUZ), TD_DTYPE(F8_E5M2FNUZ), TD_DTYPE(F8_E8M0FNU),
    TD_DTYPE(QINT8),       TD_DTYPE(QUINT8),      TD_DTYPE(QINT32),
    TD_DTYPE(QUINT4X2),    TD_DTYPE(QUINT2X4),    TD_END};
TD_COUNTED(dtype_numbers, TD_NDTYPES);

static const named kernel_slots[] = {{"cpu", TD_SLOT_CPU},
                                     {"meta", TD_SLOT_META},
                                     {"cuda", TD_SLOT_CUDA},
                                     {"memory", TD_SLOT_MEMORY},
                                     {"any", TD_SLOT_ANY},
                                     {"composite", TD_SLOT_COMPOSITE},
                                     TD_END};
TD_COUNTED(kernel_slots, TD_SLOTS);

#define TD_CHAIN(name) {#name, TD_CHAIN_##name}
static const named chain_states[] = {TD_CHAIN(NEW),   TD_CHAIN(ASKED), TD_CHAIN(TRIED),
                                     TD_CHAIN(TAKEN), TD_CHAIN(LEFT),  TD_CHAIN(WRONG),
                                     TD_END};
TD_COUNTED(chain_states, TD_CHAIN_WRONG + 1);

static const struct {
    const char *name;
    const named *entries;
} tables[] = {{"row_flags", row_flags},
              {"casts", casts},
              {"layers", layers},
              {"arg_kinds", arg_kinds},
              {"param_types", param_types},
              {"param_flags", param_flags},
              {"dtype_numbers", dtype_numbers},
              {"kernel_slots", kernel_slots},
              {"chain_states", chain_states}};

static int add(PyObject *module, const char *table, PyObject *made) /* takes it over */
{
    int status = made ? PyModule_AddObjectRef(module, table, made) : -1;
    Py_XDECREF(made);
    return status;
}

static int set(PyObject *dict, const char *name, int number)
{
    PyObject *value = PyLong_FromLong(number);
    int status = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return status;
}

static PyObject *numbers_of(const named *entries)
{
    PyObject *made = PyDict_New();
    for (; made && entries->name; entries++)
        if (set(made, entries->name, entries->value) < 0) Py_CLEAR(made);
    return made;
}

/* what a chain notes of an exponent: 0 for any, then those that have rows of their own */
static PyObject *power_rows(void)
{
    PyObject *made = PyDict_New();
    if (made && set(made, "pow_general", 0) < 0) Py_CLEAR(made);
    for (int i = 0; made && i < td_power_row_count; i++)
        if (set(made, td_power_rows[i].name, i + 1) < 0) Py_CLEAR(made);
    return made;
}

int td_add_flags(PyObject *module)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (add(module, tables[i].name, numbers_of(tables[i].entries)) < 0) return -1;
    if (PyModule_AddIntConstant(module, "max_args", TD_MAX_ARGS) < 0) return -1;
    return add(module, "power_rows", power_rows());
}
