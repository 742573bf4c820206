# The packages of Debian 12, with PAWL_PACKAGES: `cmake --workflow --preset package` makes them in build/release. Two builds of one
# commit give the same bytes if SOURCE_DATE_EPOCH is set; tests/packages/reproducible checks that.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The maintainers of Pawl <maintainers@pawl.invalid>")
set(CPACK_PACKAGE_VENDOR Pawl)
set(CPACK_COMPONENTS_ALL libpawl-dev pawl rocket-rides)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/strip_archives.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/repack.cmake)

# The packages of the headers and libraries that a program with Pawl is compiled and linked with.
set(development libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev libcurl4-openssl-dev libsqlite3-dev libpq-dev libssl-dev
    libspdlog-dev libfmt-dev libhowardhinnant-date-dev prometheus-cpp-dev pkg-config python3)
if(PAWL_REDIS)
    list(APPEND development libhiredis-dev)
endif()
if(PAWL_KAFKA)
    list(APPEND development librdkafka-dev)
endif()
if(PAWL_BANK)
    list(APPEND development libxml2-dev libssh2-1-dev)
endif()
list(JOIN development ", " CPACK_DEBIAN_LIBPAWL-DEV_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_LIBPAWL-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBPAWL-DEV_DESCRIPTION "The C++ library Pawl: headers and static libraries, for CMake and pkg-config. It has
idempotency keys, atomic phases, foreign calls, a job queue, named locks and a
retrying HTTP client, and keeps its state in SQLite or PostgreSQL.")

set(CPACK_DEBIAN_PAWL_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PAWL_DESCRIPTION "The operator's commands: pawl lists, retries and settles the requests, jobs and
dead letters of a service that is built with the library. It needs only the
service's database.")

set(CPACK_DEBIAN_ROCKET-RIDES_PACKAGE_SECTION web)
set(CPACK_DEBIAN_ROCKET-RIDES_PACKAGE_DEPENDS "passwd, tzdata, ca-certificates")
set(CPACK_DEBIAN_ROCKET-RIDES_DESCRIPTION "Rocket Rides, the example service: it books rides and charges cards, once for
each Idempotency-Key, also if the server is killed in between. The systemd
service is started by its administrator, after a view of its settings in
/etc/rocket-rides.")
foreach(script postinst prerm postrm conffiles)
    list(APPEND CPACK_DEBIAN_ROCKET-RIDES_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/${script})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/packaging/systemd/rocket-rides.service
    DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system COMPONENT rocket-rides)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/systemd/settings DESTINATION /etc/rocket-rides COMPONENT rocket-rides)

# Alert rules and a dashboard, for operators.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/deploy/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/pawl/examples COMPONENT pawl)

# Programs: their shared libraries as dependencies, and their debug information as pawl-dbgsym and rocket-rides-dbgsym.
foreach(component PAWL ROCKET-RIDES)
    set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_${component}_DEBUGINFO_PACKAGE ON)
endforeach()

# Completions and manual pages, which the programs write.
set(written ${PROJECT_BINARY_DIR}/written)
install(CODE "
    file(MAKE_DIRECTORY ${written})
    foreach(program pawl rides)
        foreach(shell bash zsh fish)
            execute_process(COMMAND ${PROJECT_BINARY_DIR}/bin/\${program} completion \${shell}
                OUTPUT_FILE ${written}/\${program}.\${shell} COMMAND_ERROR_IS_FATAL ANY)
        endforeach()
        execute_process(COMMAND ${PROJECT_BINARY_DIR}/bin/\${program} man COMMAND gzip -9n
            OUTPUT_FILE ${written}/\${program}.1.gz COMMAND_ERROR_IS_FATAL ANY)
    endforeach()" ALL_COMPONENTS)
foreach(pair "pawl;pawl" "rides;rocket-rides")
    list(GET pair 0 program)
    list(GET pair 1 component)
    foreach(place ".bash;bash-completion/completions/${program}" ".zsh;zsh/vendor-completions/_${program}"
            ".fish;fish/vendor_completions.d/${program}.fish" ".1.gz;man/man1/${program}.1.gz")
        list(GET place 0 kind)
        list(GET place 1 file)
        get_filename_component(folder ${file} DIRECTORY)
        get_filename_component(name ${file} NAME)
        install(FILES ${written}/${program}${kind} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${folder} RENAME ${name}
            COMPONENT ${component})
    endforeach()
endforeach()

set(sbom ${PROJECT_BINARY_DIR}/pawl.spdx.json)
install(CODE "execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/sbom --build ${PROJECT_BINARY_DIR}
    --version ${PROJECT_VERSION} --out ${sbom} COMMAND_ERROR_IS_FATAL ANY)" ALL_COMPONENTS)
foreach(component ${CPACK_COMPONENTS_ALL})
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright ${sbom} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${component}
        COMPONENT ${component})
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${component})
endforeach()
include(CPack)
