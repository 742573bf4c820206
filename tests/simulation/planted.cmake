# Copies of product files with the faults of planted_faults.txt. A program with them among its own objects uses them in place of
# the files in the libraries: the linker takes a file from a library only for a symbol that is still missing.
set(faults ${CMAKE_CURRENT_SOURCE_DIR}/planted_faults.txt)
set(planted ${CMAKE_CURRENT_BINARY_DIR}/planted)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${faults})
set(originals ${pawl_planted_files})
list(REMOVE_DUPLICATES originals)
set(copies ${originals})
list(TRANSFORM copies REPLACE "/" "_")
list(TRANSFORM copies PREPEND ${planted}/)
list(TRANSFORM originals PREPEND ${PROJECT_SOURCE_DIR}/)
add_custom_command(
    OUTPUT ${copies} ${planted}/planted_names.hpp
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/plant_faults --root ${PROJECT_SOURCE_DIR} --faults ${faults} --out ${planted}
    DEPENDS ${originals} ${faults} ${CMAKE_CURRENT_SOURCE_DIR}/plant_faults
    VERBATIM)
add_library(pawl_planted OBJECT ${copies} ${planted}/planted_names.hpp)
target_link_libraries(pawl_planted PRIVATE pawl_options pawl::simulation)
target_include_directories(pawl_planted INTERFACE ${planted})

pawl_tests(planted_faults WITHOUT_SANITIZERS SOURCES mutants_test.cpp LIBRARIES pawl_planted pawl::simulation)
pawl_sharded_test(planted_faults test_planted_faults 4 LABELS simulation)
# Tells a history in which a planted fault shows: PAWL_PLANTED=no_fence build/dev/bin/pawl-sim-planted
pawl_program(pawl-sim-planted SOURCES main.cpp LIBRARIES pawl_planted pawl::simulation pawl::cli CLI11::CLI11 Threads::Threads)
set_target_properties(pawl-sim-planted PROPERTIES EXCLUDE_FROM_ALL ON)
