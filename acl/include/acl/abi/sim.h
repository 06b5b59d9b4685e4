/* Control of the simulator: what the vendor's library does not have. Exported by libacl_sim only. */

/* A task of the user's: runs on the stream like any other, on a thread of the engine. Its code, when not 0, is the
 * failure of the task. */
typedef aclError (*aclsimTaskFunc)(void *argument);

/* Bytes of device memory that a task reads (write = 0) or writes (write = 1). */
typedef struct aclsimRange {
    void *address;
    size_t size;
    int32_t write;
} aclsimRange;

typedef enum aclsimTaskFlag {
    ACLSIM_TASK_LIGHT = 1,
    ACLSIM_TASK_WORKER = 4
} aclsimTaskFlag;

typedef enum aclsimWaitKind {
    ACLSIM_WAIT_STREAM = 0,
    ACLSIM_WAIT_EVENT = 1,
    ACLSIM_WAIT_DEVICE = 2,
    ACLSIM_WAIT_REPORT = 3,
    ACLSIM_WAIT_QUEUE = 4,
    ACLSIM_WAIT_NOTHING = 5
} aclsimWaitKind;

typedef enum aclsimArgumentKind {
    ACLSIM_TENSOR = 0,
    ACLSIM_TENSOR_LIST = 1,
    ACLSIM_SCALAR = 2,
    ACLSIM_SCALAR_LIST = 3,
    ACLSIM_INTEGERS = 4,
    ACLSIM_FLOATS = 5,
    ACLSIM_BOOLEANS = 6,
    ACLSIM_TEXT = 7,
    ACLSIM_INTEGER = 8,
    ACLSIM_NUMBER = 9
} aclsimArgumentKind;

/* Both bits: the operator reads the tensor and writes it. */
typedef enum aclsimDirection {
    ACLSIM_IN = 1,
    ACLSIM_OUT = 2
} aclsimDirection;

/* A tensor as a kernel sees it: strides in elements, data at its first element (NULL in the first phase). */
typedef struct aclsimTensor {
    void *data;
    int64_t dims[8];
    int64_t strides[8];
    uint32_t rank;
    aclDataType type;
} aclsimTensor;

typedef struct aclsimScalar {
    uint64_t value[2];
    aclDataType type;
} aclsimScalar;

/* One argument of an operator, in the row's order. present 0: an optional one that was left out. The member of the
 * union follows from kind; pointers lead to count elements. */
typedef struct aclsimArgument {
    const char *name;
    aclsimArgumentKind kind;
    uint32_t direction;
    uint32_t present;
    uint64_t count;
    union {
        const aclsimTensor *tensors;
        const aclsimScalar *scalars;
        const int64_t *integers;
        const float *floats;
        const bool *booleans;
        const char *text;
        int64_t integer;
        double number;
    };
} aclsimArgument;

/* What calls on operators return when they fail: names of the operators' documents, which no header of the vendor's that
 * programs include has. */
typedef enum aclsimOperatorStatus {
    ACLNN_ERR_PARAM_NULLPTR = 161001,
    ACLNN_ERR_PARAM_INVALID = 161002,
    ACLNN_ERR_RUNTIME_ERROR = 361001,
    ACLNN_ERR_INNER = 561000,
    ACLNN_ERR_INNER_FIND_KERNEL_ERROR = 561003,
    ACLNN_ERR_INNER_NULLPTR = 561103
} aclsimOperatorStatus;

/* One call of an operator; workspace is what the program gave, of the size that the first phase asked for. */
typedef struct aclsimCall {
    const char *name;
    const aclsimArgument *arguments;
    size_t argumentCount;
    void *workspace;
    uint64_t workspaceSize;
    void *userData;
} aclsimCall;

/* First phase: checks types and shapes, and says how much workspace the second one wants; 0, or the code of the call, such
 * as ACLNN_ERR_PARAM_INVALID. */
typedef aclnnStatus (*aclsimPlanFunc)(const aclsimCall *call, uint64_t *workspaceSize);

/* Second phase: runs as a task of the stream; its code, when not 0, is the failure of the task. */
typedef aclError (*aclsimKernelFunc)(const aclsimCall *call);

/** Set one configuration value by its lower-case name, until the first device opens (else 107000).
 *  A NULL value goes back to the environment's. A wrong name or value is 100000 with the right ones in the message. */
ACL_API(8, 1) aclError aclsimConfigure(const char *name, const char *value);

/** Write the value in force, as text, into value (length bytes). */
ACL_API(8, 1) aclError aclsimGetConfig(const char *name, char *value, size_t length);

/** Tear everything down: discard all work, free all memory, make every handle dead, forget configured values. */
ACL_API(8, 1) aclError aclsimReset(void);

/** Queue a task given as a C function, with the device memory it touches. */
ACL_API(8, 1) aclError aclsimLaunchTask(aclrtStream stream, aclsimTaskFunc function, void *argument,
    const aclsimRange *ranges, size_t rangeCount, uint32_t flags);

/** Queue a latch: later tasks of the stream wait until aclsimStreamRelease, or until the stream is destroyed. */
ACL_API(8, 1) aclError aclsimStreamHold(aclrtStream stream);

