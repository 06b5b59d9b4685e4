/* Work of the objects: its registration with memory, launches of kernels, and the arrays of a model's execution.
 *
 * The functions here do the usual cases of acl/objects/memory_block.py, kernel.py and model.py, where Python would take
 * longer than the library. They leave every other case, with its error, to the Python functions. */
#ifndef ACL_LAUNCH_H
#define ACL_LAUNCH_H

/* The names of acl.objects.memory_block that are used here; they do not change once they are imported. */
static struct {
    PyObject *us_lock, *us_updating, *us_tell, *us_prune;
    PyTypeObject *us_stream;
    PyObject *us_block, *us_layout, *us_uses, *us_told, *us_opening, *us_kind, *us_acquire, *us_release, *us_one;
    Py_ssize_t us_many;
} use_home;

static int use_import(void)
{
    PyObject *home = PyImport_ImportModule("acl.objects.memory_block"), *many = NULL, *stream = NULL;
    int done = home != NULL && (many = PyObject_GetAttrString(home, "MANY")) != NULL &&
               (stream = PyObject_GetAttrString(home, "Stream")) != NULL && PyType_Check(stream) &&
               (use_home.us_updating = PyObject_GetAttrString(home, "updating")) != NULL &&
               (use_home.us_tell = PyObject_GetAttrString(home, "tell_any")) != NULL &&
               (use_home.us_prune = PyObject_GetAttrString(home, "prune")) != NULL &&
               (use_home.us_block = PyUnicode_InternFromString("_block")) != NULL &&
               (use_home.us_layout = PyUnicode_InternFromString("_layout")) != NULL &&
               (use_home.us_uses = PyUnicode_InternFromString("uses")) != NULL &&
               (use_home.us_told = PyUnicode_InternFromString("told")) != NULL &&
               (use_home.us_opening = PyUnicode_InternFromString("opening")) != NULL &&
               (use_home.us_kind = PyUnicode_InternFromString("kind")) != NULL &&
               (use_home.us_acquire = PyUnicode_InternFromString("acquire")) != NULL &&
               (use_home.us_release = PyUnicode_InternFromString("release")) != NULL &&
               (use_home.us_one = PyLong_FromLong(1)) != NULL;
    if (done) {
        use_home.us_many = PyLong_AsSsize_t(many);
        use_home.us_stream = (PyTypeObject *)stream; /* kept: the module has one for good */
        use_home.us_lock = PyObject_GetAttrString(home, "telling"); /* the last one: it says that all are there */
    }
    Py_XDECREF(many);
    Py_XDECREF(home);
    return done && use_home.us_lock != NULL ? 0 : -1;
}

static inline int use_ready(void)
{
    return use_home.us_lock != NULL ? 0 : use_import();
}

