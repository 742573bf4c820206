# The functions that the CMakeLists.txt of every folder uses.

find_program(PAWL_CCACHE ccache)
if(PAWL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Paths are relative to the checkout, so that a second checkout of the same commit uses the
    # first one's cache. Not in packages: there the bytes would depend on the use of ccache.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PAWL_CCACHE})
    if(NOT PAWL_PACKAGES)
        list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER
            ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1)
    endif()
endif()
find_program(PAWL_MOLD mold)
if(PAWL_MOLD)
    add_link_options(-fuse-ld=mold)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# address or thread, or "" without such a sanitizer.
set(PAWL_SANITIZED "")
if("${CMAKE_CXX_FLAGS} $ENV{CXXFLAGS}" MATCHES "-fsanitize=[a-z,-]*(address|thread)")
    set(PAWL_SANITIZED ${CMAKE_MATCH_1})
endif()

# Options of all our own targets. Warnings are errors only in presets that ask for it.
add_library(pawl_options INTERFACE)
target_include_directories(pawl_options INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
target_compile_definitions(pawl_options INTERFACE
    BOOST_ASIO_NO_DEPRECATED BOOST_ALL_NO_LIB $<$<BOOL:${PAWL_FAULTS}>:PAWL_FAULTS=1>)
if(PAWL_WARNINGS)
    target_compile_options(pawl_options INTERFACE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
        -Wold-style-cast -Werror
        # g++ 12.2 has false warnings inside std::string and std::variant at -O2.
        $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized>)
endif()

# How many sources are compiled as one file. 8 makes a build from zero take a third of the time; 1 makes the build after a small
# edit quicker: cmake --preset dev -DPAWL_BATCH=1
set(PAWL_BATCH 1 CACHE STRING "Sources that are compiled as one file")
set(CMAKE_UNITY_BUILD OFF)  # Instead of it; an old build folder may still ask for it.
if(PAWL_BATCH GREATER 1)
    # In such a file g++ takes an anonymous namespace of an included file for one of a header, and clang warns of a local name
    # that is also in the anonymous namespace of a neighbour.
    target_compile_options(pawl_options INTERFACE
        $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage> $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>)
endif()

# A copy of such a file with planted faults takes its place in a test program (tests/simulation/planted.cmake), so it can have no
# neighbours where that program is built.
set(pawl_planted_files "")
if(PAWL_TESTS AND NOT PAWL_SANITIZED AND EXISTS ${PROJECT_SOURCE_DIR}/tests/simulation/planted_faults.txt)
    file(STRINGS ${PROJECT_SOURCE_DIR}/tests/simulation/planted_faults.txt pawl_planted_files REGEX "^@ ")
endif()
list(TRANSFORM pawl_planted_files REPLACE "^@ [a-z_]+ " "")

# Replaces the .cpp files in the list `sources` by files that include PAWL_BATCH of them each. CMake's own unity builds name the
# files by absolute paths, so that a second checkout would find nothing in the compiler cache.
function(pawl_batch sources name)
    set(batches "")
    set(group "")
    foreach(source ${${sources}})
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE path)
        cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
        if(path MATCHES "\\.cpp$" AND NOT path IN_LIST pawl_planted_files)
            list(APPEND group ${path})
        else()
            list(APPEND batches ${source})
        endif()
    endforeach()
    list(LENGTH group count)
    if(PAWL_BATCH LESS 2 OR count LESS 2)
        return()
    endif()
    set(number 0)
    while(group)
        list(SUBLIST group 0 ${PAWL_BATCH} included)
        list(TRANSFORM included REPLACE "(.+)" "#include \"\\1\"\n")
        list(JOIN included "" text)
        set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_${number}.cpp)
        file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
        list(APPEND batches ${file})
        math(EXPR number "${number} + 1")
        if(count GREATER PAWL_BATCH)
            list(SUBLIST group ${PAWL_BATCH} -1 group)
        else()
            set(group "")
        endif()
        list(LENGTH group count)
    endwhile()
    set(${sources} ${batches} PARENT_SCOPE)
endfunction()