/** Open the oldest closed latch of the stream. 107000 when it has none. */
ACL_API(8, 1) aclError aclsimStreamRelease(aclrtStream stream);

/** Wait at most some milliseconds for what the matching blocking call with this time-out (-1: none) waits for, helping as
 *  it would. 1: that call would return at once, now, also because its time, counted from the first slice on, is over; 0: it
 *  would still wait. Leaves no message and no last error. The call follows on the same thread with its whole time-out, or
 *  aclsimIsReady, which forgets the slices. */
ACL_API(8, 1) int32_t aclsimWaitSlice(aclsimWaitKind kind, void *handle, int32_t milliseconds, int32_t timeout);

/** 1: the call behind the kind would neither wait nor run a task now; else 0, and always without a current context.
 *  QUEUE stands for a submission to the stream, NOTHING for a call that no task holds up. */
ACL_API(8, 1) int32_t aclsimIsReady(aclsimWaitKind kind, void *handle);

/** Register a kernel for an operator, by the operator's name (aclnnAdd). A NULL plan checks nothing and needs no
 *  workspace. A NULL run restores the built-in kernel, if any. Any other name is a type of single operators
 *  (aclopExecuteV2): its kernel's arguments are the list of the inputs, the list of the outputs, and the attributes
 *  as JSON text. Fails if the name begins with aclnn but is not the name of an operator (100000). */
ACL_API(8, 1) aclError aclsimRegisterKernel(const char *name, aclsimPlanFunc plan, aclsimKernelFunc run,
    void *userData);

typedef enum aclsimModelMoment {
    ACLSIM_MODEL_RUN = 0,
    ACLSIM_MODEL_OPEN = 1,
    ACLSIM_MODEL_CLOSE = 2
} aclsimModelMoment;

/* One run of a model: the inputs with their real shapes (without those that carry a gear), and the outputs. Where only
 * the run knows an output's shape, its dims, strides and rank are to be set; capacities are in bytes, one an output.
 * weights is the file's constant block, for who was registered for a kind of file; else NULL. */
typedef struct aclsimModelRun {
    const char *name;
    uint32_t modelId;
    aclsimModelMoment moment;
    const void *weights;
    uint64_t weightSize;
    const aclsimTensor *inputs;
    size_t inputCount;
    aclsimTensor *outputs;
    const uint64_t *capacities;
    size_t outputCount;
    void *userData;
} aclsimModelRun;

/* Runs as a task of the stream; its code, when not 0, is the failure of the task, whose message has what the function
 * gave to aclsimSetReason. */
typedef aclError (*aclsimModelFunc)(const aclsimModelRun *run);

/** Give a model, by its name or its path, a function that runs it; asked when a model is loaded. With the bytes of a
 *  model file (model, size) the path need not exist. A NULL run takes it back. 145000, 145006 for wrong bytes. */
ACL_API(8, 1) aclError aclsimRegisterModel(const char *name, const void *model, size_t size, aclsimModelFunc run,
    void *userData);

/** Give all models whose file names an executor of this kind ("onnx") a function that runs them. It is also called when
 *  such a model is loaded (OPEN: a code refuses the load) and when it is gone (CLOSE). A NULL run takes it back. */
ACL_API(8, 1) aclError aclsimRegisterExecutor(const char *kind, aclsimModelFunc run, void *userData);

/** Write what a run of a complete instance does as the constant block of a model file of kind "saved": its operators,
 *  copies and sets, and the bytes they read before they write them. Each run of the model is given the inputs and gives
 *  the outputs, spans of memory that the instance works on. block has room for *size bytes and gets them; NULL asks for
 *  the size alone. 107000 for an instance that runs or is not complete, for memory that is gone and for a block that is
 *  too small, 207000 for a task of another kind. */
ACL_API(8, 1) aclError aclsimSaveInstance(aclmdlRI modelRI, const aclsimRange *inputs, size_t inputCount,
    const aclsimRange *outputs, size_t outputCount, void *block, size_t *size);

/** Says why the calling function of a model is about to fail: the message of its run, or of the load that it refuses,
 *  gets a copy of the text (509 bytes, as one line). On the thread that the function was called on; elsewhere nothing
 *  happens. */
ACL_API(8, 1) aclError aclsimSetReason(const char *text);

/** Record a failure of the calling thread for aclGetRecentErrMsg: "<function> failed because <text>", with the name of
 *  the code. For libraries over this one; the thread's last error stays as it is. Returns the code. */
ACL_API(8, 1) aclError aclsimRefuse(const char *function, aclError code, const char *text);

/** The address through which a task's function reaches a device address; NULL when it lies in no live block. */
ACL_API(8, 1) void *aclsimTranslate(const void *devPtr);

/** The same for `size` bytes from there on; NULL unless all of them lie in one live block. */
ACL_API(8, 1) void *aclsimReach(const void *devPtr, size_t size);

/* One block of a launch of a custom kernel. args are the argument bytes that the program passed, aligned to 8 bytes.
 * A pointer among them is a device address: pass it to aclsimReach before use. The pointer of a placeholder is the
 * exception: it can be dereferenced directly. binary is the file's name without folder and ending. gridDim and
 * blockDim are those of a SIMT kernel, whose function iterates over the threads itself; other kernels have numBlocks
 * and 1. */
