/* Entry points of executors. The tensor's own address is changed before the executor is looked at, as documented. */
#include "row.h"

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
    SIM_TRY(sim_list_open(tensors, SIM_LIST_TENSORS, "tensors", &found));
    const aclTensor *tensor = member < found->li_count ? found->li_members[member] : NULL;
    sim_object_close(found);
    SIM_ARGUMENT(tensor != NULL, ACLNN_ERR_PARAM_INVALID, "relativeIndex is %zu, expected a member of the list",
                 member);
    SIM_TRY(set_tensor(tensor, address));
    return sim_executor_set_address(executor, directions, true, index, member, address);
}

#define ANY (ACLSIM_IN | ACLSIM_OUT)

aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)
{
    SIM_ENTER();
    return set_plain(executor, ANY, index, tensor, addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)
{
    SIM_ENTER();
    return set_plain(executor, ANY, index, tensor, addr);
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)
{
    SIM_ENTER();
    return set_plain(executor, ACLSIM_IN, index, tensor, addr);
}

aclnnStatus AclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)
{
    SIM_ENTER();
    return set_plain(executor, ACLSIM_IN, index, tensor, addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)
{
    SIM_ENTER();
    return set_plain(executor, ACLSIM_OUT, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)
{
    SIM_ENTER();
    return set_plain(executor, ACLSIM_OUT, index, tensor, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList *tensors, void *addr)
{
    SIM_ENTER();
    return set_member(executor, ANY, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList *tensors, void *addr)
{
    SIM_ENTER();
    return set_member(executor, ANY, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList *tensors, void *addr)
{
    SIM_ENTER();
    return set_member(executor, ACLSIM_IN, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList *tensors, void *addr)
{
    SIM_ENTER();
    return set_member(executor, ACLSIM_IN, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList *tensors, void *addr)
{
    SIM_ENTER();
    return set_member(executor, ACLSIM_OUT, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList *tensors, void *addr)
{
    SIM_ENTER();
    return set_member(executor, ACLSIM_OUT, irIndex, relativeIndex, tensors, addr);
}
