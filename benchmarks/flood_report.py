"""Rows of `./bench flood`: times of the polite tenant's rides, and the outcome of the flood."""
import math
from statistics import median

from report import shown


def latency(seen, key):
    """Without an answer in the measured time, the time is longer than all measured ones."""
    return seen[key] if seen['count'] else math.inf


def finite(value):
    return value if math.isfinite(value) else None


def row_of(case, delay_ms, runs, alone):
    """`runs`, and the polite tenant's runs alone in the same rounds: dicts of polite and flood (None where there is none)."""
    def middle(whose, key):
        values = [run[whose][key] for run in runs if run[whose]]
        return median(values) if values else None

    def polite(key):
        return finite(median(latency(run['polite'], key) for run in runs))

    def times(key):
        return finite(median(latency(run['polite'], key) / floor['polite'][key] for run, floor in zip(runs, alone)))
    return {'case': case, 'delay_ms': delay_ms, 'runs': len(runs),
            'rate_per_s': middle('polite', 'rate_per_s'), 'p50_ms': polite('p50_ms'), 'p99_ms': polite('p99_ms'),
            'p50_times_alone': times('p50_ms'), 'p99_times_alone': times('p99_ms'),
            'flood_served_per_s': middle('flood', 'rate_per_s'), 'flood_refused_per_s': middle('flood', 'refused_per_s'),
            'errors': sum(run[whose]['errors'] for run in runs for whose in ('polite', 'flood') if run[whose])}


COLUMNS = (
    ('what', 32, lambda r: r['case']),
    ('pay ms', 6, lambda r: str(r['delay_ms'])),
    ('a second', 8, lambda r: f'{r["rate_per_s"]:,.0f}'),
    ('p50 ms', 7, lambda r: shown(r['p50_ms'], '.2f')),
    ('p99 ms', 7, lambda r: shown(r['p99_ms'], '.2f')),
    ('p50 / alone', 11, lambda r: shown(r['p50_times_alone'], '.1f')),
    ('p99 / alone', 11, lambda r: shown(r['p99_times_alone'], '.1f')),
    ('flood: served/s', 15, lambda r: shown(r['flood_served_per_s'], ',.0f')),
    ('429/s', 7, lambda r: shown(r['flood_refused_per_s'], ',.0f')),
    ('errors', 6, lambda r: str(r['errors'])),
)

