"""A page of the tutorial: its commands with what they print, and the code that it quotes."""
import dataclasses
import re
import textwrap

ANYTHING = '...'


@dataclasses.dataclass
class Command:
    line: int
    text: str
    expected: list   # Lines; `...` in a line is any text, `...` alone is any number of lines.


@dataclasses.dataclass
class Quote:
    line: int
    code: str


def blocks(text):
    """The fenced blocks: (number of the first line, language, lines)."""
    language, began, inside = None, 0, []
    for number, line in enumerate(text.split('\n'), 1):
        if not line.startswith('```'):
            inside.append(line)
        elif language is None:
            language, began, inside = line[3:], number + 1, []
        else:
            yield began, language, inside
            language = None


def commands(text):
    """The commands of the blocks ```console: a line `$ command`, more lines while one ends in a backslash, then what it prints."""
    found = []
    for began, language, lines in blocks(text):
        if language != 'console':
            continue
        for number, line in enumerate(lines, began):
            if found and found[-1].text.endswith('\\') and not found[-1].expected:
                found[-1].text += '\n' + line
            elif line.startswith('$ '):
                found.append(Command(number, line[2:], []))
            else:
                found[-1].expected.append(line)
    return found


def quotes(text):
    """The code of the page; a line `...` or `// ...` stands for code that the page leaves out."""
    for began, language, lines in blocks(text):
        if language in ('cpp', 'sql', 'cmake'):
            for part in re.split(r'^\s*(?://|--|#)? ?\.\.\.\n', '\n'.join(lines) + '\n', flags=re.MULTILINE):
                if part.strip():
                    yield Quote(began, part)


def stands_in(quote, source):
    """Whether the lines of the quote stand in the source, one after the other, at any depth of indentation."""
    wanted = textwrap.dedent(quote).strip('\n').split('\n')
    lines = source.split('\n')
    return any(textwrap.dedent('\n'.join(lines[at:at + len(wanted)])).split('\n') == wanted
               for at in range(len(lines) - len(wanted) + 1))


def printed_as_expected(printed, expected):
    """Whether the lines that a command printed are those of the page."""
    pattern = ''
    for line in expected:
        if line.strip() == ANYTHING:
            pattern += r'(?:.*\n)*'
        else:
            pattern += '.*'.join(re.escape(part) for part in line.rstrip().split(ANYTHING)) + r'\n'
    return re.fullmatch(pattern, ''.join(line.rstrip() + '\n' for line in printed)) is not None
