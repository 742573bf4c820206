"""Pawl for Conan 2: `conan create packaging/conan`. The libraries that it needs come from Debian 12 by apt, not from a Conan server."""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.system.package_manager import Apt


class Pawl(ConanFile):
    name = 'pawl'
    version = '0.1.0'
    license = 'Apache-2.0'
    description = 'HTTP requests that are safe to repeat: idempotency keys, atomic phases, foreign calls'
    package_type = 'static-library'
    settings = 'os', 'arch', 'compiler', 'build_type'
    options = {'redis': [True, False], 'kafka': [True, False], 'bank': [True, False]}
    default_options = {'redis': True, 'kafka': True, 'bank': True}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, '..', '..')
        for pattern in ('CMakeLists.txt', 'LICENSE', 'cmake/*', 'include/*', 'src/*', 'docs/http.md', 'tools/embed_sql'):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def system_requirements(self):
        wanted = ['libboost1.81-dev', 'libboost-json1.81-dev', 'libboost-url1.81-dev', 'libcli11-dev', 'libcurl4-openssl-dev',
                  'libfmt-dev', 'libhowardhinnant-date-dev', 'libpq-dev', 'libspdlog-dev', 'libsqlite3-dev', 'libssl-dev',
                  'prometheus-cpp-dev', 'pkg-config']
        Apt(self).install(wanted + ['libhiredis-dev'] * bool(self.options.redis) + ['librdkafka-dev'] * bool(self.options.kafka)
                          + ['libxml2-dev', 'libssh2-1-dev'] * bool(self.options.bank))

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option in ('redis', 'kafka', 'bank'):
            toolchain.cache_variables[f'PAWL_{option.upper()}'] = bool(self.options.get_safe(option))
        for option in ('TESTS', 'APPS', 'BENCHMARKS'):
            toolchain.cache_variables[f'PAWL_{option}'] = False
        toolchain.cache_variables['PAWL_BATCH'] = '8'
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, 'LICENSE', self.source_folder, os.path.join(self.package_folder, 'licenses'))

    def package_info(self):
        # Our own pawlConfig.cmake, with the components, not one that Conan makes.
        self.cpp_info.set_property('cmake_find_mode', 'none')
        self.cpp_info.builddirs.append(os.path.join('lib', 'cmake', 'pawl'))