/* Calls a method of the lock `telling`. */
static int use_lock(PyObject *name)
{
    PyObject *done = PyObject_CallMethodObjArgs(use_home.us_lock, name, NULL);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* The handle of an open object of a type, a new reference; NULL without an exception for every other object. */
static PyObject *use_handle(PyObject *object, PyTypeObject *type, uint64_t *number)
{
    PyObject *handle = NULL;
    if (!PyObject_TypeCheck(object, type))
        return NULL;
    OWNER_BEGIN(object);
    handle = ((struct owner *)object)->ow_handle;
    Py_XINCREF(handle);
    OWNER_END();
    if (handle != NULL && !pycall_short(handle, number))
        Py_CLEAR(handle);
    return handle;
}

/* Whether work on the device of an opening can use a block: 1 or 0; -1 with an exception. */
static int use_reaches(PyObject *block, PyObject *opening)
{
    PyObject *there = PyObject_GetAttr(block, use_home.us_opening), *kind = NULL;
    int reaches = there == NULL ? -1 : 0;
    if (there == opening) {
        kind = PyObject_GetAttr(block, use_home.us_kind);
        reaches = kind == NULL ? -1 : PyUnicode_Check(kind) && PyUnicode_CompareWithASCIIString(kind, "host") != 0;
    }
    Py_XDECREF(there);
    Py_XDECREF(kind);
    return reaches;
}

/* Registers a stream with a block, with the lock held. */
static int use_note(PyObject *block, PyObject *handle, PyObject *stream)
{
    PyObject *uses = PyObject_GetAttr(block, use_home.us_uses), *told = NULL, *next = NULL, *pruned = NULL;
    int done = -1;
    if (uses == NULL || PyDict_SetItem(uses, handle, stream) != 0)
        goto end;
    told = PyObject_GetAttr(block, use_home.us_told);
    next = told == NULL ? NULL : PyNumber_Add(told, use_home.us_one);
    if (next == NULL || PyObject_SetAttr(block, use_home.us_told, next) != 0)
        goto end;
    if (PyDict_Size(uses) <= use_home.us_many)
        done = 0;
    else if ((pruned = PyObject_CallFunctionObjArgs(use_home.us_prune, block, NULL)) != NULL)
        done = 0;
end:
    Py_XDECREF(uses);
    Py_XDECREF(told);
    Py_XDECREF(next);
    Py_XDECREF(pruned);
    return done;
}

/* Registers the work that was just queued on a stream with blocks: 0, or -1 with an exception. Captured work, and a
 * stream that is none or closed, are left to Python. */
static int use_tell(PyObject *const *blocks, Py_ssize_t count, PyObject *stream)
{
    uint64_t number = 0;
    PyObject *handle = use_handle(stream, use_home.us_stream, &number);
    if (handle == NULL || PyDict_GET_SIZE(use_home.us_updating) != 0 || pycall_instance(number) != NULL) {
        PyObject *told = NULL, *list = PyList_New(count);
        for (Py_ssize_t place = 0; list != NULL && place < count; place++)
            PyList_SET_ITEM(list, place, pycall_new(blocks[place]));
        if (list != NULL)
            told = PyObject_CallFunctionObjArgs(use_home.us_tell, list, stream, NULL);
        Py_XDECREF(handle);
        Py_XDECREF(list);
        Py_XDECREF(told);
        return told == NULL ? -1 : 0;
    }
    int done = use_lock(use_home.us_acquire);
    if (done == 0) {
        PyObject *kind, *value, *trace;
        for (Py_ssize_t place = 0; place < count && done == 0; place++)
            done = use_note(blocks[place], handle, stream);
        PyErr_Fetch(&kind, &value, &trace);
        if (use_lock(use_home.us_release) != 0)
            PyErr_WriteUnraisable(use_home.us_lock);
        PyErr_Restore(kind, value, trace);
    }
    Py_DECREF(handle);
    return done;
}

/* tell(blocks, stream): registers the work that was just queued on a stream with the blocks that it uses. */
static PyObject *use_tell_all(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (pycall_count("tell", count, 2, 2) != 0 || use_ready() != 0)
        return NULL;
    PyObject *blocks = PySequence_Tuple(args[0]); /* a copy: other threads may change a list */
    if (blocks == NULL)
        return NULL;
    int done = use_tell(&PyTuple_GET_ITEM(blocks, 0), PyTuple_GET_SIZE(blocks), args[1]);
    Py_DECREF(blocks);
    if (done != 0)
        return NULL;
    Py_RETURN_NONE;
}

/* --- Launches */

enum { LAUNCH_BYTES = 512, LAUNCH_MOST = 32 }; /* the largest form: more bytes or arguments are packed in Python */
#define LAUNCH_BLOCKS UINT32_MAX

/* Where an argument goes: bytes as kernel.py packs them ("=IHcx"). The letter is that of the struct module, s for the
 * bytes of a NumPy scalar, or M for memory. */
struct launch_place {
    uint32_t lp_offset;
    uint16_t lp_size;
    uint8_t lp_letter, lp_unused;
};

struct launch {
    _Alignas(16) char la_content[LAUNCH_BYTES];
    PyObject *la_blocks[LAUNCH_MOST + 1]; /* each once: the kernel's own, then those of the memory; references */
    Py_ssize_t la_count;
    uint64_t la_function, la_size;
};

static void launch_end(struct launch *launch)
{
    for (Py_ssize_t place = 0; place < launch->la_count; place++)
        Py_DECREF(launch->la_blocks[place]);
}

/* 0 for an exception that says that a value does not fit, which Python finds again; -1 for the others. */
static int launch_unfit(void)
{
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_OverflowError) &&
        !PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError))
        return -1;
    PyErr_Clear();
    return 0;
}