typedef struct aclsimKernelLaunch {
    const char *binary;
    const char *kernel;
    const void *args;
    size_t argsSize;
    uint32_t numBlocks;
    uint32_t blockIndex;
    dim3 gridDim;
    dim3 blockDim;
    void *userData;
} aclsimKernelLaunch;

/* Runs one block, as part of a task of the stream: the blocks one after another, from index 0 on. Its code, when not 0,
 * is the failure of the task, whose message has what the function gave to aclsimSetReason. */
typedef aclError (*aclsimCustomKernelFunc)(const aclsimKernelLaunch *launch);

/* Says, when the kernel is launched, what memory it will touch: fills in at most `room` ranges and returns how many. They
 * are checked then, and again when the task runs. Not asked when the arguments lie in device memory. */
typedef size_t (*aclsimTouchFunc)(const aclsimKernelLaunch *launch, aclsimRange *ranges, size_t room);

/* The CPU's version of a custom kernel. touch may be NULL: nothing is known of what it touches. parameters are the sizes of
 * its parameters, which lie in args as the members of a C struct; they are needed where a program asks for them
 * (aclrtFunctionGetParamInfo) or gives arguments one by one (aclrtLaunchKernelWithArgsArray). NULL: not known.
 *
 * A shared library that exports `const aclsimCustomKernel aclsim_kernel_<kernel>` (in C++ declared extern "C") for each
 * kernel can be loaded in the place of a card's binary, from a file of any name or from memory:
 *
 *     static aclError fill(const aclsimKernelLaunch *launch)
 *     {
 *         struct { void *out; uint64_t count; } args;
 *         memcpy(&args, launch->args, sizeof args);
 *         float *out = aclsimReach(args.out, args.count * sizeof *out);
 *         if (out == NULL)
 *             return ACL_ERROR_RT_AICORE_EXCEPTION;
 *         for (uint64_t i = launch->blockIndex; i < args.count; i += launch->numBlocks)
 *             out[i] = 1;
 *         return ACL_SUCCESS;
 *     }
 *     const aclsimCustomKernel aclsim_kernel_fill = {.run = fill};
 *
 *     gcc -shared -fPIC fill.c -o fill.o $(python -m acl config --cflags --libs)
 *
 * A program that calls kernels through host functions, which the vendor's compiler generates (kernel<<<…>>>, or
 * aclrtlaunch_<kernel>(numBlocks, stream, …)), is linked with such functions of its own, made with aclsimLaunchKernel. */
typedef struct aclsimCustomKernel {
    aclsimCustomKernelFunc run;
    aclsimTouchFunc touch;
    const size_t *parameters;
    size_t parameterCount;
    void *userData;
} aclsimCustomKernel;

/** Give a kernel of a binary, by the binary's path or file name with or without its ending (NULL: of any binary), a
 *  function that runs it, also instead of one of a library; launches from then on use it. With a name the binary need not
 *  exist. A NULL implementation takes it back. */
ACL_API(8, 1) aclError aclsimRegisterCustomKernel(const char *binary, const char *kernel,
    const aclsimCustomKernel *implementation);

/** Queue a kernel without a binary: numBlocks blocks of an implementation, which is read now, under a name for messages.
 *  args is copied. */
ACL_API(8, 1) aclError aclsimLaunchKernel(const char *kernel, const aclsimCustomKernel *implementation,
    uint32_t numBlocks, const void *args, size_t argsSize, aclrtStream stream);

/** Let a host symbol stand for a kernel, in calls that take one (aclrtGetFuncBySymbol, aclrtLaunchKernelWithArgsArray), as
 *  code of the vendor's compiler does by itself. A NULL function takes it back. */
ACL_API(8, 1) aclError aclsimRegisterSymbol(const void *symbol, aclrtFuncHandle function);

/** Let a host symbol stand for a variable of a binary, in calls that take one (aclrtGetSymbolAddress, aclrtMemcpyToSymbol),
 *  as code of the vendor's compiler does by itself. A NULL binary takes it back. */
ACL_API(8, 1) aclError aclsimRegisterVariable(const void *symbol, aclrtBinHandle binary, const char *name);

/** How many handles, blocks of memory and models were made and not destroyed: of one kind, by the name that messages give
 *  it ("stream", "dataset", "data buffer", "memory", "model"), or of all kinds (NULL). Those of the runtime itself count,
 *  too, such as default streams. SIZE_MAX for a kind that does not exist, with a message that lists them. */
ACL_API(8, 1) size_t aclsimLiveCount(const char *kind);

/** Number of declared functions that have no behaviour here. */
ACL_API(8, 1) size_t aclsimMissingCount(void);

/** Name of one of them, in alphabetical order; NULL past the end. */
ACL_API(8, 1) const char *aclsimMissingName(size_t index);

/** Number of operators; those with a kernel when implemented is not 0. */
ACL_API(8, 1) size_t aclsimOperatorCount(int32_t implemented);
