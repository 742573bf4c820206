"""Who can read the server's files and secrets (issue 16, number 9)."""
import glob
import os
import stat

from kill_cases import QUICK
from world import World, check, check_equal

SECRET = 'a-secret-of-a-file-0123456789abcdef'


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def written(world, text, name='secret'):
    path = os.path.join(world.folder, name)
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)
    os.chmod(path, 0o600)
    return path


def private_files(settings):
    """With any umask, only their user can read the files of the server and the stand-in."""
    before = os.umask(0o000)
    try:
        world = World(settings.bin, [*QUICK])
        with world:
            log = os.path.join(world.folder, 'access.log')
            world.start_server('--access-log', log)
            check_equal(world.phone('test_jane').book('k-1').status, 201, 'a ride')
            world.settle()
            made = [log, os.path.join(world.folder, 'ledger'), os.path.join(world.folder, 'mails')]
            if world.database == 'sqlite':
                path = world.url.removeprefix('sqlite:')
                made += [path, path + '-wal', path + '-shm', path + '.lock']
            check_equal({os.path.basename(path): oct(mode(path)) for path in made},
                        {os.path.basename(path): oct(0o600) for path in made}, 'modes')
            check('PAWL0015' not in world.log() + world.log('provider'), 'a warning about private files')
    finally:
        os.umask(before)


def readable_files(settings):
    """Existing files keep their modes, and a warning is logged."""
    with World(settings.bin, [*QUICK]) as world:
        log = written(world, '', 'access.log')
        tokens = written(world, 'test_jane jane@example.com\n', 'tokens')
        secret = written(world, SECRET + '\n')
        options = ('--access-log', log, '--tokens', tokens, '--secret-file', secret)
        world.start_server(*options)
        check_equal(world.stop_server(), 0, 'the exit code')
        check('PAWL0015' not in world.log(), 'a warning about private files')
        readable = [log, tokens, secret] + ([world.url.removeprefix('sqlite:')] if world.database == 'sqlite' else [])
        for path in readable:
            os.chmod(path, 0o644)
        world.start_server(*options)
        warned = [line for line in world.log().splitlines() if 'PAWL0015' in line]
        for path in readable:
            check(any(f'"{path}"' in line for line in warned), f'no warning of {path}: {warned}')
        check(not any(SECRET in line for line in warned), 'the secret is in the log')


def secret_stays_in_its_file(settings):
    """The secret is in no row and no byte of the database; the copy of 0.1.0 is removed, and repeats are still recognized."""
    with World(settings.bin, [*QUICK]) as world:
        secret = written(world, SECRET + '\n')
        world.start_server('--secret-file', secret)
        check_equal(world.phone('test_jane').book('k-1').status, 201, 'a ride')
        check_equal(world.stop_server(), 0, 'the exit code')
        check_equal(world.count('pawl_installation_secrets'), 0, 'secrets in the database')
        check_equal(world.count('pawl_installation_secret_verifiers'), 1, 'verifiers in the database')
        # As 0.1.0 left it: the same version, in clear text.
        world.change('DELETE FROM pawl_installation_secret_verifiers')
        world.change(f"INSERT INTO pawl_installation_secrets VALUES (1, '{SECRET}', '2027-01-15T08:00:00.000Z')")
        world.start_server('--secret-file', secret)
        again = world.phone('test_jane').book('k-1')
        check_equal((again.status, again.replayed), (201, True), f'a repeat: {again}')
        check_equal(world.count('pawl_installation_secrets'), 0, 'secrets in the database after the copy of 0.1.0')
        check_equal(world.stop_server(), 0, 'the exit code')
        if world.database == 'sqlite':
            for path in glob.glob(world.url.removeprefix('sqlite:') + '*'):
                with open(path, 'rb') as file:
                    check(SECRET.encode() not in file.read(), f'the secret is in {path}')
        # Without its file no server starts; the operator's commands still work.
        done = world.rides_command(*world.server_command(), check_status=1)
        check('--secret-file' in done.stderr, done.stderr)
        check_equal(len(world.rides_command('keys', 'list', '--database', world.url, '--json').stdout) > 2, True, 'a list of keys')
        # Replaced, with the old one on the next line, so that repeats are recognized.
        both = written(world, f'{SECRET[::-1]}\n{SECRET}\n', 'both')
        world.start_server('--secret-file', both)
        again = world.phone('test_jane').book('k-1')
        check_equal((again.status, again.replayed), (201, True), f'a repeat under the older secret: {again}')


def cases(settings):
    found = {'what is made is private': private_files, 'what others can read is warned of': readable_files,
             'the secret of a file stays in the file': secret_stays_in_its_file}
    return [('secrets: ' + name, lambda run=run: run(settings)) for name, run in found.items()]
