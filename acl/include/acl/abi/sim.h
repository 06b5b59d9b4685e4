/* Control of the simulator: what the vendor's library does not have. Exported by libacl_sim only. */

/* A task of the program. It runs on the stream like any other task, on a thread of the engine. A code other than 0 is
 * the failure of the task. */
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

/* With both bits, the operator reads and writes the tensor. */
typedef enum aclsimDirection {
    ACLSIM_IN = 1,
    ACLSIM_OUT = 2
} aclsimDirection;

/* A tensor as a kernel sees it. Strides are in elements; data points to the first element, and is NULL in the first
 * phase. */
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

/* One argument of an operator, in the order of the operator schema. present is 0 for an optional argument that is
 * absent. kind selects the member of the union; pointers point to count elements. */
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

/* Error codes of functions on operators. The names are those of the vendor's documents; no public header of the vendor
 * declares them. */
typedef enum aclsimOperatorStatus {
    ACLNN_ERR_PARAM_NULLPTR = 161001,
    ACLNN_ERR_PARAM_INVALID = 161002,
    ACLNN_ERR_RUNTIME_ERROR = 361001,
    ACLNN_ERR_INNER = 561000,
    ACLNN_ERR_INNER_TILING_ERROR = 561002,
    ACLNN_ERR_INNER_FIND_KERNEL_ERROR = 561003,
    ACLNN_ERR_INNER_NULLPTR = 561103
} aclsimOperatorStatus;

/* One call of an operator. workspace is the memory that the program passed, of the size that the first phase
 * returned. */
typedef struct aclsimCall {
    const char *name;
    const aclsimArgument *arguments;
    size_t argumentCount;
    void *workspace;
    uint64_t workspaceSize;
    void *userData;
} aclsimCall;

/* First phase: checks types and shapes, and sets the size of the workspace that the second phase needs. Returns 0, or
 * the code that the call returns, such as ACLNN_ERR_PARAM_INVALID. */
typedef aclnnStatus (*aclsimPlanFunc)(const aclsimCall *call, uint64_t *workspaceSize);

/* Second phase: runs as a task of the stream. A code other than 0 is the failure of the task. */
typedef aclError (*aclsimKernelFunc)(const aclsimCall *call);

/** Set one configuration value by its lower-case name, before the first device is opened (107000 afterwards). A NULL
 *  value restores the value of the environment. An invalid name or value gives 100000, with the valid ones in the
 *  message. */
ACL_API(8, 1) aclError aclsimConfigure(const char *name, const char *value);

/** Write the effective value, as text, into value (length bytes). */
ACL_API(8, 1) aclError aclsimGetConfig(const char *name, char *value, size_t length);

/** Reset the simulator: discard all work, free all memory, invalidate all handles, forget configured values. */
ACL_API(8, 1) aclError aclsimReset(void);

/** Queue a C function as a task, with the ranges of device memory that it uses. */
ACL_API(8, 1) aclError aclsimLaunchTask(aclrtStream stream, aclsimTaskFunc function, void *argument,
    const aclsimRange *ranges, size_t rangeCount, uint32_t flags);

/** Queue a latch: later tasks of the stream wait until aclsimStreamRelease, or until the stream is destroyed. */
ACL_API(8, 1) aclError aclsimStreamHold(aclrtStream stream);

/** Open the oldest closed latch of the stream. Returns 107000 if no latch is closed. */
ACL_API(8, 1) aclError aclsimStreamRelease(aclrtStream stream);

/** Wait at most some milliseconds, as one slice of a blocking call with this time-out (-1: no limit), and run tasks as
 *  that call would. Returns 1 if the call would now return immediately, also because its time is over, which counts
 *  from the first slice; 0 if it would still wait. Records no message and no last error. Afterwards the same thread
 *  makes the call with its full time-out, or calls aclsimIsReady, which forgets the slices. */
ACL_API(8, 1) int32_t aclsimWaitSlice(aclsimWaitKind kind, void *handle, int32_t milliseconds, int32_t timeout);

/** Return 1 if the call of this kind would now neither wait nor run a task, otherwise 0. Without a current context the
 *  result is 0. QUEUE means a submission to the stream, NOTHING a call that never waits for tasks. */
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

/* One execution of a model: the inputs with their actual shapes (without inputs that select a gear), and the outputs.
 * If the shape of an output is known only after the execution, the function sets its dims, strides and rank. capacities
 * has the bytes of each output. weights is the constant block of the file for a function that was registered for a kind
 * of file, otherwise NULL. */
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

/* Runs as a task of the stream. A code other than 0 is the failure of the task; the message includes the text that the
 * function passed to aclsimSetReason. */
typedef aclError (*aclsimModelFunc)(const aclsimModelRun *run);

/** Register a function that executes a model, given by its name or path; models that are loaded later use it. With the
 *  bytes of a model file (model, size) the path need not exist. A NULL run removes the function. Invalid bytes give
 *  145000 or 145006. */
