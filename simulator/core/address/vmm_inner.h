/* Between vmm.c (addresses and mappings) and vmm_physical.c (what they map). */
#ifndef SIM_VMM_INNER_H
#define SIM_VMM_INNER_H

#include "base/handle.h"
#include "vmm.h"

extern struct sim_lock sim_vmm_lock;
struct sim_physical;

/* Who lets other processes have memory that was exported; asked with the lock held. */
struct sim_sharer {
    bool (*sh_is_wanted)(const struct sim_physical *memory); /* another process has it */
    void (*sh_withdraw)(const struct sim_physical *memory);  /* no other process can import it from now on */
};

struct sim_physical {
    struct sim_slot ph_slot; /* its handle is published while the program holds it */
    uint64_t ph_handle;
    uint32_t ph_refs;        /* made or retained by the program, not freed yet */
    uint32_t ph_maps;
    struct sim_memory_kind ph_kind;
    struct sim_extent ph_pages; /* in the file; in a list while it is freed here and used elsewhere */
    int ph_file;             /* its own; of a device's zone when its kind has a device */
    const struct sim_sharer *ph_sharer; /* set before ph_shared is */
    uint64_t ph_shared;      /* the number it was exported under; 0: it was not */
    uint64_t ph_imported;    /* the number it was imported by; 0: it is of this process */
    bool ph_lost;            /* the heap that its pages are of is closed, or about to be */
};

/* All with the lock held. */
struct sim_physical *sim_vmm_physical_find(aclrtDrvMemHandle handle); /* NULL: leaves no message */
aclError sim_vmm_physical_refuse(aclrtDrvMemHandle handle);
aclrtDrvMemHandle sim_vmm_physical_hold(struct sim_physical *memory);
void sim_vmm_physical_drop_map(struct sim_physical *memory);
/* Imported memory, the bytes `pages` of a file that becomes its own. 107000 when the number was imported already, and
 * takes the lock itself. */
aclError sim_vmm_physical_adopt(const struct sim_memory_kind *kind, struct sim_extent pages, uint64_t shared, int file,
                            aclrtDrvMemHandle *handle);
/* Ends what the program holds of a device's memory, which is mapped nowhere any more. -1: of all memory. */
void sim_vmm_physical_forget(int32_t device);
/* The pages that other processes still have when a heap is closed, and back into it when it is open again. */
const struct sim_extent *sim_vmm_physical_kept(void);
void sim_vmm_physical_retake(int32_t device);
void sim_vmm_physical_after_fork(void);

#endif
