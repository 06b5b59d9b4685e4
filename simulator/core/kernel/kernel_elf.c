/* Reads the symbols of ELF files. Structures are copied out, because the file does not guarantee their alignment.
 * Nothing here has state or a lock; the caller owns the file's bytes. */
#include "kernel_inner.h"
#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

#define MEMORY_MAX (UINT64_C(1) << 40) /* more than any device has; keeps sums of sections from overflowing */
#define ZEROED_ALIGN 512

static bool copy_from(struct sim_bytes file, uint64_t offset, void *to, size_t size)
{
    if (offset > file.by_size || size > file.by_size - offset)
        return false;
    memcpy(to, file.by_data + offset, size);
    return true;
}

static bool section_at(const struct sim_elf *elf, uint64_t index, Elf64_Shdr *section)
{
    return index < elf->el_section_count &&
           copy_from(elf->el_file, elf->el_sections + index * sizeof *section, section, sizeof *section);
}

static bool in_file(const struct sim_elf *elf, const Elf64_Shdr *section)
{
    return section->sh_offset <= elf->el_file.by_size && section->sh_size <= elf->el_file.by_size - section->sh_offset;
}

static bool is_zeroed(const Elf64_Shdr *section)
{
    return section->sh_type == SHT_NOBITS && (section->sh_flags & SHF_ALLOC) != 0 && section->sh_size < MEMORY_MAX;
}

static uint64_t next_zeroed(uint64_t memory, const Elf64_Shdr *section)
{
    uint64_t end = (memory + ZEROED_ALIGN - 1) / ZEROED_ALIGN * ZEROED_ALIGN + section->sh_size;
    return end < MEMORY_MAX ? end : MEMORY_MAX;
}

/* Finds the offset in memory of the section with this number. */
static bool section_place(const struct sim_elf *elf, uint64_t number, const Elf64_Shdr *section, uint64_t *place)
{
    if (section->sh_type != SHT_NOBITS) {
        *place = section->sh_offset;
        return in_file(elf, section);
    }
    uint64_t memory = elf->el_file.by_size;
    Elf64_Shdr before;
    for (uint64_t i = 0; i <= number && section_at(elf, i, &before); i++)
        if (is_zeroed(&before))
            memory = next_zeroed(memory, &before);
    *place = memory - section->sh_size;
    return is_zeroed(section) && memory < MEMORY_MAX;
}

/* Finds the symbol table of a type, with its names. */
static bool take_symbols(struct sim_elf *elf, uint32_t type)
{
    Elf64_Shdr table, names;
    for (uint64_t i = 0; section_at(elf, i, &table); i++) {
        if (table.sh_type != type || table.sh_entsize != sizeof(Elf64_Sym) || !in_file(elf, &table) ||
            !section_at(elf, table.sh_link, &names) || names.sh_type != SHT_STRTAB || !in_file(elf, &names))
            continue;
        elf->el_symbols = table.sh_offset;
        elf->el_symbol_count = table.sh_size / sizeof(Elf64_Sym);
        elf->el_names = (struct sim_bytes){elf->el_file.by_data + names.sh_offset, names.sh_size};
        return true;
    }
    return false;
}

bool sim_kernel_elf_open(struct sim_bytes file, struct sim_elf *elf)
{
    Elf64_Ehdr header;
    *elf = (struct sim_elf){.el_file = file, .el_memory = file.by_size};
    if (!copy_from(file, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || file.by_size >= MEMORY_MAX)
        return false;
    elf->el_type = header.e_type;
    elf->el_machine = header.e_machine;
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > file.by_size)
        return true;
    elf->el_sections = header.e_shoff;
    uint64_t room = (file.by_size - header.e_shoff) / sizeof(Elf64_Shdr);
    elf->el_section_count = header.e_shnum < room ? header.e_shnum : room;
    Elf64_Shdr section;
    for (uint64_t i = 0; section_at(elf, i, &section); i++)
        if (is_zeroed(&section))
            elf->el_memory = next_zeroed(elf->el_memory, &section);
    if (!take_symbols(elf, SHT_SYMTAB))
        take_symbols(elf, SHT_DYNSYM);
    return true;
}

/* Finds a symbol's bytes: symbols of object files count from their section, others from address 0. */
static bool place_symbol(const struct sim_elf *elf, const Elf64_Sym *entry, struct sim_symbol *symbol)
{
    Elf64_Shdr section;
    uint64_t place;
    if (entry->st_shndx == SHN_UNDEF || !section_at(elf, entry->st_shndx, &section) ||
        !section_place(elf, entry->st_shndx, &section, &place))
        return false;
    uint64_t inside = entry->st_value - (elf->el_type == ET_REL ? 0 : section.sh_addr);
    if (inside > section.sh_size || entry->st_size > section.sh_size - inside)
        return false;
    symbol->sy_place = place + inside;
    symbol->sy_size = entry->st_size;
    return true;
}

bool sim_kernel_elf_symbol(const struct sim_elf *elf, uint64_t index, struct sim_symbol *symbol)
{
    Elf64_Sym entry;
    if (index >= elf->el_symbol_count ||
        !copy_from(elf->el_file, elf->el_symbols + index * sizeof entry, &entry, sizeof entry))
        return false;
    unsigned type = ELF64_ST_TYPE(entry.st_info);
    if ((type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) || entry.st_name >= elf->el_names.by_size)
        return false;
    symbol->sy_name = (const char *)elf->el_names.by_data + entry.st_name;
    symbol->sy_is_data = type == STT_OBJECT;
    return *symbol->sy_name != '\0' &&
           memchr(symbol->sy_name, '\0', elf->el_names.by_size - entry.st_name) != NULL &&
           place_symbol(elf, &entry, symbol);
}

bool sim_kernel_elf_find(const struct sim_elf *elf, const char *name, const char *ending, struct sim_symbol *symbol)
{
    size_t length = strlen(name);
    for (uint64_t i = 0; i < elf->el_symbol_count; i++)
        if (sim_kernel_elf_symbol(elf, i, symbol) && strncmp(symbol->sy_name, name, length) == 0 &&
            strcmp(symbol->sy_name + length, ending) == 0)
            return true;
    *symbol = (struct sim_symbol){0};
    return false;
}

bool sim_kernel_elf_is_library(const struct sim_elf *elf)
{
    return elf->el_type == ET_DYN && elf->el_machine == MACHINE;
}
