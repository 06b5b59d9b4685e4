# find_package(ascendcl): target ascendcl::ascendcl, and ascendcl::<name> for every other library of the toolkit.
get_filename_component(ascendcl_HOME "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(ascendcl_INCLUDE_DIRS "${ascendcl_HOME}/include")
set(ascendcl_LIBRARIES "${ascendcl_HOME}/lib64/libascendcl.so")

file(GLOB _ascendcl_files "${ascendcl_HOME}/lib64/lib*.so")
foreach(_ascendcl_file IN LISTS _ascendcl_files)
    get_filename_component(_ascendcl_name "${_ascendcl_file}" NAME_WE)
    string(REGEX REPLACE "^lib" "" _ascendcl_name "${_ascendcl_name}")
    if(NOT TARGET ascendcl::${_ascendcl_name})
        add_library(ascendcl::${_ascendcl_name} SHARED IMPORTED)
        set_target_properties(ascendcl::${_ascendcl_name} PROPERTIES
            IMPORTED_LOCATION "${_ascendcl_file}" INTERFACE_INCLUDE_DIRECTORIES "${ascendcl_INCLUDE_DIRS}")
    endif()
endforeach()
unset(_ascendcl_files)
unset(_ascendcl_file)
unset(_ascendcl_name)
