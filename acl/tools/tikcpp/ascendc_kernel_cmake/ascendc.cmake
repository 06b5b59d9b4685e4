# Kernels in AscendC are compiled by the vendor's compiler, which is not here. Projects that have some still configure and
# build: each library of kernels becomes an empty one, and says so.

function(ascendc_library name type)
    message(WARNING
        "ascendc_library(${name}): no AscendC compiler is here, the library stays empty. A program that launches its "
        "kernels does not link before it has them for this processor: acl/acl_sim.h says how to write one in C.")
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    list(FIND languages CXX place)
    set(empty "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp")
    if(place EQUAL -1)
        set(empty "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.c")
    endif()
    if(NOT EXISTS "${empty}")
        file(WRITE "${empty}" "typedef int ascendc_empty;\n")
    endif()
    add_library(${name} ${type} "${empty}")
endfunction()

# What these are told concerns the kernels alone.
function(ascendc_compile_definitions)
endfunction()

function(ascendc_compile_options)
endfunction()

function(ascendc_include_directories)
endfunction()
