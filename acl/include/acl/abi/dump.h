/* Dump of tensors, arguments, graphs and failures. */

#define ACL_DUMP_MAX_FILE_PATH_LENGTH 4096
#define ACL_OP_DUMP_OP_AICORE_ARGS 1
#define ACL_DUMP_MAX_SHAPE_NUM 25

typedef struct aclGraphDumpOption aclGraphDumpOption;

typedef enum acldumpType {
    AIC_ERR_BRIEF_DUMP = 1,
    AIC_ERR_NORM_DUMP = 2,
    AIC_ERR_DETAIL_DUMP = 3,
    DATA_DUMP = 4,
    OVERFLOW_DUMP = 5,
} acldumpType;

typedef enum acldumpTensorType {
    ACL_DUMP_TENSOR_INPUT = 0,
    ACL_DUMP_TENSOR_OUTPUT = 1,
    ACL_DUMP_TENSOR_WORKSPACE = 2,
} acldumpTensorType;

typedef enum acldumpTensorAddressType {
    ACL_DUMP_ADDR_PTR = 0,
    ACL_DUMP_ADDR_PTR_PTR = 1,
    ACL_DUMP_ADDR_RAW = 2,
} acldumpTensorAddressType;

typedef enum acldumpTensorPlacement {
    ACL_DUMP_PLACEMENT_DEVICE = 0,
    ACL_DUMP_PLACEMENT_HOST = 1,
    ACL_DUMP_PLACEMENT_END = 2,
} acldumpTensorPlacement;

typedef struct acldumpChunk {
    char fileName[4096];
    uint32_t bufLen;
    uint32_t isLastChunk;
    int64_t offset;
    int32_t flag;
    uint8_t dataBuf[];
} acldumpChunk;

typedef struct acldumpTensorInfo {
    acldumpTensorType type;
    size_t tensorSize;
    int32_t format;
    int32_t dataType;
    int64_t *tensorAddr;
    acldumpTensorAddressType addrType;
    acldumpTensorPlacement placement;
    uint32_t argsOffset;
    uint32_t shapeNum;
    uint32_t originShapeNum;
    uint64_t shape[25];
    uint64_t originShape[25];
} acldumpTensorInfo;

/** Start dumping.
 *  mdl.init_dump() -> ret */
ACL_API(8, 1) aclError aclmdlInitDump(void);

/** Set what is dumped and where, from a JSON configuration file.
 *  mdl.set_dump([dumpCfgPath:str]) -> ret */
ACL_API(8, 1) aclError aclmdlSetDump(const char *dumpCfgPath);

/** End dumping.
 *  mdl.finalize_dump() -> ret */
ACL_API(8, 1) aclError aclmdlFinalizeDump(void);

/** Pass dumped data to a function instead of writing files.
 *  mdl.dump_reg_callback(messageCallback:callable, flag) -> ret @py */
ACL_API(8, 1) aclError acldumpRegCallback(int32_t (*const messageCallback)(const acldumpChunk *, int32_t),
    int32_t flag);

/** Write dumped data to files again.
 *  mdl.dump_unreg_callback() -> None */
ACL_API(8, 1) void acldumpUnregCallback(void);

/** The directory to which a type of dump is written. */
ACL_API(9, 0) const char *acldumpGetPath(acldumpType dumpType);

/** Write the tensors of a failed operator to a file. */
ACL_API(9, 2) aclError acldumpSaveExceptionInfo(const char *fileName, const char *userTag,
    const acldumpTensorInfo *tensors, size_t tensorCount);

/** The directory to which failure dumps are written. */
ACL_API(9, 2) aclError acldumpGetExceptionInfoPath(char *path, size_t maxLen);

/** Start dumping the arguments of operators.
 *  op.start_dump_args(dumpType, path:str) -> ret */
ACL_API(8, 1) aclError aclopStartDumpArgs(uint32_t dumpType, const char *path);

/** Stop dumping the arguments of operators.
 *  op.stop_dump_args(dumpType) -> ret */
ACL_API(8, 1) aclError aclopStopDumpArgs(uint32_t dumpType);

/** Queue a dump of an operator's tensors on the stream. */
ACL_API(9, 0) aclnnStatus aclDumpOpTensors(const char *opType, const char *opName, aclTensor **tensors,
    size_t inputTensorNum, size_t outputTensorNum, aclrtStream stream);

/** Create options for dumping a graph. */
ACL_API(8, 1) aclGraphDumpOption *aclCreateGraphDumpOpt(void);

/** Destroy options for dumping a graph. */
ACL_API(8, 1) aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption *graphDumpOpt);

/** Build the graph of a single operator and write it to a file. */
ACL_API(8, 1) aclError aclGenGraphAndDumpForOp(const char *opType, int numInputs,
    const aclTensorDesc *const inputDesc[], const aclDataBuffer *const inputs[], int numOutputs,
    const aclTensorDesc *const outputDesc[], aclDataBuffer *const outputs[], const aclopAttr *attr,
    aclopEngineType engineType, const char *graphDumpPath, const aclGraphDumpOption *graphDumpOpt);
