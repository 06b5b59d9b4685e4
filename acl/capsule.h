/* Capsules of DLPack: named pointers to a record whose deleter is called once, by the consumer or at the capsule's end.
 *
 * In C, because the end may come while an exception is set: NumPy refuses memory of a device only once it has the
 * capsule, by a RuntimeError or (since 2.5) a BufferError, and drops it. The end then says in a BufferError how to get
 * the array, with the consumer's exception as its cause. */
#ifndef ACL_CAPSULE_H
#define ACL_CAPSULE_H

#define CAPSULE_PLAIN "dltensor"
#define CAPSULE_VERSIONED "dltensor_versioned"
#define CAPSULE_REFUSAL "Unsupported device" /* how NumPy's text begins */

/* Where the deleters of the two records of DLPack's ABI lie, and the part of the older one before it. */
struct capsule_versioned {
    uint32_t cv_major, cv_minor;
    void *cv_context;
    void (*cv_deleter)(void *record);
};

struct capsule_tensor {
    void *ct_data;
    int32_t ct_device_type, ct_device_id, ct_rank;
    uint8_t ct_code, ct_bits;
    uint16_t ct_lanes;
    int64_t *ct_shape, *ct_strides;
    uint64_t ct_offset;
};

struct capsule_plain {
    struct capsule_tensor cp_tensor;
    void *cp_context;
    void (*cp_deleter)(void *record);
};

/* Puts a BufferError with the advice in the place of a consumer's refusal. */
static void capsule_explain(PyObject *advice, PyObject **kind, PyObject **value, PyObject **trace)
{
    if (*kind == NULL || advice == NULL)
        return;
    if (!PyErr_GivenExceptionMatches(*kind, PyExc_RuntimeError) &&
        !PyErr_GivenExceptionMatches(*kind, PyExc_BufferError))
        return;
    PyErr_NormalizeException(kind, value, trace);
    PyObject *text = PyObject_Str(*value);
    const char *said = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    int is_refusal = said != NULL && strncmp(said, CAPSULE_REFUSAL, strlen(CAPSULE_REFUSAL)) == 0;
    Py_XDECREF(text);
    PyObject *error = is_refusal ? PyObject_CallOneArg(PyExc_BufferError, advice) : NULL;
    PyErr_Clear();
    if (error == NULL)
        return;
    PyException_SetCause(error, *value); /* takes the reference over */
    Py_DECREF(*kind);
    Py_XDECREF(*trace);
    Py_INCREF(PyExc_BufferError);
    *kind = PyExc_BufferError;
    *value = error;
    *trace = NULL;
}

static void capsule_end(PyObject *capsule)
{
    PyObject *kind, *value, *trace, *advice = PyCapsule_GetContext(capsule);
    PyErr_Fetch(&kind, &value, &trace);
    if (PyCapsule_IsValid(capsule, CAPSULE_VERSIONED)) {
        struct capsule_versioned *record = PyCapsule_GetPointer(capsule, CAPSULE_VERSIONED);
        record->cv_deleter(record);
    } else if (PyCapsule_IsValid(capsule, CAPSULE_PLAIN)) {
        struct capsule_plain *record = PyCapsule_GetPointer(capsule, CAPSULE_PLAIN);
        record->cp_deleter(record);
    } else { /* a consumer has taken the record over */
        Py_CLEAR(advice);
    }
    capsule_explain(advice, &kind, &value, &trace);
    Py_XDECREF(advice);
    PyErr_Restore(kind, value, trace);
}

/* capsule(address, versioned, advice): a capsule over a record; `advice` is None where every consumer takes it. */
static PyObject *capsule_new(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint64_t address;
    (void)self;
    if (pycall_count("capsule", count, 3, 3) != 0 || pycall_u64(args[0], "capsule", 1, &address) != 0)
        return NULL;
    int versioned = PyObject_IsTrue(args[1]);
    if (versioned < 0)
        return NULL;
    PyObject *capsule =
        PyCapsule_New((void *)(uintptr_t)address, versioned ? CAPSULE_VERSIONED : CAPSULE_PLAIN, capsule_end);
    if (capsule != NULL && args[2] != Py_None) {
        Py_INCREF(args[2]);
        PyCapsule_SetContext(capsule, args[2]);
    }
    return capsule;
}

#endif