static int launch_whole(PyObject *value, bool is_signed, size_t size, char *slot)
{
    uint64_t number = 0;
    if (!pycall_short(value, &number)) {
        PyObject *index = PyNumber_Index(value);
        if (index == NULL)
            return launch_unfit();
        number = is_signed ? (uint64_t)PyLong_AsLongLong(index) : PyLong_AsUnsignedLongLong(index);
        Py_DECREF(index);
        if (number == UINT64_MAX && PyErr_Occurred())
            return launch_unfit();
    }
    int64_t wide = (int64_t)number, high = size == 8 ? INT64_MAX : ((int64_t)1 << (8 * size - 1)) - 1;
    if (is_signed ? wide > high || wide < -high - 1 : size < 8 && number >> (8 * size) != 0)
        return 0;
    memcpy(slot, &number, size); /* the low bytes: every platform of this project is little endian */
    return 1;
}

/* Packs a number: 1; 0: it does not fit; -1 with an exception. */
static int launch_number(PyObject *value, const struct launch_place *place, char *slot)
{
    double real;
    float narrow;
    Py_buffer view;
    int truth;
    switch (place->lp_letter) {
    case 'd':
    case 'f':
        real = PyFloat_AsDouble(value);
        narrow = (float)real;
        if (real == -1.0 && PyErr_Occurred())
            return launch_unfit();
        memcpy(slot, place->lp_letter == 'f' ? (const void *)&narrow : (const void *)&real, place->lp_size);
        return 1;
    case '?':
        truth = PyObject_IsTrue(value);
        *slot = (char)(truth > 0);
        return truth < 0 ? launch_unfit() : 1;
    case 's':
        if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) != 0)
            return launch_unfit();
        truth = view.len == place->lp_size;
        if (truth)
            memcpy(slot, view.buf, place->lp_size);
        PyBuffer_Release(&view);
        return truth;
    default:
        return launch_whole(value, place->lp_letter >= 'a', place->lp_size, slot);
    }
}

/* Packs the address of an array or a buffer and keeps its block, if the thread's device can access it. */
static int launch_memory(PyObject *memory, PyObject *opening, struct launch *launch, char *slot)
{
    PyObject *block = PyObject_GetAttr(memory, use_home.us_block), *handle = NULL;
    uint64_t address = 0;
    int found = block == NULL ? -1 : block != Py_None, is_known = 0;
    for (Py_ssize_t place = 0; place < launch->la_count && !is_known; place++)
        is_known = launch->la_blocks[place] == block;
    if (found == 1 && !is_known) /* the opening and the kind of a block never change */
        found = use_reaches(block, opening);
    if (found == 1) {
        handle = use_handle(memory, owner_type, &address);
        found = handle != NULL;
        Py_XDECREF(handle);
    }
    if (found == 1) {
        memcpy(slot, &address, sizeof address);
        if (!is_known) {
            launch->la_blocks[launch->la_count++] = block;
            block = NULL;
        }
    }
    Py_XDECREF(block);
    return found;
}

/* Packs arguments of a form, which is the tuple (function, block, size, kinds, places): 1; 0: they are not of the form;
 * -1 with an exception. The caller ends the launch in any case. */
