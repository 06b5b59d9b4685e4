/* Binaries of kernels: symbols of ELF files. */
#include "fuzz.h"
#include "kernel/kernel_inner.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_elf elf;
    struct sim_symbol symbol, found;
    if (!sim_kernel_elf_open((struct sim_bytes){data, size}, &elf))
        return 0;
    ENSURE(elf.el_memory >= size);
    for (uint64_t i = 0; i < elf.el_symbol_count; i++) {
        if (!sim_kernel_elf_symbol(&elf, i, &symbol))
            continue;
        ENSURE(symbol.sy_place <= elf.el_memory && symbol.sy_size <= elf.el_memory - symbol.sy_place);
        ENSURE(sim_kernel_elf_find(&elf, symbol.sy_name, "", &found) && strcmp(found.sy_name, symbol.sy_name) == 0);
    }
    sim_kernel_elf_is_library(&elf);
    return 0;
}
