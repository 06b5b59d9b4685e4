/* Channels that carry tensors between host and device. */

typedef struct acltdtDataItem acltdtDataItem;
typedef struct acltdtDataset acltdtDataset;
typedef struct acltdtChannelHandle acltdtChannelHandle;

typedef enum acltdtTensorType {
    ACL_TENSOR_DATA_UNDEFINED = -1,
    ACL_TENSOR_DATA_TENSOR = 0,
    ACL_TENSOR_DATA_END_OF_SEQUENCE = 1,
    ACL_TENSOR_DATA_ABNORMAL = 2,
    ACL_TENSOR_DATA_SLICE_TENSOR = 3,
    ACL_TENSOR_DATA_END_TENSOR = 4,
} acltdtTensorType;

/** Create a channel from the host to a device. */
ACL_API(8, 1) acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name);

/** Create a channel from a device to the host that holds at most capacity elements. */
ACL_API(8, 1) acltdtChannelHandle *acltdtCreateChannelWithCapacity(uint32_t deviceId, const char *name,
    size_t capacity);

/** Destroy a channel. */
ACL_API(8, 1) aclError acltdtDestroyChannel(acltdtChannelHandle *handle);

/** Wake all threads that wait on a channel. */
ACL_API(8, 1) aclError acltdtStopChannel(acltdtChannelHandle *handle);

/** Discard the contents of a channel. */
ACL_API(8, 1) aclError acltdtCleanChannel(acltdtChannelHandle *handle);

/** Number of elements in a channel. */
ACL_API(8, 1) aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle, size_t *size);

/** Send a dataset, waiting at most timeout milliseconds (-1: for ever). */
ACL_API(8, 1) aclError acltdtSendTensor(const acltdtChannelHandle *handle, const acltdtDataset *dataset,
    int32_t timeout);

/** Receive into a dataset, waiting at most timeout milliseconds (-1: for ever). */
ACL_API(8, 1) aclError acltdtReceiveTensor(const acltdtChannelHandle *handle, acltdtDataset *dataset, int32_t timeout);

/** Create an empty dataset. */
ACL_API(8, 1) acltdtDataset *acltdtCreateDataset(void);

/** Destroy a dataset. */
ACL_API(8, 1) aclError acltdtDestroyDataset(acltdtDataset *dataset);

/** Append an item to a dataset. */
ACL_API(8, 1) aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem);

/** The item at an index of a dataset. */
ACL_API(8, 1) acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index);

/** Number of items in a dataset. */
ACL_API(8, 1) size_t acltdtGetDatasetSize(const acltdtDataset *dataset);

/** The name of a received dataset. */
ACL_API(8, 1) const char *acltdtGetDatasetName(const acltdtDataset *dataset);

/** Create an item that refers to data of the program. */
ACL_API(8, 1) acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t *dims, size_t dimNum,
    aclDataType dataType, void *data, size_t size);

/** Destroy an item. */
ACL_API(8, 1) aclError acltdtDestroyDataItem(acltdtDataItem *dataItem);

/** Query whether an item is a tensor, a slice of one, or the end of the data. */
ACL_API(8, 1) acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem);

/** The data type of an item. */
ACL_API(8, 1) aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem);

/** The data of an item. */
ACL_API(8, 1) void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem);

/** Bytes of an item's data. */
ACL_API(8, 1) size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem);

/** Number of dimensions of an item. */
ACL_API(8, 1) size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem);

/** The dimensions of an item. */
ACL_API(8, 1) aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims, size_t dimNum);

/** Number of slices of an item's tensor, and the index of this slice. */
ACL_API(8, 1) aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem, size_t *sliceNum, size_t *sliceId);
