/* Operators in two phases: a builtin for each phase, made from the operator's schema at its first use.
 *
 * The self of such a builtin is a module object of its own, whose state is the prepared phase. CPython treats it as a
 * function of a module: it has the right name, help, signature and pickling. A first phase is called by its address
 * through a function with its prototype, from the generated table (acl/phases.py); second phases have one prototype. */
#ifndef ACL_PHASES_H
#define ACL_PHASES_H

#include <stdbool.h>

#define PHASE_MODULE "acl.nnop"

typedef void phase_function(void);

union phase_value {
    uint64_t q;
    int32_t i;
    int8_t c;
    bool b;
    float f;
    double d;
};

typedef aclnnStatus phase_call(phase_function *function, const union phase_value *given, uint64_t *size,
                               void **executor);

#define PHASE_CALL(prototype, types, values)                                                                           \
    static aclnnStatus phase_call_##prototype(phase_function *function, const union phase_value *given,                \
                                              uint64_t *size, void **executor)                                         \
    {                                                                                                                  \
        (void)given;                                                                                                   \
        return ((aclnnStatus(*) types)function)values;                                                                 \
    }
PHASE_PROTOTYPES(PHASE_CALL)

#define PHASE_ROW(prototype, types, values) {#prototype, phase_call_##prototype},
static const struct {
    const char *pr_prototype;
    phase_call *pr_call;
} phase_rows[] = {PHASE_PROTOTYPES(PHASE_ROW)};

/* The texts are those of the tuple, the arguments of phase_new. */
struct phase {
    PyObject *ph_texts;
    const char *ph_title, *ph_kinds;
    phase_function *ph_function;
    phase_call *ph_call; /* NULL: a second phase */
    PyMethodDef ph_method;
};

static int phase_count(const struct phase *phase, Py_ssize_t given, Py_ssize_t expected)
{
    if (given == expected)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s() takes exactly %zd arguments (%zd given)", phase->ph_title, expected, given);
    return -1;
}

/* Reads a truth value: True, False, or a number that converts to 0 or 1. numpy.bool has no __index__, so int()
 * converts it. */
static int phase_truth(PyObject *value, const char *title, int position, int64_t *slot)
{
    if (PyBool_Check(value) || PyFloat_Check(value) || !PyNumber_Check(value))
        return pycall_signed(value, title, position, 0, 1, slot);
    PyObject *number = PyNumber_Long(value);
    if (number == NULL)
        return PyErr_ExceptionMatches(PyExc_TypeError) ? pycall_wrong(title, position, "bool", value) : -1;
    int wrong = pycall_signed(number, title, position, 0, 1, slot);
    Py_DECREF(number);
    return wrong;
}

/* What is neither str nor bytes leaves an optional text out. */
static int phase_text(PyObject *value, const char *title, int position, uint64_t *slot)
{
    const char *text = PyBytes_Check(value) ? PyBytes_AsString(value) : NULL;
    uint64_t length;
    if (PyUnicode_Check(value) && pycall_text(value, title, position, &text, &length) != 0)
        return -1;
    *slot = (uint64_t)(uintptr_t)text;
    return 0;
}

static int phase_read(const struct phase *phase, PyObject *value, int place, union phase_value *slot)
{
    const char *title = phase->ph_title;
    int64_t number = 0;
    double real = 0;
    int wrong = 0;
    switch (phase->ph_kinds[place]) {
    case 'b':
        wrong = phase_truth(value, title, place + 1, &number);
        slot->b = number != 0;
        break;
    case 'c':
        wrong = pycall_signed(value, title, place + 1, INT8_MIN, INT8_MAX, &number);
        slot->c = (int8_t)number;
        break;
    case 'i':
        wrong = pycall_signed(value, title, place + 1, INT32_MIN, INT32_MAX, &number);
        slot->i = (int32_t)number;
        break;
    case 'l':
        wrong = pycall_signed(value, title, place + 1, INT64_MIN, INT64_MAX, &number);
        slot->q = (uint64_t)number;
        break;
    case 'u':
        wrong = pycall_u64(value, title, place + 1, &slot->q);
        slot->i = (int32_t)(uint32_t)slot->q;
        break;
    case 'f':
        wrong = pycall_double(value, title, place + 1, &real);
        slot->f = (float)real;
        break;
    case 'd':
        wrong = pycall_double(value, title, place + 1, &slot->d);
        break;
    case 't':
        wrong = phase_text(value, title, place + 1, &slot->q);
        break;
    default:
        wrong = pycall_u64(value, title, place + 1, &slot->q);
        break;
    }
    return wrong;
}

