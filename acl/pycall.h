/* Conversions between Python objects and C slots for the generated pyACL calls.
 *
 * Every pycall_* reader returns 0, or -1 with a Python exception set. A wrong type is always a TypeError that names the
 * function and the argument, also where CPython itself would raise OverflowError. */
#ifndef ACL_PYCALL_H
#define ACL_PYCALL_H

#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int pycall_wrong(const char *function, int position, const char *expected, PyObject *value)
{
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s() argument %d must be %s, not '%s'", function, position, expected,
                 Py_TYPE(value)->tp_name);
    return -1;
}

static int pycall_count(const char *function, Py_ssize_t given, Py_ssize_t least, Py_ssize_t most)
{
    if (given >= least && given <= most)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s() takes %s%zd positional argument%s but %zd %s given", function,
                 least == most ? "" : "up to ", most, most == 1 ? "" : "s", given, given == 1 ? "was" : "were");
    return -1;
}

/* The digits of an exact int, and how many: negative for a negative int. Handles and addresses have at most two, which
 * CPython has no function to read without a call. Versions with another layout use the calls. */
#if PY_VERSION_HEX >= 0x030F0000
#define PYCALL_DIGITS(value) ((const digit *)NULL)
#define PYCALL_SIZE(value) (-1)
#elif PY_VERSION_HEX >= 0x030C0000
#define PYCALL_DIGITS(value) (((PyLongObject *)(value))->long_value.ob_digit)
#define PYCALL_TAG(value) (((PyLongObject *)(value))->long_value.lv_tag)
#define PYCALL_SIZE(value)                                                                                             \
    ((PYCALL_TAG(value) & _PyLong_SIGN_MASK) == 2 ? -1 : (Py_ssize_t)(PYCALL_TAG(value) >> _PyLong_NON_SIZE_BITS))
#else
#define PYCALL_DIGITS(value) (((PyLongObject *)(value))->ob_digit)
#define PYCALL_SIZE(value) Py_SIZE(value)
#endif

/* Reads an exact int from 0 to 2**60 - 1 and returns 1; returns 0 for every other object. */
static inline int pycall_short(PyObject *value, uint64_t *slot)
{
    if (!PyLong_CheckExact(value))
        return 0;
    const digit *digits = PYCALL_DIGITS(value);
    switch (PYCALL_SIZE(value)) {
    case 0:
        *slot = 0;
        return 1;
    case 1:
        *slot = digits[0];
        return 1;
    case 2:
        *slot = digits[0] | (uint64_t)digits[1] << PyLong_SHIFT;
        return 1;
    default:
        return 0;
    }
}

static int pycall_u64_of(PyObject *value, const char *function, int position, uint64_t *slot)
{
    PyObject *index = PyNumber_Index(value);
    if (index == NULL)
        return PyErr_ExceptionMatches(PyExc_TypeError) ? pycall_wrong(function, position, "int", value) : -1;
    *slot = PyLong_AsUnsignedLongLongMask(index);
    Py_DECREF(index);
    return 0;
}

static int pycall_signed_of(PyObject *value, const char *function, int position, int64_t low, int64_t high,
                            int64_t *slot)
{
    int overflow = 0;
    PyObject *index = PyNumber_Index(value);
    if (index == NULL)
        return PyErr_ExceptionMatches(PyExc_TypeError) ? pycall_wrong(function, position, "int", value) : -1;
    *slot = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow != 0 || *slot < low || *slot > high) {
        PyErr_Format(PyExc_TypeError, "%s() argument %d must be an int from %lld to %lld, not %R", function, position,
                     (long long)low, (long long)high, value);
        return -1;
    }
    return 0;
}

/* Unsigned slots take every integer and keep its low bits: -1 is "all bits set". */
static inline int pycall_u64(PyObject *value, const char *function, int position, uint64_t *slot)
{
    return pycall_short(value, slot) ? 0 : pycall_u64_of(value, function, position, slot);
}

/* Signed slots hold what fits between low, which is at most 0, and high, and refuse the rest. */
static inline int pycall_signed(PyObject *value, const char *function, int position, int64_t low, int64_t high,
                                int64_t *slot)
{
    uint64_t found;
    if (!pycall_short(value, &found) || found > (uint64_t)high)
        return pycall_signed_of(value, function, position, low, high, slot);
    *slot = (int64_t)found;
    return 0;
}

static inline int pycall_double(PyObject *value, const char *function, int position, double *slot)
{
    *slot = PyFloat_AsDouble(value);
    if (*slot == -1.0 && PyErr_Occurred())
        return pycall_wrong(function, position, "float", value);
    return 0;
}

