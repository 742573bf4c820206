"""Who can read the server's files and secrets (issue 16, number 9)."""
import glob
import os
import stat

from kill_cases import QUICK
from operator_cases import Operated
from world import World, check, check_equal, wait_until

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
            check_equal(world.phone('test_jane').booked('k-1').status, 201, 'a ride')
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
        check_equal(world.phone('test_jane').booked('k-1').status, 201, 'a ride')
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


NEW = 'the-new-secret-of-a-file-0123456789'


def missing_secret(settings):
    """Issue 38, part 3: an honest repeat got 422 key-reused, "retry": false, from a server that could not compare it."""
    with Operated(settings) as one:
        world = one.world
        old, both, new = (written(world, text, name) for name, text in
                          (('old', f'{SECRET}\n'), ('both', f'{NEW}\n{SECRET}\n'), ('new', f'{NEW}\n')))
        one.start('--secret-file', old)
        check_equal(world.phone().book('k-1').status, 201, 'a ride under the old secret')
        check_equal(world.phone().book('k-1', origin_lat=1.0).status, 422, 'a mismatch, with one secret')
        check_equal(world.stop_server(), 0, 'the exit code')
        one.start('--secret-file', both)
        check_equal(world.phone().book('k-2').status, 201, 'a ride under the new secret')
        check(world.phone().book('k-1').replayed, 'a repeat under the older one')
        check_equal(world.phone().book('k-1', origin_lat=1.0).status, 422, 'a mismatch, with two secrets')
        check_equal(world.stop_server(), 0, 'the exit code')

        one.start('--secret-file', new)   # Too early: the keys of the old one are kept.
        for changes in ({}, {'origin_lat': 1.0}):
            answer = world.phone().book('k-1', **changes)
            check_equal((answer.status, answer.type, answer.json['retry'], answer.json['code']), (503, 'other-server', True, 'PAWL0024'),
                        f'a request that can not be compared: {answer}')
            check(int(answer.headers['retry-after']) > 0, f'Retry-After: {answer.headers}')
        check(world.phone().book('k-2').replayed, 'a key of the new secret')
        check_equal(world.phone().book('k-2', origin_lat=1.0).status, 422, 'a mismatch under it')
        check_equal(world.phone().book('k-3').status, 201, 'a new request')
        check_equal(one.value('pawl_requests_total', outcome='other-server'), 2, 'the metric')
        said = [line for line in world.log().splitlines() if '"secret_unknown"' in line]
        check(said and all('"level":"error"' in line and 'PAWL0024' in line for line in said), f'the event: {said}')
        check_equal(world.stop_server(), 0, 'the exit code')
        check_equal(len(world.ledger()), 3, 'charges')

        refused = world.rides_command(*world.server_command('--secret-file', old), check_status=1)
        check('PAWL0024' in refused.stderr, f'a start with the old file alone: {refused.stderr}')
        code, said = doctor(world, old)
        check_equal(code, 3, 'the exit code of doctor with the old file')
        check('lacks the secret in use (version 2)' in said and '0 open and 2 finished keys' in said, f'what it says: {said}')
        check('none is given' not in said, f'what is false: {said}')
        code, said = doctor(world, new)
        check('0 open and 1 finished keys were stored under the secret of version 1, which this file lacks' in said, f'stranded keys: {said}')
        code, said = doctor(world, both)
        check('1 finished keys were stored under the secret of version 1, which is not the one' in said, f'an older line: {said}')


def doctor(world, file):
    done = world.rides_command('doctor', '--database', world.url, '--secret-file', file, check_status=None)
    return done.returncode, done.stdout


def first_step_taken_back(settings):
    """A new secret that no server has used may be removed again, and a tool with a wrong file records nothing."""
    with World(settings.bin, [*QUICK]) as world:
        old, both, wrong = (written(world, text, name) for name, text in
                            (('old', f'{SECRET}\n'), ('both', f'{SECRET}\n{NEW}\n'), ('wrong', NEW[::-1] + '\n')))
        for file in (old, both):
            check(world.start_server('--secret-file', file), world.log()[-400:])
            check_equal(world.stop_server(), 0, 'the exit code')
        world.rides_command('keys', 'list', '--database', world.url, '--secret-file', wrong)
        check_equal(world.count('pawl_installation_secret_verifiers'), 2, 'verifiers: those of the servers')
        check(world.start_server('--secret-file', old), f'the first step is taken back: {world.log()[-400:]}')


def rotated_on_one_of_two(settings):
    """Half a rotation: the other server answers 503, says so, and does not start again without the new secret."""
    with World(settings.bin, [*QUICK]) as world:
        old, step, both = (written(world, text, name) for name, text in
                           (('old', f'{SECRET}\n'), ('step', f'{SECRET}\n{NEW}\n'), ('both', f'{NEW}\n{SECRET}\n')))
        world.start_nodes(2, '--secret-file', old)
        one, two = world.nodes

        def restart(node, file):
            check_equal(node.stop(), 0, 'the exit code')
            node.start('--secret-file', file)
            node.wait()

        check_equal(two.phone().booked('before').status, 201, 'a ride')
        restart(one, both)
        check_equal(one.phone().book('k').status, 201, 'a ride at the server with the new secret')
        answer = two.phone().book('k')
        check_equal((answer.status, answer.json['retry']), (503, True), f'an honest repeat at the other: {answer}')
        check('retry-after' in answer.headers, 'Retry-After')
        check(one.phone().book('k').replayed and one.phone().book('before').replayed, 'repeats at the server that has both')
        check_equal(one.phone().book('before', origin_lat=1.0).status, 422, 'a mismatch there')
        wait_until('the other to see it by itself', lambda: '"other_secret_in_use"' in two.log())
        check('"secret_unknown"' in two.log(), 'the event of the repeat')
        code, said = doctor(world, old)
        check(code == 3 and 'lacks the secret in use' in said, f'doctor: {said}')

        check_equal(two.stop(), 0, 'the exit code')
        refused = world.rides_command(*world.server_command('--secret-file', old, port=two.port), check_status=1)
        check('PAWL0024' in refused.stderr, f'a start with the old file alone: {refused.stderr}')
        # The right way, in both directions, one by one.
        two.start('--secret-file', step)
        two.wait()
        for node, file in ((one, step), (two, both), (one, both)):
            check(two.phone().book('k').replayed and two.phone().book('before').replayed, 'repeats between the steps')
            restart(node, file)
        check(two.phone().book('k').replayed and one.phone().book('before').replayed, 'repeats after the change')
        check_equal(len(world.ledger()), 2, 'charges')


def cases(settings):
    found = {'what is made is private': private_files, 'what others can read is warned of': readable_files,
             'the secret of a file stays in the file': secret_stays_in_its_file}
    right = {'a request that can not be compared is told to come again, and an honest mismatch is 422': missing_secret,
             'the first step of a new secret can be taken back': first_step_taken_back}
    if World.database == 'postgres':
        right['with a secret rotated on one of two servers no honest repeat is refused for good'] = rotated_on_one_of_two
    return ([('secrets: ' + name, lambda run=run: run(settings)) for name, run in found.items()] +
            [('right: ' + name, lambda run=run: run(settings)) for name, run in right.items()])
