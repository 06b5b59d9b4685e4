/* The world that bad calls meet: live and dead objects of every kind, memory, captures. A part of driver.c, whose
 * random numbers decide what there is. */

static void add(const void *handle)
{
    if (handle_count == sizeof handles / sizeof *handles)
        exit(3); /* too small for the world */
    handles[handle_count++] = (uint64_t)(uintptr_t)handle;
}

#define GOOD(call)                                                                                                     \
    do {                                                                                                               \
        aclError code_ = (call);                                                                                       \
        if (code_ != ACL_SUCCESS) {                                                                                    \
            const char *why_ = aclGetRecentErrMsg();                                                                   \
            fprintf(stderr, "%s: %d: %s\n", #call, code_, why_ != NULL ? why_ : "no message");                         \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static aclError do_nothing(const aclsimCall *call)
{
    (void)call;
    return 0;
}

static aclError do_nothing_either(void *argument)
{
    (void)argument;
    return 0;
}

/* What operators are called with; the second phase of one of them gets far. */
static void make_operands(const int64_t dims[2])
{
    float value = 1;
    uint64_t size;
    aclOpExecutor *executor;
    const aclTensor *members[2];
    for (int i = 0; i < 2; i++)
        members[i] = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, block);
    add(aclCreateTensorList(members, 2));
    aclTensor *tensor = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, block);
    for (int i = 0; i < 4; i++)
        add(tensor);
    add(aclCreateScalar(&value, ACL_FLOAT));
    add(aclCreateIntArray(dims, 2));
    GOOD(aclsimRegisterKernel("aclnnGelu", NULL, do_nothing, NULL));
    for (int i = 0; i < 2; i++) {
        GOOD(aclnnGeluGetWorkspaceSize(tensor, tensor, &size, &executor));
        add(executor);
    }
    GOOD(aclSetAclOpExecutorRepeatable(executor));
}

/* What single operators are called with, and a type that text is drawn for, whose calls get far. */
static void make_single_operators(aclTensorDesc *desc, aclDataBuffer *buffer)
{
    const aclTensorDesc *const descs[] = {desc, desc};
    aclopHandle *handle;
    aclopAttr *attr = aclopCreateAttr();
    GOOD(aclopSetAttrInt(attr, "a", 1));
    add(attr);
    GOOD(aclopCreateHandle("Add", 2, descs, 1, descs, NULL, &handle));
    add(handle);
    GOOD(aclsimRegisterKernel("a", NULL, do_nothing, NULL));
    for (int i = 0; i < 2; i++) { /* more likely */
        add(desc);
        add(buffer);
    }
}

static aclError run_nothing(const aclsimKernelLaunch *launch)
{
    (void)launch;
    return 0;
}

static size_t touch_block(const aclsimKernelLaunch *launch, aclsimRange *ranges, size_t room)
{
    ranges[0] = (aclsimRange){block, launch->argsSize % BLOCK, 1};
    return room < 1 ? 0 : 1;
}

static const aclsimCustomKernel kernel = {.run = run_nothing, .touch = touch_block};

/* Instances in every state, with what belongs to them: ready with a group, being captured, being built. */
static void make_instances(const int64_t dims[2])
{
    aclrtStream stream, bound;
    aclrtEvent event;
    aclmdlRI instance;
    aclmdlRITask tasks[2];
    aclrtTaskGrp group;
    aclmdlRICondHandle condition;
    uint32_t one = 1, two = 2;
    GOOD(aclrtCreateStream(&stream));
    add(stream);
    GOOD(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    GOOD(aclmdlRICaptureTaskGrpBegin(stream));
    GOOD(aclsimLaunchTask(stream, do_nothing_either, NULL, NULL, 0, 0));
    GOOD(aclmdlRICaptureTaskGrpEnd(stream, &group));
    add(group);
    GOOD(aclsimLaunchKernel("kernel", &kernel, 2, dims, 2 * sizeof *dims, stream));
    GOOD(aclmdlRICaptureEnd(stream, &instance));
    add(instance);
    GOOD(aclmdlRIGetStreams(instance, &bound, &one));
    add(bound);
    GOOD(aclmdlRIGetTasksByStream(bound, tasks, &two));
    add(tasks[0]);
    add(tasks[1]);
    GOOD(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    GOOD(aclmdlRICaptureGetInfo(stream, NULL, &instance));
    add(instance);
    GOOD(aclmdlRICondHandleCreate(instance, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition));
    add(condition);
    GOOD(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    add(event);
    GOOD(aclrtRecordEvent(event, stream));
    GOOD(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    add(bound);
    GOOD(aclmdlRIBuildBegin(&instance, 0));
    add(instance);
    GOOD(aclmdlRIBindStream(instance, bound, ACL_MODEL_STREAM_FLAG_HEAD));
}

/* A list of routes, and what the chip has: a shared buffer, or a channel with a message in it and datasets. Never a
 * queue: waiting at one may have no limit. */
static void make_transfers(const int64_t dims[2])
{
    acltdtBuf buffer;
    add(acltdtCreateQueueRouteList());
    if (acltdtAllocBuf(64, ACL_TDT_NORMAL_MEM, &buffer) == ACL_SUCCESS) {
        add(buffer);
        return;
    }
    acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "channel", 8);
    acltdtDataset *dataset = acltdtCreateDataset();
    acltdtDataItem *item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 2, ACL_FLOAT, block, 64);
    GOOD(acltdtAddDataItem(dataset, item));
    GOOD(acltdtSendTensor(channel, dataset, 0));
    add(channel);
    add(dataset);
    add(item);
    add(acltdtCreateDataset());
}

/* A range, memory that is mapped in it, and memory that is not. */
static void make_virtual(void)
{
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE, .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    const size_t size = (size_t)1 << 21;
    aclrtDrvMemHandle handle;
    void *address;
    GOOD(aclrtReserveMemAddress(&address, 4 * size, 0, NULL, 0));
    for (int i = 0; i < 2; i++) {
        add(address);
        GOOD(aclrtMallocPhysical(&handle, size, &prop, 0));
        add(handle);
    }
    GOOD(aclrtMapMem(address, size, 0, handle, 0));
}

/* A kernel with a list of arguments that can be launched, and another one that cannot yet. */
static void make_kernel(void)
{
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    aclrtArgsHandle list;
    aclrtParamHandle parameter;
    GOOD(aclsimRegisterCustomKernel("binary", "kernel", &kernel));
    add(aclrtCreateBinary("binary", 6));
    GOOD(aclrtBinaryLoadFromFile("binary", NULL, &binary));
    add(binary);
    GOOD(aclrtBinaryGetFunction(binary, "kernel", &function));
    for (int i = 0; i < 3; i++)
        add(function);
    for (int i = 0; i < 2; i++) {
        GOOD(aclrtKernelArgsInit(function, &list));
        GOOD(aclrtKernelArgsAppend(list, &function, sizeof function, &parameter));
        add(list);
        add(parameter);
    }
    GOOD(aclrtKernelArgsFinalize(list));
}

/* A block of memory stands for a variable of a small binary: every process reads it. */
static void make_symbol(void)
{
    aclrtBinHandle binary;
    GOOD(aclrtBinaryLoadFromFile(BINARY, NULL, &binary));
    GOOD(aclsimRegisterVariable(block, binary, "variable"));
    add(binary);
}

/* The descriptions of a copy, at the beginning of the block, and where addresses stand, behind it. */
static void make_copies(void)
{
    size_t size;
    const void *addresses[] = {block, block + 4096};
    if (aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &size) != ACL_SUCCESS)
        return;
    GOOD(aclrtSetMemcpyDesc(block, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, block + 4096, block + 8192, 64, NULL));
    GOOD(aclrtMemcpy(block + size, sizeof addresses, addresses, sizeof addresses, ACL_MEMCPY_HOST_TO_DEVICE));
}

/* A pool with a block in use and one that was freed, an allocator of a stream, managed memory: what
 * the chip has of them. */
static void make_memory(aclrtStream stream)
{
    void (*nothing)(void) = (void (*)(void))harmless;
    const aclrtMemPoolProps props = {.location = {.type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtMemPool pool;
    void *used, *unused;
    if (aclrtMemPoolCreate(&pool, &props) == ACL_SUCCESS) {
        GOOD(aclrtMemPoolMallocAsync(&used, 4096, pool, stream));
        GOOD(aclrtMemPoolMallocAsync(&unused, 4096, pool, stream));
        GOOD(aclrtMemPoolFreeAsync(unused, stream));
        for (int i = 0; i < 3; i++)
            add(pool);
        pooled = used;
    }
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
    GOOD(aclrtAllocatorSetObjToDesc(desc, desc));
    GOOD(aclrtAllocatorSetAllocFuncToDesc(desc, (aclrtAllocatorAllocFunc)nothing));
    GOOD(aclrtAllocatorSetFreeFuncToDesc(desc, (aclrtAllocatorFreeFunc)nothing));
    GOOD(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, (aclrtAllocatorGetAddrFromBlockFunc)nothing));
    GOOD(aclrtAllocatorRegister(stream, desc));
    for (int i = 0; i < 2; i++)
        add(desc);
    if (aclrtMemAllocManaged((void **)&managed, 4 << 21, ACL_RT_MEM_ATTACH_GLOBAL) == ACL_SUCCESS)
        add(managed);
}

/* What other processes could open, had they its keys. This process is refused for being its maker. */
static void make_shared(void)
{
    aclrtEvent event;
    aclrtNotify notify;
    if (aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC) == ACL_SUCCESS) {
        GOOD(aclrtRecordEvent(event, NULL));
        add(event);
    }
    GOOD(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    if (aclrtNotifyGetExportKey(notify, notify_key, sizeof notify_key, 0) == ACL_SUCCESS)
        add(notify);
    (void)aclrtIpcMemGetExportKey(block, 64, memory_key, sizeof memory_key, 0); /* not every chip has it */
}

static void make_world(void)
{
    aclrtContext context;
    aclrtStream stream;
    aclrtEvent event;
    const int64_t dims[] = {2, 3};
    GOOD(aclsimReset());
    GOOD(aclrtCreateContext(&context, 0));
    handle_count = 0;
    pooled = managed = NULL;
    add(context);
    GOOD(aclrtDestroyContext(context));
    GOOD(aclrtCreateContext(&context, 0));
    add(context);
    GOOD(aclrtSetDevice(0));
    for (int i = 0; i < 3; i++) {
        GOOD(aclrtCreateStream(&stream));
        add(stream);
    }
    GOOD(aclrtDestroyStream(stream));
    GOOD(aclrtCtxGetCurrentDefaultStream(&stream));
    add(stream);
    GOOD(aclrtCreateEvent(&event));
    add(event);
    GOOD(aclrtRecordEvent(event, NULL));
    GOOD(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    add(event);
    GOOD(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    add(event);
    GOOD(aclrtCreateEvent(&event));
    add(event);
    GOOD(aclrtDestroyEvent(event));
    GOOD(aclrtMalloc((void **)&freed, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    GOOD(aclrtMalloc((void **)&block, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    GOOD(aclrtFree(freed));
    add(block);
    aclrtNotify notify;
    GOOD(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    add(notify);
    aclrtLabel label;
    aclrtLabelList labels;
    GOOD(aclrtCreateLabel(&label));
    add(label);
    GOOD(aclrtCreateLabelList(&label, 1, &labels));
    add(labels);
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
    add(desc);
    aclDataBuffer *buffer = aclCreateDataBuffer(block, 64);
    add(buffer);
    aclTensorDesc *dead = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
    add(dead);
    aclDestroyTensorDesc(dead);
    make_operands(dims);
    make_single_operators(desc, buffer);
    make_transfers(dims);
    make_kernel();
    if (below(2) == 0)
        make_virtual();
    if (below(2) == 0)
        make_copies();
    if (below(2) == 0)
        make_symbol();
    if (below(2) == 0)
        make_memory(stream);
    if (below(4) == 0) /* a thread comes and goes with it */
        make_shared();
    if (below(2) == 0) /* an open capture refuses much */
        make_instances(dims);
    (void)aclGetRecentErrMsg();
}