/* The text stays owned by the Python object, which the caller of the builtin keeps alive. */
static inline int pycall_text(PyObject *value, const char *function, int position, const char **slot,
                              uint64_t *length)
{
    Py_ssize_t size = 0;
    if (!PyUnicode_Check(value))
        return pycall_wrong(function, position, "str", value);
    *slot = PyUnicode_AsUTF8AndSize(value, &size);
    if (*slot == NULL)
        return -1;
    if (strlen(*slot) != (size_t)size) {
        PyErr_Format(PyExc_ValueError, "%s() argument %d must not contain a null character", function, position);
        return -1;
    }
    *length = (uint64_t)size;
    return 0;
}

/* Kinds of list items: the generated call names one with the size of the C element. */
enum pycall_kind { PYCALL_UNSIGNED, PYCALL_SIGNED, PYCALL_FLOAT, PYCALL_TEXT };

static int pycall_item(PyObject *item, const char *function, int position, enum pycall_kind kind, size_t size,
                       char *slot)
{
    uint64_t wide = 0;
    int64_t narrow = 0;
    double number = 0;
    const char *text = NULL;
    int64_t high = size == 8 ? INT64_MAX : ((int64_t)1 << (8 * size - 1)) - 1;

    switch (kind) {
    case PYCALL_TEXT:
        if (pycall_text(item, function, position, &text, &wide) != 0)
            return -1;
        memcpy(slot, &text, sizeof text);
        return 0;
    case PYCALL_FLOAT:
        if (pycall_double(item, function, position, &number) != 0)
            return -1;
        if (size == sizeof(float)) {
            float single = (float)number;
            memcpy(slot, &single, sizeof single);
        } else {
            memcpy(slot, &number, sizeof number);
        }
        return 0;
    case PYCALL_SIGNED:
        if (pycall_signed(item, function, position, -high - 1, high, &narrow) != 0)
            return -1;
        wide = (uint64_t)narrow;
        break;
    case PYCALL_UNSIGNED:
        if (size == 1) {
            if (pycall_signed(item, function, position, 0, UINT8_MAX, &narrow) != 0)
                return -1;
            wide = (uint64_t)narrow;
        } else if (pycall_u64(item, function, position, &wide) != 0) {
            return -1;
        }
        break;
    }
    memcpy(slot, &wide, size); /* the low bytes: every platform of this project is little endian */
    return 0;
}

/* A list becomes a C array of `width` numbers an item (1: the items are numbers, 2: they are pairs). The block is
 * always real memory, so an empty list is a valid pointer with count 0; the generated call frees it. */
