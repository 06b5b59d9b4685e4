/* Entry points of executors. A setter changes the tensor's own address before it checks the executor, as documented. */
#include "operator/row.h"

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    SIM_ENTER();
    return sim_executor_repeat(executor);
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    SIM_ENTER();
    return sim_executor_destroy(executor);
}

static aclnnStatus set_tensor(const aclTensor *tensor, void *address)
{
    struct sim_tensor *found;
    SIM_ARGUMENT(tensor != NULL, ACLNN_ERR_INNER_NULLPTR, "tensor is NULL, expected a live tensor");
    SIM_TRY(sim_tensor_open(tensor, "tensor", &found));
    found->te_data = address;
    sim_object_close(found);
    return ACL_SUCCESS;
}

static aclnnStatus set_plain(const aclOpExecutor *executor, unsigned directions, size_t index, const aclTensor *tensor,
                             void *address)
{
    SIM_TRY(set_tensor(tensor, address));
    return sim_executor_set_address(executor, directions, false, index, 0, address);
}

static aclnnStatus set_member(const aclOpExecutor *executor, unsigned directions, size_t index, size_t member,
                              const aclTensorList *tensors, void *address)
{
    struct sim_list *found;
    SIM_ARGUMENT(tensors != NULL, ACLNN_ERR_INNER_NULLPTR, "tensors is NULL, expected a live list");
    SIM_TRY(sim_tensor_list_open(tensors, SIM_LIST_TENSORS, "tensors", &found));
    const aclTensor *tensor = member < found->li_count ? found->li_members[member] : NULL;
    sim_object_close(found);
    SIM_ARGUMENT(tensor != NULL, ACLNN_ERR_PARAM_INVALID, "relativeIndex is %zu, expected the index of a tensor in the "
                 "list",
                 member);
    SIM_TRY(set_tensor(tensor, address));
    return sim_executor_set_address(executor, directions, true, index, member, address);
}

#define ANY (ACLSIM_IN | ACLSIM_OUT)

/* Setters, under their older names (with a capital A) and under those of 8.5. */
#define SET_PLAIN(name, directions)                                                                                    \
    aclnnStatus name(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)                       \
    {                                                                                                                  \
        SIM_ENTER();                                                                                                   \
        return set_plain(executor, directions, index, tensor, addr);                                                   \
    }
#define SET_MEMBER(name, directions)                                                                                   \
    aclnnStatus name(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, aclTensorList *tensors,      \
                     void *addr)                                                                                       \
    {                                                                                                                  \
        SIM_ENTER();                                                                                                   \
        return set_member(executor, directions, irIndex, relativeIndex, tensors, addr);                                \
    }

SET_PLAIN(AclSetTensorAddr, ANY)
SET_PLAIN(aclSetTensorAddr, ANY)
SET_PLAIN(AclSetInputTensorAddr, ACLSIM_IN)
SET_PLAIN(aclSetInputTensorAddr, ACLSIM_IN)
SET_PLAIN(AclSetOutputTensorAddr, ACLSIM_OUT)
SET_PLAIN(aclSetOutputTensorAddr, ACLSIM_OUT)
SET_MEMBER(AclSetDynamicTensorAddr, ANY)
SET_MEMBER(aclSetDynamicTensorAddr, ANY)
SET_MEMBER(AclSetDynamicInputTensorAddr, ACLSIM_IN)
SET_MEMBER(aclSetDynamicInputTensorAddr, ACLSIM_IN)
SET_MEMBER(AclSetDynamicOutputTensorAddr, ACLSIM_OUT)
SET_MEMBER(aclSetDynamicOutputTensorAddr, ACLSIM_OUT)
