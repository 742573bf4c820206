# What `cmake --install` installs: headers, archives, and the files by which CMake and pkg-config find them; the programs with PAWL_APPS.
# A component of the installation is a package of cmake/packages.cmake.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

target_link_libraries(pawl_archive_pawl PUBLIC Boost::headers)
target_compile_features(pawl_archive_pawl PUBLIC cxx_std_20)

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/pawl)
get_property(archives GLOBAL PROPERTY pawl_archives)
list(TRANSFORM archives PREPEND pawl_archive_ OUTPUT_VARIABLE targets)
install(TARGETS ${targets} EXPORT pawl
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libpawl-dev
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT pawl NAMESPACE pawl:: FILE pawlTargets.cmake DESTINATION ${folder} COMPONENT libpawl-dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pawl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libpawl-dev
    FILES_MATCHING PATTERN *.hpp)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/pawlConfig.cmake.in ${PROJECT_BINARY_DIR}/pawlConfig.cmake
    INSTALL_DESTINATION ${folder} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may break.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pawlConfig.cmake ${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/pawl_embed_sql.cmake
    DESTINATION ${folder} COMPONENT libpawl-dev)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/embed_sql DESTINATION ${folder} COMPONENT libpawl-dev)

# The names by which pkg-config knows the libraries of others; "-l" for those that have no .pc file in Debian 12.
set(pc_Boost::json -lboost_json)
set(pc_Boost::url -lboost_url)
set(pc_CURL::libcurl libcurl)
set(pc_LibXml2::LibXml2 libxml-2.0)
set(pc_OpenSSL::Crypto libcrypto)
set(pc_PkgConfig::HIREDIS hiredis)
set(pc_PkgConfig::LIBSSH2 libssh2)
set(pc_PkgConfig::PROMETHEUS_CORE prometheus-cpp-core)
set(pc_PkgConfig::rdkafka rdkafka)
set(pc_PostgreSQL::PostgreSQL libpq)
set(pc_SQLite::SQLite3 sqlite3)
set(pc_Threads::Threads -pthread)
set(pc_date::date-tz -ldate-tz)
set(pc_fmt::fmt fmt)
set(pc_spdlog::spdlog spdlog)

# The files may be moved: paths in them are relative to their own folder.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up ${up})

# pawl.pc, pawl-http.pc, ... As Pawl has only archives, the libraries that they use are not private. `pkg-config --static` is for those
# who want archives of these, too.
function(pawl_pkg_config name description)
    string(REPLACE "pawl_pawl" "pawl" library pawl_${name})
    string(REPLACE _ - file ${library})
    get_property(foreign GLOBAL PROPERTY pawl_foreign_${name})
    set(requires ${ARGN})
    set(libraries "")
    foreach(its ${foreign})
        if(NOT DEFINED pc_${its})
            message(FATAL_ERROR "cmake/install.cmake: ${its} has no name for pkg-config: add it to the table")
        endif()
        if(pc_${its} MATCHES "^-")
            list(APPEND libraries ${pc_${its}})
        else()
            list(APPEND requires ${pc_${its}})
        endif()
    endforeach()
    list(JOIN requires ", " requires)
    list(JOIN libraries " " libraries)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/pawl.pc.in ${PROJECT_BINARY_DIR}/${file}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libpawl-dev)
endfunction()
pawl_pkg_config(pawl "HTTP requests that are safe to repeat: operations, jobs, locks")
pawl_pkg_config(http "The HTTP server of Pawl" "pawl = ${PROJECT_VERSION}")
pawl_pkg_config(client "The retrying HTTP client of Pawl, and its outbox" "pawl-http = ${PROJECT_VERSION}")
pawl_pkg_config(command_line "The operator's commands of Pawl, for a program of one's own" "pawl = ${PROJECT_VERSION}")
pawl_pkg_config(operator_server "The operator's listener of Pawl: probes, metrics, the page"
    "pawl-http = ${PROJECT_VERSION}" "pawl-command-line = ${PROJECT_VERSION}")
pawl_pkg_config(program "The main() of a service with Pawl" "pawl-operator-server = ${PROJECT_VERSION}"
    "pawl-client = ${PROJECT_VERSION}" "pawl-command-line = ${PROJECT_VERSION}")
pawl_pkg_config(testing "Tests of whole operations with Pawl" "pawl = ${PROJECT_VERSION}")
if(PAWL_BANK)
    pawl_pkg_config(bank "Bank files, and SFTP, with Pawl" "pawl = ${PROJECT_VERSION}")
endif()

if(PAWL_APPS)
    install(TARGETS pawl RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT pawl)
    install(TARGETS rides RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT rocket-rides)
endif()