static int pycall_list(PyObject *value, const char *function, int position, enum pycall_kind kind, size_t size,
                       Py_ssize_t width, void **block, uint64_t *count)
{
    char *out;
    if (!PyList_Check(value))
        return pycall_wrong(function, position, "list", value);
    Py_ssize_t length = PyList_Size(value);
    out = PyMem_Calloc((size_t)(length * width) + 1, size);
    if (out == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *block = out;
    *count = (uint64_t)length;
    for (Py_ssize_t i = 0; i < length && i < PyList_Size(value); i++) {
        PyObject *item = PyList_GetItem(value, i);
        if (width == 1) {
            if (pycall_item(item, function, position, kind, size, out + (size_t)i * size) != 0)
                return -1;
            continue;
        }
        if (!PyList_Check(item) || PyList_Size(item) != width) {
            PyErr_Format(PyExc_TypeError, "%s() argument %d must be a list of lists of %zd int, item %zd is %R",
                         function, position, width, i, item);
            return -1;
        }
        for (Py_ssize_t j = 0; j < width; j++) {
            size_t place = (size_t)(i * width + j) * size;
            if (pycall_item(PyList_GetItem(item, j), function, position, kind, size, out + place) != 0)
                return -1;
        }
    }
    return 0;
}

/* Nearly every status is 0: its object is made once. */
static PyObject *pycall_zero;

static inline PyObject *pycall_from_int(long long value)
{
    if (value != 0)
        return PyLong_FromLongLong(value);
    Py_INCREF(pycall_zero);
    return pycall_zero;
}

/* With acl.sim.strict: a function that makes, of the code and the function's name, an int that reports itself unless
 * the program looks at it. */
static PyObject *pycall_strict;

static __attribute__((cold, noinline)) PyObject *pycall_failed(long long code, const char *function)
{
    if (pycall_strict == NULL)
        return PyLong_FromLongLong(code);
    return PyObject_CallFunction(pycall_strict, "Ls", code, function);
}

/* The status of a pyACL call. */
static inline PyObject *pycall_status(long long code, const char *function)
{
    return code != 0 ? pycall_failed(code, function) : pycall_from_int(0);
}

static inline PyObject *pycall_from_text(const char *text)
{
    if (text == NULL)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* Build the flat tuple of a call; takes over the references, also when it fails. */
static PyObject *pycall_tuple(PyObject **items, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    int whole = tuple != NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        whole = whole && items[i] != NULL;
        if (tuple != NULL && items[i] != NULL)
            PyTuple_SET_ITEM(tuple, i, items[i]);
        else
            Py_XDECREF(items[i]);
    }
    if (!whole)
        Py_CLEAR(tuple);
    return tuple;
}

/* Calls with dicts, callables and filled lists: the generated builtin checks the plain arguments and hands over to a
 * function of acl/api. Arguments of these kinds pass as they are, once their type is right. */
static int pycall_object(PyObject *value, const char *function, int position, const char *expected, int right)
{
    return right ? 0 : pycall_wrong(function, position, expected, value);
}

static inline PyObject *pycall_new(PyObject *value)
{
    Py_INCREF(value);
    return value;
}

/* The same for what a hand-written call returned: its status, or a tuple that ends with it. Takes over the
 * reference. */
static PyObject *pycall_checked(PyObject *result, const char *function)
{
    if (pycall_strict == NULL || result == NULL)
        return result;
    Py_ssize_t last = PyTuple_Check(result) ? PyTuple_GET_SIZE(result) - 1 : -1;
    PyObject *status = last < 0 ? result : PyTuple_GET_ITEM(result, last);
    int failed = PyLong_CheckExact(status) && PyObject_IsTrue(status);
    PyObject *code = failed ? pycall_failed(PyLong_AsLongLong(status), function) : NULL;
    if (code == NULL) {
        if (failed)
            Py_CLEAR(result);
        return result;
    }
    if (last >= 0) {
        PyObject *whole = PyTuple_New(last + 1);
        for (Py_ssize_t place = 0; whole != NULL && place <= last; place++)
            PyTuple_SET_ITEM(whole, place, pycall_new(place == last ? code : PyTuple_GET_ITEM(result, place)));
        Py_DECREF(code);
        code = whole;
    }
    Py_DECREF(result);
    return code;
}

/* The body of a hand-written call, looked up when it is first used. Takes over the references of the arguments. */
static PyObject *pycall_body(PyObject **body, const char *module, const char *name, PyObject **arguments,
                             Py_ssize_t count)
{
    PyObject *result = NULL;
    PyObject *packed = pycall_tuple(arguments, count);
    if (packed == NULL)
        return NULL;
    if (*body == NULL) {
        PyObject *home = PyImport_ImportModule(module);
        if (home != NULL) {
            *body = PyObject_GetAttrString(home, name);
            Py_DECREF(home);
        }
    }
    if (*body != NULL)
        result = PyObject_CallObject(*body, packed);
    Py_DECREF(packed);
    return result;
}

/* Ctrl-C and exit. On Python's main thread a blocking call of the simulator waits in slices, with the signals served
 * between; a thread that serves callbacks leaves its loop by SystemExit once the interpreter is going down. */
#define PYCALL_SLICE_MS 50
static unsigned long pycall_main_thread;
static volatile int pycall_exiting;

/* True when the blocking call may be made now: it returns at once, or nothing is lost when it blocks. Called without
 * the GIL; -1 milliseconds are for ever. The call gets all of them: the simulator takes off what the slices took. */
static inline int pycall_ready(int kind, void *handle, int64_t milliseconds)
{
    if (!acl_backend_waits || (kind != ACLSIM_WAIT_REPORT && PyThread_get_thread_ident() != pycall_main_thread))
        return 1;
    if (milliseconds != -1 && milliseconds <= PYCALL_SLICE_MS)
        return 1;
    return aclsimWaitSlice((aclsimWaitKind)kind, handle, PYCALL_SLICE_MS, (int32_t)milliseconds) != 0;
}

/* The call was made, or given up: later ones have nothing to do with its slices. */
static inline void pycall_waited(void)
{
    if (acl_backend_waits)
        aclsimIsReady(ACLSIM_WAIT_NOTHING, NULL);
}

static int pycall_interrupted(void)
{
    if (pycall_exiting && PyThread_get_thread_ident() != pycall_main_thread) {
        PyErr_SetNone(PyExc_SystemExit);
        return -1;
    }
    return PyErr_CheckSignals() != 0 ? -1 : acl_line_interrupt();
}

/* The instance into which a stream is captured, or NULL. */
static aclmdlRI pycall_instance(uint64_t stream)
{
    static int can_capture = -1; /* the functions of the library do not change once it is open */
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI instance = NULL;
    aclError ret = 0;
    if (can_capture < 0)
        can_capture = acl_backend_has("aclmdlRICaptureGetInfo");
    if (can_capture && stream != 0) {
        if (acl_backend_waits && aclsimIsReady(ACLSIM_WAIT_NOTHING, NULL)) {
            ret = aclmdlRICaptureGetInfo((aclrtStream)(uintptr_t)stream, &status, &instance);
        } else {
            Py_BEGIN_ALLOW_THREADS
            ret = aclmdlRICaptureGetInfo((aclrtStream)(uintptr_t)stream, &status, &instance);
            Py_END_ALLOW_THREADS
        }
    }
    return ret != 0 || status == ACL_MODEL_RI_CAPTURE_STATUS_NONE ? NULL : instance;
}

/* capturing_into(stream): the instance into which the stream is captured, or 0. */
static PyObject *pycall_capturing_into(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint64_t stream;
    (void)self;
    if (pycall_count("capturing_into", count, 1, 1) != 0 || pycall_u64(args[0], "capturing_into", 1, &stream) != 0)
        return NULL;
    return PyLong_FromUnsignedLongLong((uintptr_t)pycall_instance(stream));
}

static void acl_on_callback(void *number);

/* With three arguments for the thread that serves the stream, with two for the callback thread of the context. */
static aclError pycall_queue(const uint64_t given[3], Py_ssize_t count)
{
    void *number = (void *)(uintptr_t)given[0];
    aclrtStream stream = (aclrtStream)(uintptr_t)given[1];
    return count == 3 ? aclrtLaunchCallback(acl_on_callback, number, (aclrtCallbackBlockType)given[2], stream)
                      : aclrtLaunchHostFunc(stream, acl_on_callback, number);
}

/* launch(number, stream[, block_type]): queues the Python callback with this number. */
static PyObject *pycall_launch(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint64_t given[3] = {0};
    aclError ret = 0;
    (void)self;
    if (pycall_count("launch", count, 2, 3) != 0)
        return NULL;
    for (Py_ssize_t place = 0; place < count; place++)
        if (pycall_u64(args[place], "launch", (int)place + 1, &given[place]) != 0)
            return NULL;
    if (acl_backend_waits && aclsimIsReady(ACLSIM_WAIT_QUEUE, (void *)(uintptr_t)given[1])) {
        ret = pycall_queue(given, count);
    } else {
        Py_BEGIN_ALLOW_THREADS
        ret = pycall_queue(given, count);
        Py_END_ALLOW_THREADS
    }
    return pycall_from_int(ret);
}

/* strict(function or None): sets the function that makes codes. */
static PyObject *pycall_set_strict(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (pycall_count("strict", count, 1, 1) != 0)
        return NULL;
    PyObject *old = pycall_strict;
    pycall_strict = args[0] == Py_None ? NULL : pycall_new(args[0]);
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

/* unraisable(exception, origin): what a callback raised goes to sys.unraisablehook. */
static PyObject *pycall_unraisable(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (pycall_count("unraisable", count, 2, 2) != 0)
        return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(args[0]), args[0]);
    PyErr_WriteUnraisable(args[1]);
    Py_RETURN_NONE;
}

#include "capsule.h"
#include "phases.h"

static PyMethodDef pycall_own_methods[] = {
    {"capsule", (PyCFunction)(void (*)(void))capsule_new, METH_FASTCALL, NULL},
    {"capturing_into", (PyCFunction)(void (*)(void))pycall_capturing_into, METH_FASTCALL, NULL},
    {"launch", (PyCFunction)(void (*)(void))pycall_launch, METH_FASTCALL, NULL},
    {"phase", phase_new, METH_VARARGS, NULL},
    {"strict", (PyCFunction)(void (*)(void))pycall_set_strict, METH_FASTCALL, NULL},
    {"unraisable", (PyCFunction)(void (*)(void))pycall_unraisable, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

/* Executors of model files in Python. Their module, which the program does not need before, is imported when the first
 * such model is loaded; it sets the function that runs them all. The flag orders that store for other threads. */
static aclsimModelFunc acl_executor;

static aclError pycall_execute(const aclsimModelRun *run)
{
    static atomic_bool is_imported;
    if (!atomic_load(&is_imported)) {
        PyGILState_STATE state = PyGILState_Ensure();
        PyObject *home = PyImport_ImportModule("acl.api.model_executors");
        if (home == NULL)
            PyErr_WriteUnraisable(NULL);
        else
            atomic_store(&is_imported, true);
        Py_XDECREF(home);
        PyGILState_Release(state);
        if (home == NULL)
            return ACL_ERROR_GE_PARAM_INVALID;
    }
    return acl_executor(run);
}

/* They find the kind of the file in their user data. */
static void pycall_register_executors(void)
{
    static const char *const kinds[] = {"onnx", "affine"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        aclsimRegisterExecutor(kinds[i], pycall_execute, (void *)(uintptr_t)kinds[i]);
}

static int pycall_install(const char *name, PyMethodDef *methods)
{
    PyObject *module = PyImport_ImportModule(name);
    if (pycall_zero == NULL)
        pycall_zero = PyLong_FromLong(0);
    int done = module != NULL && pycall_zero != NULL && PyModule_AddFunctions(module, methods) == 0;
    Py_XDECREF(module);
    return done;
}

#endif
