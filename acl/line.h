/* The line of the Python program behind a call, for the reports of the simulator's checkers.
 *
 * While a checker is on, every call of the library first finds the frame that is not this package's own, and passes its
 * line on as a text. The texts are kept for ever, because reports refer to them. This happens before the call, with the
 * GIL: inside the library a lock may be held, for which another thread with the GIL waits. */
#ifndef ACL_LINE_H
#define ACL_LINE_H

#include <Python.h>
#include <frameobject.h>
#include <stdio.h>
#include <string.h>

#define LINE_SLOTS 8192 /* remembered instructions, found by a hash; a colliding one replaces the older one */

static const int32_t acl_line_never;
static const int32_t *acl_line_wanted = &acl_line_never; /* in the simulator: not 0 while a checker is on */
static char acl_line_home[4096]; /* the package's folder with a slash: its own frames are skipped */

static struct line_slot {
    PyObject *code; /* a reference, so that its address stays unique */
    int at;
    const char *text; /* NULL: a line of the package itself */
    int is_library;   /* of its objects, which end what they make; pyACL functions in Python are the program's calls */
} line_slots[LINE_SLOTS];

/* The entry of a frame's line, whose text is NULL for a frame of the package, and without memory. */
static const struct line_slot *line_of(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
#if PY_VERSION_HEX >= 0x030B0000
    int at = PyFrame_GetLasti(frame);
#else
    int at = PyFrame_GetLineNumber(frame);
#endif
    struct line_slot *slot = &line_slots[((uintptr_t)code / 16 * 31 + (unsigned)at) % LINE_SLOTS];
    if (slot->code != (PyObject *)code || slot->at != at) {
        const char *file = PyUnicode_AsUTF8(code->co_filename), *name = PyUnicode_AsUTF8(code->co_name);
        char text[1024];
        PyErr_Clear();
        int made = file != NULL && strncmp(file, "<acl.", strlen("<acl.")) == 0; /* compiled by the package */
        int own = made || (file != NULL && acl_line_home[0] != '\0' &&
                           strncmp(file, acl_line_home, strlen(acl_line_home)) == 0);
        snprintf(text, sizeof text, "%s:%d in %s", file != NULL ? file : "?", PyFrame_GetLineNumber(frame),
                 name != NULL ? name : "?");
        Py_INCREF(code);
        Py_XSETREF(slot->code, (PyObject *)code);
        slot->at = at;
        slot->text = own ? NULL : strdup(text);
        const char *inside = own && !made ? file + strlen(acl_line_home) : "";
        slot->is_library = made || strncmp(inside, "objects/", 8) == 0 || strcmp(inside, "nn.py") == 0;
    }
    Py_DECREF(code);
    return slot;
}

static size_t line_raised; /* how many of the findings were looked at for an exception */

/* Called when the findings were forgotten: the next one is the first again. */
static void acl_line_forget(void)
{
    line_raised = 0;
}

/* With on_finding=raise: the class of the exception for the findings that were made since the last call, which collects
 * them, as a new reference; NULL without an exception if there are none. */
static PyObject *line_error(void)
{
    char action[16] = "";
    size_t found = acl_backend.aclsimFindingCount(), since = line_raised;
    line_raised = found; /* fewer than before: C code has them forgotten */
    if (found <= since || acl_backend.aclsimGetConfig("on_finding", action, sizeof action) != 0 ||
        strcmp(action, "raise") != 0)
        return NULL;
    PyObject *module = PyImport_ImportModule("acl.sim.findings");
    PyObject *error = module != NULL ? PyObject_GetAttrString(module, "FindingError") : NULL;
    PyObject *count = PyLong_FromSize_t(since);
    if (error != NULL && (count == NULL || PyObject_SetAttrString(error, "since", count) != 0))
        Py_CLEAR(error);
    PyErr_Clear();
    Py_XDECREF(count);
    Py_XDECREF(module);
    return error;
}

/* For a call that waits, between two slices of its wait: ends it with an exception for new findings, such as a deadlock
 * of the call itself. Returns 0, or -1 with the exception set. */
static int acl_line_interrupt(void)
{
    PyObject *error = *(const volatile int32_t *)acl_line_wanted != 0 ? line_error() : NULL;
    if (error == NULL)
        return 0;
    PyErr_SetNone(error);
    Py_DECREF(error);
    return -1;
}

static void line_find(void)
{
    PyObject *error = line_error();
    if (error != NULL) /* raised when the call in progress has returned */
        PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), error);
    Py_XDECREF(error);
    PyFrameObject *frame = PyEval_GetFrame();
    const struct line_slot *slot = NULL;
    int is_library = 0;
    Py_XINCREF(frame);
    while (frame != NULL && (slot = line_of(frame))->text == NULL) {
        is_library |= slot->is_library;
        PyFrameObject *outer = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = outer;
    }
    acl_backend.aclsimSetLine(frame != NULL ? slot->text : NULL);
    Py_XDECREF(frame);
    acl_backend.aclsimSetLibrary(is_library);
}

static __attribute__((cold, noinline)) void line_note(void)
{
    if (PyGILState_Check()) {
        line_find();
        return;
    }
    PyGILState_STATE state = PyGILState_Ensure();
    line_find();
    PyGILState_Release(state);
}

/* Called before each call of the library. */
static inline void acl_line_note(void)
{
    if (__builtin_expect(*(const volatile int32_t *)acl_line_wanted, 0))
        line_note();
}

/* Called once, when the library is a simulator. `home`: the folder of the package, with a slash. */
static void acl_line_watch(const char *home)
{
    snprintf(acl_line_home, sizeof acl_line_home, "%s", home);
    acl_line_wanted = acl_backend.aclsimWantsLines();
}

#endif
