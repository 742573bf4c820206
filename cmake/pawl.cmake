# The functions that the CMakeLists.txt of every folder uses.

find_program(PAWL_CCACHE ccache)
if(PAWL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Paths are relative to the checkout, so that a second checkout of the same commit uses the
    # first one's cache.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${PAWL_CCACHE})
endif()
find_program(PAWL_MOLD mold)
if(PAWL_MOLD)
    add_link_options(-fuse-ld=mold)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Options of all our own targets. Warnings are errors only in presets that ask for it.
add_library(pawl_options INTERFACE)
target_include_directories(pawl_options INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR})
target_compile_definitions(pawl_options INTERFACE
    BOOST_ASIO_NO_DEPRECATED BOOST_ALL_NO_LIB $<$<BOOL:${PAWL_FAULTS}>:PAWL_FAULTS=1>)
if(PAWL_WARNINGS)
    target_compile_options(pawl_options INTERFACE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
        -Wold-style-cast -Werror
        # g++ 12.2 has false warnings inside std::string and std::variant at -O2.
        $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized>)
endif()

if(CMAKE_UNITY_BUILD)
    # In a unity file g++ takes an anonymous namespace of an included file for one of a header, and clang warns of a local name
    # that is also in the anonymous namespace of a neighbour.
    target_compile_options(pawl_options INTERFACE
        $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage> $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>)
endif()

# pawl_library(core SOURCES a.cpp b.cpp PUBLIC pawl::x PRIVATE Boost::json)  -> pawl_core, pawl::core
function(pawl_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
    add_library(pawl_${name} STATIC ${ARG_SOURCES})
    add_library(pawl::${name} ALIAS pawl_${name})
    target_link_libraries(pawl_${name} PUBLIC ${ARG_PUBLIC} PRIVATE pawl_options ${ARG_PRIVATE})
    target_include_directories(pawl_${name} INTERFACE ${CMAKE_SOURCE_DIR}/include)
endfunction()

# pawl_program(rides SOURCES main.cpp LIBRARIES pawl::http)  -> bin/rides
function(pawl_program name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE pawl_options ${ARG_LIBRARIES})
endfunction()

# pawl_tests(core LABEL unit SOURCES claim_test.cpp LIBRARIES pawl::core)  -> one program, one ctest entry a TEST
# NO_UNITY: the files are compiled one by one, because several of them use the same local names.
# PAWL_TEST_OPTIONS (a preset's): options of the tests' own code, which is most of what a sanitizer's build compiles.
function(pawl_tests name)
    if(NOT PAWL_TESTS)
        return()
    endif()
    cmake_parse_arguments(ARG "NO_UNITY" "LABEL;FILTER" "SOURCES;LIBRARIES" ${ARGN})
    if(NOT rapidcheck_FOUND)
        list(FILTER ARG_SOURCES EXCLUDE REGEX property_test)
    endif()
    add_executable(test_${name} ${ARG_SOURCES})
    if(ARG_NO_UNITY)
        set_target_properties(test_${name} PROPERTIES UNITY_BUILD OFF)
    endif()
    target_compile_options(test_${name} PRIVATE ${PAWL_TEST_OPTIONS})
    target_link_libraries(test_${name} PRIVATE pawl_options ${ARG_LIBRARIES} $<TARGET_NAME_IF_EXISTS:rapidcheck>
        GTest::gmock GTest::gtest_main)
    gtest_discover_tests(test_${name} TEST_FILTER "${ARG_FILTER}" PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300
        DISCOVERY_TIMEOUT 60)
endfunction()

# pawl_sharded_test(name program N [ARGUMENTS...])  -> N ctest entries, started first: each mostly waits for servers
function(pawl_sharded_test name program shards)
    math(EXPR last "${shards} - 1")
    foreach(shard RANGE ${last})
        add_test(NAME ${name}_${shard} COMMAND ${program} ${ARGN})
        set_tests_properties(${name}_${shard} PROPERTIES LABELS conformance TIMEOUT 900 COST 1000
            ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
    endforeach()
endfunction()

# pawl_embed_sql(target OUT sql.hpp NAMESPACE a::b FILES x.sql y.sql)
# Generates <build>/generated/<OUT>, which the target and its tests may include by that path.
function(pawl_embed_sql target)
    cmake_parse_arguments(ARG "" "OUT;NAMESPACE" "FILES" ${ARGN})
    set(out ${CMAKE_BINARY_DIR}/generated/${ARG_OUT})
    list(TRANSFORM ARG_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    add_custom_command(
        OUTPUT ${out}
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_sql --namespace ${ARG_NAMESPACE} --out ${out}
                ${ARG_FILES}
        DEPENDS ${ARG_FILES} ${CMAKE_SOURCE_DIR}/tools/embed_sql
        VERBATIM)
    target_sources(${target} PRIVATE ${out})
    target_include_directories(${target} PUBLIC ${CMAKE_BINARY_DIR}/generated)
endfunction()