/* add_get_workspace_size(self, other, alpha, out) -> (workspaceSize, executor, ret) */
static PyObject *phase_first(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    const struct phase *phase = PyModule_GetState(self);
    union phase_value values[PHASE_MOST];
    uint64_t size = 0;
    void *executor = NULL;
    aclnnStatus ret;
    if (phase_count(phase, count, (Py_ssize_t)strlen(phase->ph_kinds)) != 0)
        return NULL;
    for (int place = 0; place < count; place++)
        if (phase_read(phase, args[place], place, &values[place]) != 0)
            return NULL;
    Py_BEGIN_ALLOW_THREADS /* a kernel's plan may be a function of the program */
    ret = phase->ph_call(phase->ph_function, values, &size, &executor);
    Py_END_ALLOW_THREADS
    return pycall_tuple((PyObject *[]){PyLong_FromUnsignedLongLong(size), PyLong_FromVoidPtr(executor),
                                       pycall_status(ret, phase->ph_title)}, 3);
}

/* add(workspace, workspaceSize, executor, stream) -> ret */
static PyObject *phase_second(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    const struct phase *phase = PyModule_GetState(self);
    uint64_t given[4];
    if (phase_count(phase, count, 4) != 0)
        return NULL;
    for (int place = 0; place < 4; place++)
        if (pycall_u64(args[place], phase->ph_title, place + 1, &given[place]) != 0)
            return NULL;
    aclnnStatus (*run)(void *, uint64_t, aclOpExecutor *, aclrtStream) =
        (aclnnStatus(*)(void *, uint64_t, aclOpExecutor *, aclrtStream))phase->ph_function;
    void *workspace = (void *)(uintptr_t)given[0];
    aclOpExecutor *executor = (aclOpExecutor *)(uintptr_t)given[2];
    aclrtStream stream = (aclrtStream)(uintptr_t)given[3];
    aclnnStatus ret;
    if (acl_backend_waits && aclsimIsReady(ACLSIM_WAIT_QUEUE, stream)) {
        ret = run(workspace, given[1], executor, stream);
    } else {
        Py_BEGIN_ALLOW_THREADS
        ret = run(workspace, given[1], executor, stream);
        Py_END_ALLOW_THREADS
    }
    return pycall_status(ret, phase->ph_title);
}

static void phase_free(void *home)
{
    struct phase *phase = PyModule_GetState(home);
    if (phase != NULL)
        Py_CLEAR(phase->ph_texts);
}

static struct PyModuleDef phase_home = {PyModuleDef_HEAD_INIT, PHASE_MODULE, NULL, sizeof(struct phase), NULL, NULL,
                                        NULL, NULL, phase_free};

/* phase(title, document, kinds, prototype, function): the builtin of a phase. A second phase has no prototype. */
static PyObject *phase_new(PyObject *self, PyObject *arguments)
{
    const char *title, *document, *kinds, *prototype;
    unsigned long long function;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "ssszK:phase", &title, &document, &kinds, &prototype, &function))
        return NULL;
    phase_call *call = NULL;
    for (size_t i = 0; prototype != NULL && i < sizeof phase_rows / sizeof phase_rows[0]; i++)
        if (strcmp(phase_rows[i].pr_prototype, prototype) == 0)
            call = phase_rows[i].pr_call;
    if (prototype != NULL && call == NULL) {
        PyErr_Format(PyExc_SystemError, "%s() has the unknown prototype %s: build the package again", title, prototype);
        return NULL;
    }
    PyObject *home = PyModule_Create(&phase_home), *module = PyUnicode_FromString(PHASE_MODULE), *made = NULL;
    if (home != NULL && module != NULL) {
        struct phase *phase = PyModule_GetState(home);
        Py_INCREF(arguments);
        *phase = (struct phase){.ph_texts = arguments,
                                .ph_title = title,
                                .ph_kinds = kinds,
                                .ph_function = (phase_function *)(uintptr_t)function,
                                .ph_call = call,
                                .ph_method = {title + sizeof PHASE_MODULE,
                                              (PyCFunction)(void (*)(void))(call != NULL ? phase_first : phase_second),
                                              METH_FASTCALL, document}};
        made = PyCFunction_NewEx(&phase->ph_method, home, module);
    }
    Py_XDECREF(home);
    Py_XDECREF(module);
    return made;
}

#endif
