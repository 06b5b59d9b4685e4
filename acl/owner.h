/* The base of the objects in C: what each of them does when it is made and dropped, and all of the life of an event and
 * of a buffer without a block.
 *
 * An Owner has two slots, which acl/objects/resource.py explains: the handle, and the opening of the device it lives
 * with (None: borrowed or closed). Its finalizer calls _drop() where the handle is still owned, and costs nothing
 * elsewhere. Events are made by the million, and Python would take longer to make and close one than the library does;
 * so the class in acl/objects/event.py is built on an EventOwner. A Buffer is built on a BufferOwner in the same
 * way: it has a block (acl/objects/memory_block.py) only once something needs one, and Python does the rest.
 *
 * Slots are swapped in a critical section, so that two threads which close one event at once destroy it once where
 * there is no GIL, too. */
#ifndef ACL_OWNER_H
#define ACL_OWNER_H

#include <structmember.h>

#if PY_VERSION_HEX >= 0x030D0000
#define OWNER_BEGIN(self) Py_BEGIN_CRITICAL_SECTION(self)
#define OWNER_END() Py_END_CRITICAL_SECTION()
#define owner_exiting Py_IsFinalizing
#else
#define OWNER_BEGIN(self) {
#define OWNER_END() }
#define owner_exiting _Py_IsFinalizing
#endif

/* Names that are looked up, made once. */
static PyObject *owner_drop, *owner_live, *owner_single, *owner_closed;
static PyTypeObject *owner_type;

struct owner {
    PyObject_HEAD
    PyObject *ow_handle, *ow_opening, *ow_weak;
};

static int owner_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct owner *owner = (struct owner *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(owner->ow_handle);
    Py_VISIT(owner->ow_opening);
    return 0;
}

static int owner_clear(PyObject *self)
{
    struct owner *owner = (struct owner *)self;
    Py_CLEAR(owner->ow_handle);
    Py_CLEAR(owner->ow_opening);
    return 0;
}

/* When the process ends, the handle ends with it. */
static void owner_finalize(PyObject *self)
{
    struct owner *owner = (struct owner *)self;
    PyObject *kind, *value, *trace;
    if (owner->ow_opening == NULL || owner->ow_opening == Py_None || owner_exiting())
        return;
    PyErr_Fetch(&kind, &value, &trace);
    PyObject *done = PyObject_CallMethodObjArgs(self, owner_drop, NULL);
    if (done == NULL)
        PyErr_WriteUnraisable(self);
    Py_XDECREF(done);
    PyErr_Restore(kind, value, trace);
}