ACL_API(8, 1) aclError aclsimRegisterModel(const char *name, const void *model, size_t size, aclsimModelFunc run,
    void *userData);

/** Register a function that executes all models whose file names an executor of this kind ("onnx"). It is also called
 *  when such a model is loaded (OPEN; an error code refuses the load) and when it is unloaded (CLOSE). A NULL run
 *  removes the function. */
ACL_API(8, 1) aclError aclsimRegisterExecutor(const char *kind, aclsimModelFunc run, void *userData);

/** Save a complete instance as the constant block of a model file of kind "saved": its operators, copies and sets, and
 *  the bytes that they read before they write them. inputs and outputs are ranges of memory that the instance uses;
 *  they become the inputs and outputs of the model. block has room for *size bytes; if it is NULL, only the size is
 *  returned. Returns 107000 if the instance is running or incomplete, if memory was freed, or if the block is too
 *  small; 207000 if a task of another type was recorded. */
ACL_API(8, 1) aclError aclsimSaveInstance(aclmdlRI modelRI, const aclsimRange *inputs, size_t inputCount,
    const aclsimRange *outputs, size_t outputCount, void *block, size_t *size);

/** Set the reason for which the running function of a model is about to fail. The message of its execution, or of the
 *  load that it refuses, includes a copy of the text (at most 509 bytes, as one line). Has an effect only on the thread
 *  on which the function was called. */
ACL_API(8, 1) aclError aclsimSetReason(const char *text);

/** Record a failure of the calling thread for aclGetRecentErrMsg: "<function> failed because <text>", with the name of
 *  the code. For libraries that use this one. Does not change the thread's last error. Returns the code. */
ACL_API(8, 1) aclError aclsimRefuse(const char *function, aclError code, const char *text);

/** The address through which the function of a task accesses a device address; NULL if no live block contains it. */
ACL_API(8, 1) void *aclsimTranslate(const void *devPtr);

/** The same for `size` bytes from this address on; NULL unless one live block contains all of them. */
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

/* Runs one block, as part of a task of the stream; the blocks run one after another, from index 0 on. A code other than
 * 0 is the failure of the task; the message includes the text that the function passed to aclsimSetReason. */
typedef aclError (*aclsimCustomKernelFunc)(const aclsimKernelLaunch *launch);

/* Called at the launch of a kernel to list the memory that it will use: writes at most `room` ranges and returns their
 * number. The ranges are checked at the launch, and again when the task runs. Not called if the arguments are in device
 * memory. */
typedef size_t (*aclsimTouchFunc)(const aclsimKernelLaunch *launch, aclsimRange *ranges, size_t room);

/* The CPU implementation of a custom kernel. touch may be NULL: then the memory that the kernel uses is unknown.
 * parameters has the sizes of the parameters, which are in args like the members of a C struct. The sizes are needed if
 * a program queries them (aclrtFunctionGetParamInfo) or passes arguments one by one (aclrtLaunchKernelWithArgsArray);
 * NULL means that they are unknown.
 *
 * A shared library that exports `const aclsimCustomKernel aclsim_kernel_<kernel>` (in C++ declared extern "C") for each
 * kernel can be loaded instead of a card's binary, from a file of any name or from memory:
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
 * The vendor's compiler generates host functions that launch kernels (kernel<<<…>>>, or
 * aclrtlaunch_<kernel>(numBlocks, stream, …)). A program that calls them must define them itself, with
 * aclsimLaunchKernel. */
typedef struct aclsimCustomKernel {
    aclsimCustomKernelFunc run;
    aclsimTouchFunc touch;
    const size_t *parameters;
    size_t parameterCount;
    void *userData;
} aclsimCustomKernel;

/** Register the implementation of a kernel for later launches, also instead of one from a library. binary is the path
 *  of the binary, or its file name with or without the ending; NULL means any binary. With a name, the binary need not
 *  exist. A NULL implementation removes it. */
ACL_API(8, 1) aclError aclsimRegisterCustomKernel(const char *binary, const char *kernel,
    const aclsimCustomKernel *implementation);

/** Queue a kernel without a binary: numBlocks blocks of an implementation. kernel is its name in messages. The
 *  implementation and args are copied. */
ACL_API(8, 1) aclError aclsimLaunchKernel(const char *kernel, const aclsimCustomKernel *implementation,
    uint32_t numBlocks, const void *args, size_t argsSize, aclrtStream stream);

/** Register a host symbol for a kernel, for functions that take a symbol (aclrtGetFuncBySymbol,
 *  aclrtLaunchKernelWithArgsArray). Code from the vendor's compiler registers its symbols itself. A NULL function
 *  removes the symbol. */
ACL_API(8, 1) aclError aclsimRegisterSymbol(const void *symbol, aclrtFuncHandle function);

/** Register a host symbol for a variable of a binary, for functions that take a symbol (aclrtGetSymbolAddress,
 *  aclrtMemcpyToSymbol). Code from the vendor's compiler registers its symbols itself. A NULL binary removes the
 *  symbol. */
