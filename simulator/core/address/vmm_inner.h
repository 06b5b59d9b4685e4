/* Shared by vmm.c (addresses and mappings) and vmm_physical.c (physical memory). */
#ifndef SIM_VMM_INNER_H
#define SIM_VMM_INNER_H

#include "base/handle.h"
#include "vmm.h"

extern struct sim_lock sim_vmm_lock;
struct sim_physical;

/* Functions for memory that was exported to other processes; called with the lock held. */
struct sim_sharer {
    bool (*sh_is_wanted)(const struct sim_physical *memory); /* whether another process uses it */
    void (*sh_withdraw)(const struct sim_physical *memory);  /* from now on no other process can import it */
};

struct sim_physical {
    struct sim_slot ph_slot; /* its handle is published while the program holds it */
    uint64_t ph_handle;
    uint32_t ph_refs;        /* allocated or retained by the program, not freed yet */
    uint32_t ph_maps;
    uint32_t ph_birth;       /* of the mapping that was accessible first; 0: none was */
    struct sim_memory_kind ph_kind;
    struct sim_extent ph_pages; /* in the file; in a list while it is freed here but used by other processes */
    int ph_file;             /* its own file; for memory of a device, that of the device zone */
    const struct sim_sharer *ph_sharer; /* set before ph_shared is */
    uint64_t ph_shared;      /* the number it was exported under; 0: not exported */
    uint64_t ph_imported;    /* the number it was imported by; 0: made by this process */
    bool ph_lost;            /* the heap that its pages belong to is closed, or is being closed */
};

/* All are called with the lock held. */
struct sim_physical *sim_vmm_physical_find(aclrtDrvMemHandle handle); /* NULL without a message */
aclError sim_vmm_physical_refuse(aclrtDrvMemHandle handle);
aclrtDrvMemHandle sim_vmm_physical_hold(struct sim_physical *memory);
void sim_vmm_physical_drop_map(struct sim_physical *memory);
/* Adopts imported memory, the bytes `pages` of a file, and owns that file from then on. Returns 107000 if the number
 * was imported already. Takes the lock itself. */
aclError sim_vmm_physical_adopt(const struct sim_memory_kind *kind, struct sim_extent pages, uint64_t shared, int file,
                            aclrtDrvMemHandle *handle);
/* Ends the program's references to a device's memory (-1: to all memory), which is not mapped any more. */
void sim_vmm_physical_forget(int32_t device);
/* The pages that other processes still use when a heap is closed, and taking them again when it has been opened. */
const struct sim_extent *sim_vmm_physical_kept(void);
void sim_vmm_physical_retake(int32_t device);
void sim_vmm_physical_after_fork(void);

#endif
