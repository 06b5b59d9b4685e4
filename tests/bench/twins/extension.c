/* An extension module whose functions do nothing: what a call from Python costs at least. Each returns a status, the
 * second one two values; arguments are converted as those of the bound functions are. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *status(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyLong_AsUnsignedLongLong(arguments[i]) == (unsigned long long)-1 && PyErr_Occurred())
            return NULL;
    }
    return PyLong_FromLong(0);
}

static PyObject *output(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *code = status(module, arguments, count), *value, *both = NULL;
    if (code == NULL)
        return NULL;
    value = PyLong_FromUnsignedLongLong(1ull << 40);
    if (value != NULL)
        both = PyTuple_Pack(2, value, code);
    Py_XDECREF(value);
    Py_DECREF(code);
    return both;
}

static PyMethodDef functions[] = {
    {"status", (PyCFunction)(void (*)(void))status, METH_FASTCALL, NULL},
    {"output", (PyCFunction)(void (*)(void))output, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "extension", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_extension(void)
{
    return PyModule_Create(&module);
}
