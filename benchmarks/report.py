"""From runs to rows, and from rows to a table.

A row's figures are medians; its ratio is the median of the runs' ratios, because rate and floor
of one run ran in the same minute."""
import json
from statistics import median

ROW = ('name', 'keys', 'clients', 'delay_ms', 'rate_per_s', 'p50_ms', 'p99_ms', 'floor_per_s', 'ratio', 'batch',
       'one_commit_per_phase_per_s', 'memory_mb', 'cpu_us_server', 'cpu_us_provider', 'cpu_us_load', 'errors', 'runs')


def most_per_s(floor, clients, delay_ms):
    """The floor, or the most that the clients can request with payments of this delay."""
    return min(floor, clients * 1000 / delay_ms) if delay_ms else floor


def row_of(case, runs):
    """`case`: name, keys, clients, delay_ms. `runs`: dicts of rate_per_s, p50_ms, ... or None."""
    def middle(key):
        values = [run[key] for run in runs if run.get(key) is not None]
        return median(values) if values else None

    ratios = [run['rate_per_s'] / run['floor_per_s'] for run in runs if run.get('floor_per_s')]
    row = {key: case[key] for key in ('name', 'keys', 'clients', 'delay_ms')}
    for key in ROW[4:-2]:
        row[key] = middle(key)
    row['ratio'] = median(ratios) if ratios else None
    row['errors'] = sum(run['errors'] for run in runs)
    row['runs'] = len(runs)
    return row


def shown(value, form):
    return '-' if value is None else format(value, form)


COLUMNS = (
    ('what', 15, lambda r: r['name']),
    ('keys', 9, lambda r: f'{r["keys"]:,}'),
    ('clients', 7, lambda r: f'{r["clients"]:,}'),
    ('pay ms', 6, lambda r: str(r['delay_ms'])),
    ('a second', 9, lambda r: f'{r["rate_per_s"]:,.0f}'),
    ('p50 ms', 7, lambda r: shown(r['p50_ms'], '.2f')),
    ('p99 ms', 7, lambda r: shown(r['p99_ms'], '.2f')),
    ('floor', 9, lambda r: shown(r['floor_per_s'], ',.0f')),
    ('ratio', 5, lambda r: shown(r['ratio'], '.2f')),
    ('batch', 5, lambda r: shown(r['batch'], '.1f')),
    ('unshared', 8, lambda r: shown(r['one_commit_per_phase_per_s'], ',.0f')),
    ('MB', 4, lambda r: shown(r['memory_mb'], '.0f')),
    ('CPU us: server', 14, lambda r: shown(r['cpu_us_server'], '.0f')),
    ('provider', 8, lambda r: shown(r['cpu_us_provider'], '.0f')),
    ('load', 4, lambda r: shown(r['cpu_us_load'], '.0f')),
    ('errors', 6, lambda r: str(r['errors'])),
)


def head(columns=COLUMNS):
    return '  '.join(title.rjust(width) if n else title.ljust(width) for n, (title, width, _) in enumerate(columns))


def line(row, columns=COLUMNS):
    return '  '.join(cell(row).rjust(width) if n else cell(row).ljust(width)
                     for n, (_, width, cell) in enumerate(columns))


def write_json(path, rows):
    with open(path, 'w', encoding='utf-8') as out:
        json.dump([{key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}
                   for row in rows], out, indent=1)
        out.write('\n')