static int launch_pack(PyObject *form, PyObject *opening, PyObject *arguments, struct launch *launch)
{
    launch->la_count = 0;
    if (!PyTuple_Check(form) || PyTuple_GET_SIZE(form) != 5 || !PyTuple_Check(arguments)) {
        PyErr_SetString(PyExc_TypeError, "a form of arguments is a tuple of five");
        return -1;
    }
    PyObject *kinds = PyTuple_GET_ITEM(form, 3), *rows = PyTuple_GET_ITEM(form, 4);
    if (!pycall_short(PyTuple_GET_ITEM(form, 0), &launch->la_function) ||
        !pycall_short(PyTuple_GET_ITEM(form, 2), &launch->la_size) || launch->la_size > LAUNCH_BYTES ||
        !PyTuple_Check(kinds) || PyTuple_GET_SIZE(kinds) > LAUNCH_MOST || !PyBytes_Check(rows) ||
        PyBytes_GET_SIZE(rows) != PyTuple_GET_SIZE(kinds) * (Py_ssize_t)sizeof(struct launch_place)) {
        PyErr_SetString(PyExc_TypeError, "a form of arguments has a function, a block, a size, kinds and places");
        return -1;
    }
    launch->la_blocks[launch->la_count++] = pycall_new(PyTuple_GET_ITEM(form, 1));
    Py_ssize_t count = PyTuple_GET_SIZE(kinds);
    if (PyTuple_GET_SIZE(arguments) != count)
        return 0;
    memset(launch->la_content, 0, launch->la_size);
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *argument = PyTuple_GET_ITEM(arguments, index);
        struct launch_place place;
        memcpy(&place, PyBytes_AS_STRING(rows) + (size_t)index * sizeof place, sizeof place);
        if ((PyObject *)Py_TYPE(argument) != PyTuple_GET_ITEM(kinds, index) ||
            place.lp_offset + (uint64_t)place.lp_size > launch->la_size)
            return 0;
        char *slot = launch->la_content + place.lp_offset;
        int packed = place.lp_letter != 'M' ? launch_number(argument, &place, slot)
                     : PyObject_TypeCheck(argument, owner_type) && place.lp_size == sizeof(uint64_t)
                         ? launch_memory(argument, opening, launch, slot)
                         : 0;
        if (packed != 1)
            return packed;
    }
    return 1;
}

/* pack_arguments(form, opening, arguments): their bytes and the blocks, or None if they are not of the form. */
static PyObject *launch_pack_only(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    struct launch launch;
    PyObject *blocks = NULL;
    (void)self;
    if (pycall_count("pack_arguments", count, 3, 3) != 0 || use_ready() != 0)
        return NULL;
    int packed = launch_pack(args[0], args[1], args[2], &launch);
    if (packed == 1 && (blocks = PyList_New(launch.la_count)) != NULL)
        for (Py_ssize_t place = 0; place < launch.la_count; place++)
            PyList_SET_ITEM(blocks, place, pycall_new(launch.la_blocks[place]));
    launch_end(&launch);
    if (packed == 0)
        Py_RETURN_NONE;
    if (blocks == NULL)
        return NULL;
    PyObject *content = PyBytes_FromStringAndSize(launch.la_content, (Py_ssize_t)launch.la_size);
    return pycall_tuple((PyObject *[]){content, blocks}, 2);
}

/* launch_kernel(form, blocks, opening, stream, arguments): queues a launch and registers it with the memory. Returns
 * the status code; None, without a launch, if this is not the usual case. */
static PyObject *launch_kernel(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    struct launch launch;
    uint64_t blocks = 0, number = 0;
    aclError ret = 0;
    (void)self;
    if (pycall_count("launch_kernel", count, 5, 5) != 0 || use_ready() != 0)
        return NULL;
    PyObject *handle = use_handle(args[3], use_home.us_stream, &number);
    int packed = launch_pack(args[0], args[2], args[4], &launch);
    if (packed == 1 && (handle == NULL || !pycall_short(args[1], &blocks) || blocks < 1 || blocks > LAUNCH_BLOCKS))
        packed = 0;
    Py_XDECREF(handle);
    if (packed != 1) {
        launch_end(&launch);
        if (packed < 0)
            return NULL;
        Py_RETURN_NONE;
    }
    aclrtFuncHandle function = (aclrtFuncHandle)(uintptr_t)launch.la_function;
    aclrtStream stream = (aclrtStream)(uintptr_t)number;
#define LAUNCH                                                                                                         \
    aclrtLaunchKernelWithHostArgs(function, (uint32_t)blocks, stream, NULL, launch.la_content, launch.la_size, NULL, 0)
    if (acl_backend_waits && aclsimIsReady(ACLSIM_WAIT_QUEUE, stream)) {
        ret = LAUNCH;
    } else {
        Py_BEGIN_ALLOW_THREADS
        ret = LAUNCH;
        Py_END_ALLOW_THREADS
    }
#undef LAUNCH
    int told = ret == 0 ? use_tell(launch.la_blocks, launch.la_count, args[3]) : 0;
    launch_end(&launch);
    return told != 0 ? NULL : pycall_from_int(ret);
}

