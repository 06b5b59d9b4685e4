/* The task that does nothing, on the sketch; see acl.h. */
#ifndef SKETCH_ACL_SIM_H
#define SKETCH_ACL_SIM_H

#include "acl.h"

#define ACLSIM_TASK_LIGHT SKETCH_LIGHT

static inline void sketch_nothing(void *argument)
{
    (void)argument;
}

/* The rows launch no other function than one that does nothing. */
static inline aclError aclsimLaunchTask(aclrtStream stream, aclError (*function)(void *), void *argument,
                                        const void *ranges, size_t count, int flags)
{
    static const struct sketch_op op = {sketch_nothing, SKETCH_LIGHT};
    (void)function, (void)argument, (void)ranges, (void)count, (void)flags;
    return sketch_launch(stream, &op, NULL, 0);
}

#endif