# pawl_library(core SOURCES a.cpp b.cpp PUBLIC pawl::x PRIVATE Boost::json)  -> pawl_core, pawl::core
function(pawl_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
    pawl_batch(ARG_SOURCES pawl_${name})
    add_library(pawl_${name} STATIC ${ARG_SOURCES})
    add_library(pawl::${name} ALIAS pawl_${name})
    target_link_libraries(pawl_${name} PUBLIC ${ARG_PUBLIC} PRIVATE pawl_options ${ARG_PRIVATE})
    target_include_directories(pawl_${name} INTERFACE ${PROJECT_SOURCE_DIR}/include)
    target_compile_features(pawl_${name} INTERFACE cxx_std_20)
    set(foreign ${ARG_PUBLIC} ${ARG_PRIVATE})
    list(FILTER foreign EXCLUDE REGEX "pawl")
    set_target_properties(pawl_${name} PROPERTIES pawl_foreign "${foreign}")  # For the archives of cmake/components.cmake.
endfunction()

# pawl_program(rides SOURCES main.cpp LIBRARIES pawl::http)  -> bin/rides
function(pawl_program name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
    pawl_batch(ARG_SOURCES ${name})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE pawl_options ${ARG_LIBRARIES})
endfunction()

# What the stages of ./test build: the programs of most tests, and those that no sanitizer's build has (tools/stages).
add_custom_target(tests)
add_custom_target(tests_without_sanitizers)

# pawl_tests(core LABEL unit SOURCES claim_test.cpp LIBRARIES pawl::core)  -> one program, one ctest entry a TEST,
# or four for all under a sanitizer, where a program starts slowly; UNLISTED: none, as the caller adds its own
# WITHOUT_SANITIZERS: not built under a sanitizer, which cannot run the tests, or learns nothing from them. The caller adds their ctest
# entries, with the label without_sanitizers: ./test --full runs all others under a sanitizer alone.
# PAWL_TEST_OPTIONS (a preset's): options of the tests' own code, which is most of what a sanitizer's build compiles; not for
# tests that compute much, which say OPTIMIZED.
function(pawl_tests name)
    cmake_parse_arguments(ARG "OPTIMIZED;UNLISTED;WITHOUT_SANITIZERS" "LABEL" "SOURCES;LIBRARIES" ${ARGN})
    if(NOT PAWL_TESTS OR (ARG_WITHOUT_SANITIZERS AND PAWL_SANITIZED))
        return()
    endif()
    if(NOT rapidcheck_FOUND)
        list(FILTER ARG_SOURCES EXCLUDE REGEX property_test)
    endif()
    pawl_batch(ARG_SOURCES test_${name})
    add_executable(test_${name} ${ARG_SOURCES})
    if(NOT ARG_OPTIMIZED)
        target_compile_options(test_${name} PRIVATE ${PAWL_TEST_OPTIONS})
    endif()
    target_link_libraries(test_${name} PRIVATE pawl_options ${ARG_LIBRARIES} $<TARGET_NAME_IF_EXISTS:rapidcheck>
        GTest::gmock GTest::gtest_main)
    if(ARG_WITHOUT_SANITIZERS)
        add_dependencies(tests_without_sanitizers test_${name})
        return()
    endif()
    add_dependencies(tests test_${name})
    if(ARG_UNLISTED)
        return()
    elseif(PAWL_SANITIZED)
        pawl_sharded_test(test_${name} test_${name} 4 LABELS ${ARG_LABEL})
    else()
        gtest_discover_tests(test_${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300 DISCOVERY_TIMEOUT 60)
    endif()
endfunction()

# pawl_whole_test(redis LABELS conformance SOURCES client_test.cpp LIBRARIES pawl::engine)  -> one program, one ctest entry:
# the servers that it needs start once. WITHOUT_SANITIZERS: as above, and the entry gets the label.
function(pawl_whole_test name)
    cmake_parse_arguments(ARG "WITHOUT_SANITIZERS" "" "LABELS;SOURCES;LIBRARIES" ${ARGN})
    set(without)
    if(ARG_WITHOUT_SANITIZERS)
        set(without WITHOUT_SANITIZERS)
    endif()
    pawl_tests(${name} ${without} UNLISTED SOURCES ${ARG_SOURCES} LIBRARIES ${ARG_LIBRARIES} Threads::Threads)
    if(TARGET test_${name})
        if(ARG_WITHOUT_SANITIZERS)
            list(APPEND ARG_LABELS without_sanitizers)
        endif()
        add_test(NAME ${name} COMMAND test_${name})
        set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
    endif()
endfunction()

# pawl_sharded_test(name program N LABELS label... ARGUMENTS argument...)  -> N ctest entries, started first, as they are long
function(pawl_sharded_test name program shards)
    cmake_parse_arguments(ARG "" "" "LABELS;ARGUMENTS" ${ARGN})
    math(EXPR last "${shards} - 1")
    foreach(shard RANGE ${last})
        add_test(NAME ${name}_${shard} COMMAND ${program} ${ARG_ARGUMENTS})
        set_tests_properties(${name}_${shard} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 900 COST 1000
            ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
    endforeach()
endfunction()
