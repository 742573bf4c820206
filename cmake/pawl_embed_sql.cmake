# pawl_embed_sql(target OUT rides/statements.hpp NAMESPACE a::b FILES x.sql y.sql)
# Makes the header <OUT> from named SQL statements. The target, and what links to it, includes it by that path; the target may be an
# INTERFACE library. The installed packages have this file too, with the script beside it.
function(pawl_embed_sql target)
    cmake_parse_arguments(ARG "" "OUT;NAMESPACE" "FILES" ${ARGN})
    find_package(Python3 QUIET REQUIRED COMPONENTS Interpreter)  # Here: what it finds is known in the caller's folder only.
    set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_sql)
    if(NOT EXISTS ${script})
        cmake_path(SET script NORMALIZE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/embed_sql)
    endif()
    set(out ${PROJECT_BINARY_DIR}/generated/${ARG_OUT})
    list(TRANSFORM ARG_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    add_custom_command(
        OUTPUT ${out}
        COMMAND ${Python3_EXECUTABLE} ${script} --namespace ${ARG_NAMESPACE} --out ${out} ${ARG_FILES}
        DEPENDS ${ARG_FILES} ${script}
        VERBATIM)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")  # Has no sources: what links to it waits for the header.
        string(MAKE_C_IDENTIFIER ${target}_${ARG_OUT} header)
        add_custom_target(${header} DEPENDS ${out})
        add_dependencies(${target} ${header})
        target_include_directories(${target} INTERFACE ${PROJECT_BINARY_DIR}/generated)
    else()
        target_sources(${target} PRIVATE ${out})
        target_include_directories(${target} PUBLIC ${PROJECT_BINARY_DIR}/generated)
    endif()
endfunction()
