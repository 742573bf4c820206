"""./bench NAME [--quick] [--only PART] [--json FILE]

  sqlite    rides and replays over HTTP on SQLite, each beside its floor measured in the same run

  --quick   one short run each: to see whether it works, not how fast it is
  --only    one part of it: rides, commits or replays
  --json    also rows of {name, clients, delay_ms, rate_per_s, p50_ms, p99_ms, floor_per_s, ratio}

Nothing here is a test: a machine's noise is no fault of the program. How to read the table: benchmarks/README.md.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import sqlite_bench

BENCHES = {'sqlite': sqlite_bench.run}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage='./bench sqlite [--quick]')
    parser.add_argument('name', choices=sorted(BENCHES))
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--only', choices=['rides', 'commits', 'replays'])
    parser.add_argument('--json', metavar='FILE')
    given = parser.parse_args()
    return BENCHES[given.name](given)


if __name__ == '__main__':
    sys.exit(main())