/* --- Models */

/* Fills in the handle and the block of an array: 1; 0: it is another one; -1 with an exception. */
static int place_array(PyObject *array, PyObject *layout, PyObject *opening, PyObject **handle, PyObject **block)
{
    uint64_t number;
    PyObject *found = PyObject_GetAttr(array, use_home.us_layout);
    Py_XDECREF(found); /* the array has it still; only its address is compared */
    if (found != layout)
        return found == NULL ? -1 : 0;
    *block = PyObject_GetAttr(array, use_home.us_block);
    if (*block == NULL || *block == Py_None)
        return *block == NULL ? -1 : 0;
    int reaches = use_reaches(*block, opening);
    if (reaches != 1)
        return reaches;
    *handle = use_handle(array, owner_type, &number);
    return *handle != NULL;
}

/* in_place(kind, arrays, layouts, opening): the handles and the blocks of arrays of a class, after the work that is
 * registered with them; None if they do not have these layouts or are not on the device of the opening. */
static PyObject *place_arrays(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (pycall_count("in_place", count, 4, 4) != 0 || use_ready() != 0)
        return NULL;
    if (!PyTuple_Check(args[1]) || !PyTuple_Check(args[2]) || PyTuple_GET_SIZE(args[1]) > PyTuple_GET_SIZE(args[2]))
        Py_RETURN_NONE;
    Py_ssize_t arrays = PyTuple_GET_SIZE(args[1]);
    PyObject *handles = PyList_New(arrays), *blocks = PyTuple_New(arrays);
    int found = handles == NULL || blocks == NULL ? -1 : 1;
    for (Py_ssize_t place = 0; place < arrays && found == 1; place++) {
        PyObject *array = PyTuple_GET_ITEM(args[1], place), *handle = NULL, *block = NULL;
        found = (PyObject *)Py_TYPE(array) != args[0]
                    ? 0
                    : place_array(array, PyTuple_GET_ITEM(args[2], place), args[3], &handle, &block);
        PyList_SET_ITEM(handles, place, handle);
        PyTuple_SET_ITEM(blocks, place, block);
    }
    for (Py_ssize_t place = 0; place < arrays && found == 1; place++) {
        PyObject *block = PyTuple_GET_ITEM(blocks, place), *uses = PyObject_GetAttr(block, use_home.us_uses);
        int is_used = uses == NULL ? -1 : PyObject_IsTrue(uses);
        PyObject *settled = is_used > 0 ? PyObject_CallMethod(block, "settle", NULL) : NULL;
        found = is_used == 0 || settled != NULL ? 1 : -1;
        Py_XDECREF(uses);
        Py_XDECREF(settled);
    }
    if (found == 1)
        return pycall_tuple((PyObject *[]){handles, blocks}, 2);
    Py_XDECREF(handles);
    Py_XDECREF(blocks);
    if (found < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef launch_methods[] = {
    {"in_place", (PyCFunction)(void (*)(void))place_arrays, METH_FASTCALL, NULL},
    {"tell", (PyCFunction)(void (*)(void))use_tell_all, METH_FASTCALL, NULL},
    {"pack_arguments", (PyCFunction)(void (*)(void))launch_pack_only, METH_FASTCALL, NULL},
    {"launch_kernel", (PyCFunction)(void (*)(void))launch_kernel, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

#endif
