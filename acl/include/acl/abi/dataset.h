/* Datasets: the input and output buffers of a model execution. */

/** Create an empty dataset.
 *  mdl.create_dataset() -> value */
ACL_API(8, 1) aclmdlDataset *aclmdlCreateDataset(void);

/** Destroy a dataset, but not its buffers.
 *  mdl.destroy_dataset(dataset) -> ret */
ACL_API(8, 1) aclError aclmdlDestroyDataset(const aclmdlDataset *dataset);

/** Append a data buffer to a dataset.
 *  mdl.add_dataset_buffer(dataset, dataBuffer) -> (=dataset, ret) */
ACL_API(8, 1) aclError aclmdlAddDatasetBuffer(aclmdlDataset *dataset, aclDataBuffer *dataBuffer);

/** Number of data buffers in a dataset.
 *  mdl.get_dataset_num_buffers(dataset) -> value */
ACL_API(8, 1) size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset *dataset);

/** The data buffer at an index, NULL outside the dataset.
 *  mdl.get_dataset_buffer(dataset, index) -> value */
ACL_API(8, 1) aclDataBuffer *aclmdlGetDatasetBuffer(const aclmdlDataset *dataset, size_t index);

/** Set the actual tensor description of the buffer at an index.
 *  mdl.set_dataset_tensor_desc(dataset, tensorDesc, index) -> (=dataset, ret) */
ACL_API(8, 1) aclError aclmdlSetDatasetTensorDesc(aclmdlDataset *dataset, aclTensorDesc *tensorDesc, size_t index);

/** The actual tensor description of the buffer at an index.
 *  mdl.get_dataset_tensor_desc(dataset, index) -> value */
ACL_API(8, 1) aclTensorDesc *aclmdlGetDatasetTensorDesc(const aclmdlDataset *dataset, size_t index);

/** Create the parameters of image preprocessing for a batch.
 *  mdl.create_aipp(batchSize) -> value */
ACL_API(8, 1) aclmdlAIPP *aclmdlCreateAIPP(uint64_t batchSize);