static void owner_end(PyObject *self, inquiry clear)
{
    PyTypeObject *type = Py_TYPE(self);
    if (PyObject_CallFinalizerFromDealloc(self) < 0)
        return;
    PyObject_GC_UnTrack(self);
    if (((struct owner *)self)->ow_weak != NULL)
        PyObject_ClearWeakRefs(self);
    clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static void owner_dealloc(PyObject *self)
{
    owner_end(self, owner_clear);
}

static PyMemberDef owner_members[] = {
    {"_handle", T_OBJECT_EX, offsetof(struct owner, ow_handle), 0, NULL},
    {"_opening", T_OBJECT_EX, offsetof(struct owner, ow_opening), 0, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct owner, ow_weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot owner_slots[] = {
    {Py_tp_doc, "The two slots of an object with a handle, and its finalizer."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_traverse, owner_traverse},
    {Py_tp_clear, owner_clear},
    {Py_tp_finalize, owner_finalize},
    {Py_tp_dealloc, owner_dealloc},
    {Py_tp_members, owner_members},
    {0, NULL},
};

static PyType_Spec owner_spec = {
    "acl._lib.Owner", sizeof(struct owner), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    owner_slots,
};

/* acl.objects.resource: borrowed, and kept for good. */
static PyObject *owner_module(void)
{
    static PyObject *home;
    if (home == NULL)
        home = PyImport_ImportModule("acl.objects.resource");
    return home;
}

/* Raises the error of a status code. */
static void owner_failed(aclError ret, const char *function)
{
    PyObject *home = owner_module();
    Py_XDECREF(home == NULL ? NULL : PyObject_CallMethod(home, "fail", "is", (int)ret, function));
}

/* The opening of the thread's device: a new reference. Where there is one device, its opening is known. */
static PyObject *owner_opening(void)
{
    PyObject *home = owner_module(), *found = NULL;
    if (home == NULL)
        return NULL;
#if PY_VERSION_HEX >= 0x030D0000
    if (PyDict_GetItemRef(PyModule_GetDict(home), owner_single, &found) < 0)
        return NULL;
#else
    found = PyDict_GetItemWithError(PyModule_GetDict(home), owner_single);
    Py_XINCREF(found);
#endif
    if (found != NULL && found != Py_None)
        return found;
    Py_XDECREF(found);
    return PyErr_Occurred() ? NULL : PyObject_CallMethod(home, "current_opening", NULL);
}

/* Puts two objects into the slots and gives what was there; takes over and hands out the references. */
static void owner_swap(PyObject *self, PyObject **handle, PyObject **opening)
{
    struct owner *owner = (struct owner *)self;
    OWNER_BEGIN(self);
    PyObject *old_handle = owner->ow_handle, *old_opening = owner->ow_opening;
    owner->ow_handle = *handle;
    owner->ow_opening = *opening;
    *handle = old_handle;
    *opening = old_opening;
    OWNER_END();
}

/* Runs a call of the library that neither waits nor takes long; the interpreter is given away where that is not
 * known. */
#define OWNER_CALL(call)                                                                                               \
    do {                                                                                                               \
        if (acl_backend_waits && aclsimIsReady(ACLSIM_WAIT_NOTHING, NULL)) {                                           \
            call;                                                                                                      \
        } else {                                                                                                       \
            Py_BEGIN_ALLOW_THREADS call;                                                                               \
            Py_END_ALLOW_THREADS                                                                                       \
        }                                                                                                              \
    } while (0)

enum { OWNER_SYNC = 1, OWNER_TIMED = 9, OWNER_INTERPROCESS = 64, OWNER_GONE = ACL_ERROR_RT_INVALID_HANDLE };

static int event_init(PyObject *self, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"timing", "gate", "interprocess", NULL};
    int timing = 1, gate = 0, interprocess = 0;
    aclrtEvent event = NULL;
    aclError ret = 0;
    if ((named != NULL || PyTuple_GET_SIZE(arguments) != 0) &&
        !PyArg_ParseTupleAndKeywords(arguments, named, "|$ppp:acl.Event", names, &timing, &gate, &interprocess))
        return -1;
    if (((struct owner *)self)->ow_handle != NULL) {
        PyErr_SetString(PyExc_TypeError, "acl.Event: __init__ was already called; create another event");
        return -1;
    }
    uint32_t flag = interprocess && !gate ? OWNER_INTERPROCESS : timing ? OWNER_TIMED : OWNER_SYNC;
    if (gate)
        OWNER_CALL(ret = aclrtCreateEventWithFlag(&event, flag));
    else
        OWNER_CALL(ret = aclrtCreateEventExWithFlag(&event, flag));
    if (ret != 0) {
        owner_failed(ret, gate ? "aclrtCreateEventWithFlag" : "aclrtCreateEventExWithFlag");
        return -1;
    }
    PyObject *opening = owner_opening(), *handle = opening == NULL ? NULL : PyLong_FromVoidPtr(event);
    if (handle == NULL) {
        Py_XDECREF(opening);
        OWNER_CALL(aclrtDestroyEvent(event));
        return -1;
    }
    owner_swap(self, &handle, &opening);
    Py_XDECREF(handle);
    Py_XDECREF(opening);
    return 0;
}

/* Destroys what was taken out of the slots: 0, or -1 with an exception. */
static int event_destroy(PyObject *handle, PyObject *opening)
{
    PyObject *said = PyObject_GetAttr(opening, owner_live);
    int live = said == NULL ? -1 : PyObject_IsTrue(said);
    Py_XDECREF(said);
    if (live <= 0)
        return live;
    aclError ret = 0;
    aclrtEvent event = PyLong_AsVoidPtr(handle);
    if (event == NULL && PyErr_Occurred())
        return -1;
    OWNER_CALL(ret = aclrtDestroyEvent(event));
    if (ret == 0 || ret == OWNER_GONE)
        return 0;
    owner_failed(ret, "aclrtDestroyEvent");
    return -1;
}

/* What stands in the place of a closed event's handle: borrowed. */
static PyObject *event_closed(void)
{
    static PyObject *closed;
    if (closed == NULL) {
        PyObject *home = PyImport_ImportModule("acl.objects.event");
        closed = home == NULL ? NULL : PyObject_GetAttrString(home, "CLOSED");
        Py_XDECREF(home);
    }
    return closed;
}

static PyObject *event_close(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    PyObject *handle = event_closed(), *opening = Py_None;
    int done = 0;
    if (handle == NULL)
        return NULL;
    Py_INCREF(handle);
    Py_INCREF(opening);
    owner_swap(self, &handle, &opening);
    if (handle != NULL && opening != NULL && opening != Py_None)
        done = event_destroy(handle, opening);
    if (done != 0) /* it is still there: a later close tries again */
        owner_swap(self, &handle, &opening);
    Py_XDECREF(handle);
    Py_XDECREF(opening);
    if (done != 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef event_methods[] = {
    {"close", event_close, METH_NOARGS,
     "close($self, /)\n--\n\nDestroy the event; queued waits for it stay valid. Closing it again does nothing."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot event_slots[] = {
    {Py_tp_doc, "EventOwner(*, timing=True, gate=False, interprocess=False)\n--\n\nThe base class of acl.Event."},
    {Py_tp_init, event_init},
    {Py_tp_methods, event_methods},
    {0, NULL},
};

static PyType_Spec event_spec = {
    "acl._lib.EventOwner", sizeof(struct owner), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, event_slots,
};

/* --- Buffers */

struct buffer {
    struct owner bu_owner;
    PyObject *bu_shared, *bu_nbytes; /* the block, None before there is one; the size */
};

static int buffer_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct buffer *buffer = (struct buffer *)self;
    Py_VISIT(buffer->bu_shared);
    Py_VISIT(buffer->bu_nbytes);
    return owner_traverse(self, visit, arg);
}

static int buffer_clear(PyObject *self)
{
    struct buffer *buffer = (struct buffer *)self;
    Py_CLEAR(buffer->bu_shared);
    Py_CLEAR(buffer->bu_nbytes);
    return owner_clear(self);
}

static void buffer_dealloc(PyObject *self)
{
    owner_end(self, buffer_clear);
}

/* A list of a module, kept for good. */
static PyObject *buffer_list(PyObject **list, const char *module, const char *name)
{
    if (*list == NULL) {
        PyObject *home = PyImport_ImportModule(module);
        *list = home == NULL ? NULL : PyObject_GetAttrString(home, name);
        Py_XDECREF(home);
    }
    return *list;
}

/* Allocates usual device memory. Other memory, and memory after the release of other work's, is left to Python. */
static int buffer_init(PyObject *self, PyObject *arguments, PyObject *named)
{
    static PyObject *retired;
    struct buffer *buffer = (struct buffer *)self;
    PyObject *size, *made;
    uint64_t bytes = 0;
    void *address = NULL;
    aclError ret = 0;
    if (buffer_list(&retired, "acl.objects.resource", "retired") == NULL)
        return -1;
    size = PyTuple_GET_SIZE(arguments) == 1 && named == NULL ? PyTuple_GET_ITEM(arguments, 0) : NULL;
    if (size == NULL || !pycall_short(size, &bytes) || bytes == 0 || PyList_GET_SIZE(retired) != 0) {
        PyObject *make = PyObject_GetAttrString(self, "_make");
        made = make == NULL ? NULL : PyObject_Call(make, arguments, named);
        Py_XDECREF(make);
        Py_XDECREF(made);
        return made == NULL ? -1 : 0;
    }
    OWNER_CALL(ret = aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    PyObject *handle =
        ret == 0 ? PyLong_FromVoidPtr(address) : PyObject_CallMethod(self, "_again", "Oi", size, (int)ret);
    PyObject *opening = handle == NULL ? NULL : owner_opening();
    if (opening == NULL) {
        if (handle != NULL)
            address = PyLong_AsVoidPtr(handle);
        Py_XDECREF(handle);
        if (address != NULL)
            OWNER_CALL(aclrtFree(address));
        return -1;
    }
    PyObject *shared = pycall_new(Py_None), *nbytes = pycall_new(size);
    OWNER_BEGIN(self);
    made = buffer->bu_shared;
    buffer->bu_shared = shared;
    size = buffer->bu_nbytes;
    buffer->bu_nbytes = nbytes;
    OWNER_END();
    owner_swap(self, &handle, &opening);
    Py_XDECREF(made);
    Py_XDECREF(size);
    Py_XDECREF(handle);
    Py_XDECREF(opening);
    return 0;
}

/* Frees memory that has no block, so that nothing uses it. While callbacks run (acl/_calls.py), Python finds out
 * whether this is one. */
static PyObject *buffer_close(PyObject *self, PyObject *nothing)
{
    static PyObject *running;
    struct owner *owner = (struct owner *)self;
    PyObject *opening = Py_None;
    (void)nothing;
    if (buffer_list(&running, "acl._calls", "running") == NULL)
        return NULL;
    PyObject *handle = PyObject_GetAttr(self, owner_closed);
    if (handle == NULL)
        return NULL;
    int is_quick = 0, live = 0;
    Py_INCREF(opening);
    OWNER_BEGIN(self);
    is_quick = ((struct buffer *)self)->bu_shared == Py_None && owner->ow_handle != NULL &&
               owner->ow_opening != NULL && owner->ow_opening != Py_None && PyList_GET_SIZE(running) == 0;
    if (is_quick) {
        PyObject *old_handle = owner->ow_handle, *old_opening = owner->ow_opening;
        owner->ow_handle = handle;
        owner->ow_opening = opening;
        handle = old_handle;
        opening = old_opening;
    }
    OWNER_END();
    if (is_quick) {
        PyObject *said = PyObject_GetAttr(opening, owner_live);
        live = said == NULL ? -1 : PyObject_IsTrue(said);
        Py_XDECREF(said);
    }
    if (live > 0) { /* the status is of no use: memory that the library no longer knows was freed with its device */
        uint64_t address = 0;
        if (pycall_short(handle, &address))
            OWNER_CALL(aclrtFree((void *)(uintptr_t)address));
    }
    Py_DECREF(handle);
    Py_DECREF(opening);
    if (!is_quick)
        return PyObject_CallMethod(self, "_close", NULL);
    if (live < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef buffer_methods[] = {
    {"close", buffer_close, METH_NOARGS,
     "close($self, /)\n--\n\nRelease the memory; closing again does nothing.\n\nIt is freed (``aclrtFree``) when it "
     "has no other holder and the work that is registered with it is done."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef buffer_members[] = {
    {"_shared", T_OBJECT_EX, offsetof(struct buffer, bu_shared), 0, NULL},
    {"nbytes", T_OBJECT_EX, offsetof(struct buffer, bu_nbytes), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot buffer_slots[] = {
    {Py_tp_doc, "BufferOwner(size, *, kind='device', policy='huge_first')\n--\n\nThe base class of "
                "acl.Buffer."},
    {Py_tp_init, buffer_init},
    {Py_tp_traverse, buffer_traverse},
    {Py_tp_clear, buffer_clear},
    {Py_tp_dealloc, buffer_dealloc},
    {Py_tp_methods, buffer_methods},
    {Py_tp_members, buffer_members},
    {0, NULL},
};

static PyType_Spec buffer_spec = {
    "acl._lib.BufferOwner", sizeof(struct buffer), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, buffer_slots,
};

/* Adds the types to a module. */
static int owner_install(const char *name)
{
    owner_drop = PyUnicode_InternFromString("_drop");
    owner_live = PyUnicode_InternFromString("live");
    owner_single = PyUnicode_InternFromString("single");
    owner_closed = PyUnicode_InternFromString("_closed");
    PyObject *module = PyImport_ImportModule(name), *bases = NULL, *event = NULL, *buffer = NULL;
    int done = owner_drop != NULL && owner_live != NULL && owner_single != NULL && owner_closed != NULL &&
               module != NULL && (owner_type = (PyTypeObject *)PyType_FromSpec(&owner_spec)) != NULL &&
               (bases = PyTuple_Pack(1, owner_type)) != NULL &&
               (event = PyType_FromSpecWithBases(&event_spec, bases)) != NULL &&
               (buffer = PyType_FromSpecWithBases(&buffer_spec, bases)) != NULL &&
               PyObject_SetAttrString(module, "Owner", (PyObject *)owner_type) == 0 &&
               PyObject_SetAttrString(module, "EventOwner", event) == 0 &&
               PyObject_SetAttrString(module, "BufferOwner", buffer) == 0;
    Py_XDECREF(module); /* the type of owners is kept, for launches */
    Py_XDECREF(bases);
    Py_XDECREF(event);
    Py_XDECREF(buffer);
    return done;
}

#endif
