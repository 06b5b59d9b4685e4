# Kernels in AscendC are compiled by the vendor's compiler, which is not here. Projects that have some still configure and
# build: each library and each binary of kernels becomes one without any, and says so.
get_filename_component(home "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_ASCENDC_HOME "${home}" CACHE INTERNAL "the toolkit")
unset(home)

function(_ascendc_empty name result)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    list(FIND languages CXX place)
    set(empty "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp")
    if(place EQUAL -1)
        set(empty "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.c")
    endif()
    if(NOT EXISTS "${empty}")
        file(WRITE "${empty}" "typedef int ascendc_empty;\n")
    endif()
    set(${result} "${empty}" PARENT_SCOPE)
endfunction()

# ascendc_library(name [STATIC | SHARED] source...)
function(ascendc_library name)
    message(WARNING
        "ascendc_library(${name}): no AscendC compiler was found, so the library is empty. A program that launches its "
        "kernels links only if you add them for this processor: acl/acl_sim.h says how to write one in C.")
    set(type "")
    if("${ARGV1}" STREQUAL "STATIC" OR "${ARGV1}" STREQUAL "SHARED")
        set(type ${ARGV1})
    endif()
    _ascendc_empty(${name} empty)
    add_library(${name} ${type} "${empty}")
    target_include_directories(${name} PUBLIC "${_ASCENDC_HOME}/include")
    target_link_libraries(${name} PUBLIC "${_ASCENDC_HOME}/lib64/libascendcl.so")
endfunction()

# ascendc_fatbin_library(name source...) makes name.o, which programs load; installed in fatbin/name. It is a shared library
# here, to which target_sources(name PRIVATE kernels.c) gives kernels for this processor.
function(ascendc_fatbin_library name)
    message(WARNING
        "ascendc_fatbin_library(${name}): no AscendC compiler was found, so ${name}.o has no kernels. A program that "
        "loads it finds kernels only if you add them for this processor: acl/acl_sim.h says how to write one in C.")
    _ascendc_empty(${name} empty)
    add_library(${name} MODULE "${empty}")
    set_target_properties(${name} PROPERTIES
        PREFIX "" SUFFIX ".o" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    target_include_directories(${name} PRIVATE "${_ASCENDC_HOME}/include")
    target_link_libraries(${name} PRIVATE "${_ASCENDC_HOME}/lib64/libascendcl.so")
    install(TARGETS ${name} LIBRARY DESTINATION "fatbin/${name}")
endfunction()

# What these are told concerns the kernels alone.
function(ascendc_compile_definitions)
endfunction()

function(ascendc_compile_options)
endfunction()

function(ascendc_include_directories)
endfunction()
