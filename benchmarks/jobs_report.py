"""Rows of ./bench jobs: from runs to figures, and from figures to a line."""
from statistics import median

from report import shown

# The measurements of each case, each with its floor and ratio.
RATES = ('stage', 'work', 'both')
FIGURES = ('p50_ms', 'p99_ms', 'works_per_job', 'works_per_commit', 'cpu_us')
ROW = ('name', 'workers', 'batch', *(f'{part}{what}' for part in RATES for what in ('_per_s', '_floor_per_s', '_ratio')),
       *FIGURES, 'runs')


def middle(runs, key):
    values = [run[key] for run in runs if run.get(key) is not None]
    return median(values) if values else None


def row_of(case, runs):
    """`runs`: dicts of stage_per_s, stage_floor_per_s, ..., p50_ms, ... or None. A ratio is the median of the runs' ratios, because
    both ran in the same minute."""
    row = {'name': case.name, 'workers': case.workers, 'batch': case.batch}
    for part in RATES:
        rate, floor = f'{part}_per_s', f'{part}_floor_per_s'
        ratios = [run[rate] / run[floor] for run in runs if run.get(rate) and run.get(floor)]
        row |= {rate: middle(runs, rate), floor: middle(runs, floor), f'{part}_ratio': median(ratios) if ratios else None}
    row |= {key: middle(runs, key) for key in FIGURES}
    row['runs'] = len(runs)
    return row


def rate_columns(part, title):
    return ((title, 9, lambda r: shown(r[f'{part}_per_s'], ',.0f')),
            ('floor', 9, lambda r: shown(r[f'{part}_floor_per_s'], ',.0f')),
            ('ratio', 5, lambda r: shown(r[f'{part}_ratio'], '.2f')))


COLUMNS = (
    ('what', 20, lambda r: r['name']),
    ('workers', 7, lambda r: str(r['workers'])),
    ('in one', 6, lambda r: str(r['batch'])),
    *rate_columns('stage', 'staged/s'), *rate_columns('work', 'worked/s'), *rate_columns('both', 'both/s'),
    ('p50 ms', 7, lambda r: shown(r['p50_ms'], '.2f')),
    ('p99 ms', 7, lambda r: shown(r['p99_ms'], '.2f')),
    ('works', 5, lambda r: shown(r['works_per_job'], '.2f')),
    ('shared', 6, lambda r: shown(r['works_per_commit'], '.1f')),
    ('CPU us', 6, lambda r: shown(r['cpu_us'], '.0f')),
)


def head():
    return '  '.join(title.rjust(width) if n else title.ljust(width) for n, (title, width, _) in enumerate(COLUMNS))


def line(row):
    return '  '.join(cell(row).rjust(width) if n else cell(row).ljust(width)
                     for n, (_, width, cell) in enumerate(COLUMNS))


def fall(intervals, pinned_from, pinned_until):
    """(median before the pin, median of the last tenth under it, lost share). `intervals`: the rates of
    equal intervals; the pin lasts from `pinned_from` to `pinned_until`."""
    before = intervals[:pinned_from]
    pinned = intervals[pinned_from:pinned_until]
    if not before or not pinned:
        raise ValueError('no interval before the pin, or none under it')
    first, last = median(before), median(pinned[-max(1, len(pinned) // 10):])
    return first, last, 1 - last / first