ACL_API(8, 1) aclError aclsimRegisterVariable(const void *symbol, aclrtBinHandle binary, const char *name);

/** Number of live handles, blocks of memory and models: of one kind, by its name in messages ("stream", "dataset",
 *  "data buffer", "memory", "model"), or of all kinds (NULL). Objects of the runtime itself, such as default streams,
 *  are included. Returns SIZE_MAX for an unknown kind, with a message that lists all kinds. */
ACL_API(8, 1) size_t aclsimLiveCount(const char *kind);

/** The variant of a public function that records each call in the trace, and that faults can make fail, for libraries
 *  that look functions up by name. Calls of C programs that are linked with this library pass it without that.
 *  NULL if the process is not traced and has no faults, or the function has no variant. */
ACL_API(8, 1) void *aclsimTraced(const char *name);

/** Replace the faults: a list like that of ACL_SIM_FAULTS, "none", or NULL for the list of the setting. Their counts
 *  and times begin anew, and tasks that a fault held back continue. Libraries that look functions up by name take their
 *  variants from aclsimTraced once there are faults. Returns 100000 for a text that is not such a list; the message
 *  names the word. */
ACL_API(8, 1) aclError aclsimSetFaults(const char *faults);

/** How many faults are in force. */
ACL_API(8, 1) size_t aclsimFaultCount(void);

/** The text of one of the faults in force, how many calls or tasks it has counted, and how many of them it has struck.
 *  Returns 100000 if `index` is not below their number, or if `length`, of the array `text`, is too small. */
ACL_API(8, 1) aclError aclsimGetFault(size_t index, char *text, size_t length, uint64_t *counted, uint64_t *struck);

/** The time in nanoseconds of the calling thread by the setting clock: that of the monotonic clock, or with "model" the
 *  virtual time up to which the host has waited, which begins at 0. */
ACL_API(8, 1) uint64_t aclsimClock(void);

/** Write the events so far into the file that the setting trace names. This also happens in aclFinalize and
 *  aclsimReset, and when the program exits. Returns 107000 if nothing is traced, or the file cannot be written. */
ACL_API(8, 1) aclError aclsimWriteTrace(void);

/** The address of a number that is not 0 while a checker or the trace is on, so that calls of aclsimSetLine are
 *  useful. */
ACL_API(8, 1) const int32_t *aclsimWantsLines(void);

/** Set the line of the program that makes the next calls of this thread, such as "train.py:12 in step", for the reports
 *  of checkers: for libraries that call this one for an interpreter. NULL: it is unknown. The text must never change
 *  or be freed. */
ACL_API(8, 1) aclError aclsimSetLine(const char *text);

/** Set whether the next calls of this thread are a library's own (1) or the program's (0): the checker of leaks leaves
 *  out what a library makes, because that library ends it. */
ACL_API(8, 1) aclError aclsimSetLibrary(int32_t isLibrary);

/** Name the live block of memory that contains an address, for the reports of checkers. The name is copied, and cut
 *  after 63 bytes. Does nothing while no checker is on. Returns 107000 if no block contains the address. */
ACL_API(8, 1) aclError aclsimNameMemory(const void *address, const char *name);

/** Number of findings of the checkers since the last aclsimReset or aclsimForgetFindings. */
ACL_API(8, 1) size_t aclsimFindingCount(void);

/** One of the first 4,096 of these findings as a JSON object, in the order in which they were made; NULL past the end.
 *  The text is valid until aclsimReset or aclsimForgetFindings. */
ACL_API(8, 1) const char *aclsimFinding(size_t index);

/** Report that a program did not look at the code that a call returned to it: for libraries that call this one for an
 *  interpreter. The line, such as "train.py:12 in step", must never change or be freed. */
ACL_API(8, 1) aclError aclsimReportIgnored(const char *function, int32_t code, const char *line);

/** Forget the findings so far. One that is made again is reported again. */
ACL_API(8, 1) aclError aclsimForgetFindings(void);

/** Number of declared functions that the simulator does not implement. */
ACL_API(8, 1) size_t aclsimMissingCount(void);

/** Name of one of these functions, in alphabetical order; NULL past the end. */
ACL_API(8, 1) const char *aclsimMissingName(size_t index);

/** Number of operators; if implemented is not 0, only operators with a kernel count. */
ACL_API(8, 1) size_t aclsimOperatorCount(int32_t implemented);

/** Say whether an operator (aclnnAdd) has a kernel: implemented receives 1 or 0. inputs and outputs receive the data
 *  types that its built-in kernel takes as first operand and as first result, as sets in which bit n is the type of
 *  number n. The kernel is asked about small tensors; both are 0 if no call was found that it accepts. Fails if no
 *  operator has this name (100000). */
ACL_API(8, 1) aclError aclsimOperatorKernel(const char *name, int32_t *implemented, uint64_t *inputs,
    uint64_t *outputs);
