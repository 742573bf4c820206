"""tools/sbom lists the packages of what the compiler read and the linker used."""
import os
import tempfile
import unittest

from tidy_test import load

sbom = load('sbom')
DEPS = '''src/core/a.o: #deps 3, deps mtime 1 (VALID)
    ../src/core/a.cpp
    /usr/include/sqlite3.h
    /usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/string

src/core/b.o: #deps 1, deps mtime 1 (VALID)
    /usr/include/sqlite3.h
'''
LDD = '''\tlinux-vdso.so.1 (0x00007f)
\tlibsqlite3.so.0 => /lib/x86_64-linux-gnu/libsqlite3.so.0 (0x00007f)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f)
'''
COMPILED = [('libsqlite3-dev', '3.40', 'amd64'), ('libc6-dev', '2.36', 'amd64')]
LINKED = [('libsqlite3-0', '3.40', 'amd64')]


class Sbom(unittest.TestCase):
    def test_headers_outside_the_tree_are_found_once(self):
        self.assertEqual(sbom.headers_of(DEPS), {'/usr/include/sqlite3.h', '/usr/include/c++/12/string'})

    def test_libraries_are_found_by_name(self):
        self.assertEqual(sbom.libraries_of(LDD), {'libsqlite3.so.0': '/lib/x86_64-linux-gnu/libsqlite3.so.0'})

    def test_a_file_under_lib_has_the_owner_of_the_one_under_usr_lib(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, path in (('a:amd64', '/lib/a.so'), ('b', '/usr/lib/b.so'), ('c', '/usr/lib/c.so')):
                with open(os.path.join(folder, name + '.list'), 'w', encoding='utf-8') as file:
                    file.write('/.\n' + path + '\n')
            found = sbom.owners({'/usr/lib/a.so', '/lib/b.so'}, os.path.join(folder, '*.list'))
        self.assertEqual(found, {'a:amd64', 'b'})

    def test_the_longest_known_prefix_gives_the_licence(self):
        self.assertEqual(sbom.licence('libpq-dev'), 'PostgreSQL')
        self.assertEqual(sbom.licence('libfoo'), 'NOASSERTION')

    def test_each_package_is_described_once_and_related(self):
        made = sbom.document('0.1.0', COMPILED, LINKED, '2026-01-01T00:00:00Z')
        names = [package['name'] for package in made['packages']]
        self.assertEqual(names, ['pawl', 'libc6-dev', 'libsqlite3-0', 'libsqlite3-dev'])
        kinds = [relation['relationshipType'] for relation in made['relationships']]
        self.assertEqual(kinds, ['DESCRIBES', 'DEPENDS_ON', 'DEPENDS_ON', 'DYNAMIC_LINK'])

    def test_the_namespace_depends_on_the_packages_only(self):
        def namespace(linked, created):
            return sbom.document('0.1.0', COMPILED, linked, created)['documentNamespace']
        self.assertEqual(namespace(LINKED, 'a'), namespace(LINKED, 'b'))
        self.assertNotEqual(namespace(LINKED, 'a'), namespace([], 'a'))


if __name__ == '__main__':
    unittest.main()
