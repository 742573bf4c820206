"""Completions and the manual page, each read by the program that they are for."""
import os
import shutil
import subprocess
import tempfile

from world import WAIT_S, check, check_equal, needs_program

# What the shell is asked, and what it must and must not offer.
QUESTIONS = [
    ('rides ', {'keys', 'serve', 'top', 'attention'}, {'list'}),
    ('rides keys ', {'list', 'hold', 'release', 'retry'}, {'keys', 'purge'}),
    ('rides keys ho', {'hold'}, {'list'}),
    ('rides keys list --st', {'--status'}, {'--since'}),
    ('rides keys list --status ', {'open', 'attention', 'finished'}, {'--status', 'list'}),
    ('rides --database sqlite keys list --status f', {'finished'}, {'open'}),
    ('rides serve --li', {'--listen'}, {'--limit'}),
    ('rides completion ', {'bash', 'zsh', 'fish'}, {'keys'}),
]


def printed(settings, program, *words):
    done = subprocess.run([os.path.join(settings.bin, program), *words], capture_output=True, text=True, timeout=WAIT_S, check=True)
    check_equal(done.stderr, '', f'{program} {words}: standard error')
    return done.stdout


def asked(*command, script='', **options):
    """What a shell prints; it must say nothing on standard error."""
    done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=WAIT_S, check=False, **options)
    check((done.returncode, done.stderr) == (0, ''), f'{command}: {done.returncode} {done.stderr[:600]}')
    return done.stdout


def answer_all(offers):
    for line, wanted, unwanted in QUESTIONS:
        found = offers(line)
        check(wanted <= found and not unwanted & found, f'"{line}": {sorted(found)}')


def bash(settings):
    script = printed(settings, 'rides', 'completion', 'bash')

    def offers(line):
        words = line.split(' ')
        quoted = ' '.join(f"'{word}'" for word in words)
        ask = f'{script}\ncomplete -p rides >/dev/null\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _rides\n' \
              'printf "%s\\n" "${COMPREPLY[@]}"\n'
        return set(asked('bash', '--norc', script=ask).split())

    answer_all(offers)


def fish(settings):
    needs_program('fish')
    script = printed(settings, 'rides', 'completion', 'fish')
    with tempfile.TemporaryDirectory() as home:
        def offers(line):
            ask = f"{script}\ncomplete -C '{line}'\n"
            return {found.split('\t')[0] for found in
                    asked('fish', '--no-config', script=ask, env=os.environ | {'HOME': home}).splitlines()}

        answer_all(offers)


def zsh(settings):
    """Its functions run as in the completion system, whose answers are noted and not drawn."""
    needs_program('zsh')
    script = printed(settings, 'rides', 'completion', 'zsh')
    check(script.startswith('#compdef rides\n'), script[:100])
    body = script.rsplit('\n_rides "$@"', 1)[0]

    def offers(line):
        words = line.split(' ')
        quoted = ' '.join(f"'{word}'" for word in words)
        ask = f'''{body}
compadd() {{ shift; print -l -- $@ }}
_files() {{ print FILES }}
_describe() {{ while [[ $1 == -o ]]; do shift; done; print -l -- ${{${{(P)2}}%%:*}} }}
words=({quoted}); CURRENT={len(words)}; PREFIX=$words[CURRENT]
_rides
'''
        return {word for word in asked('zsh', '-f', script=ask).split() if word.startswith(words[-1])}

    answer_all(offers)


def manual(settings):
    needs_program('man', 'man-db')
    for program, command in (('rides', 'rides keys hold'), ('pawl', 'pawl request')):
        page = printed(settings, program, 'man')
        with tempfile.NamedTemporaryFile('w', suffix='.1', encoding='utf-8') as file:
            file.write(page)
            file.flush()
            shown = asked('man', '--warnings', '-l', file.name, env=os.environ | {'MANWIDTH': '100', 'LC_ALL': 'C.UTF-8'})
            check(command in shown and 'EXIT STATUS' in shown and '--database' in shown, f'{program}: {shown[:600]}')
            if shutil.which('mandoc'):
                found = subprocess.run(['mandoc', '-T', 'lint', '-W', 'warning', file.name], capture_output=True, text=True, check=False)
                wrong = [line for line in found.stdout.splitlines() if 'missing date' not in line]
                check(not wrong, f'mandoc: {wrong[:5]}')
    same = [printed(settings, 'pawl', 'man') for _ in range(2)]
    same.append(subprocess.run([os.path.join(settings.bin, 'pawl'), 'man'], env={'USER': 'another'}, capture_output=True, text=True,
                               check=True).stdout)
    check_equal(len(set(same)), 1, 'pages of two users')


def cases(settings):
    found = {'bash': bash, 'fish': fish, 'zsh': zsh, 'the manual page': manual}
    return [(f'shell: {name}', lambda run=run: run(settings)) for name, run in found.items()]
