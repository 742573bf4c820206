# An overlay port, used from a clone: vcpkg install pawl --overlay-ports=packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)
vcpkg_find_acquire_program(PYTHON3)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURES FEATURES
    redis PAWL_REDIS
    kafka PAWL_KAFKA
    bank PAWL_BANK)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS
    ${FEATURES} -DPAWL_TESTS=OFF -DPAWL_APPS=OFF -DPAWL_BENCHMARKS=OFF -DPAWL_BATCH=8
    "-DPython3_EXECUTABLE=${PYTHON3}" "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/pawl)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
