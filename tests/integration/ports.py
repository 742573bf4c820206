"""Ports for what a run starts: none is given twice in a run, or to two runs at once on this machine.

A free port is known before its server listens, and stays its own while that is killed and started again. So no run may
find by itself what is free: each has a block of ports that is its own for as long as the process lives, by a name of the
kernel's that only one socket can have. It leaves no file behind, whoever is killed.
"""
import itertools
import socket
import threading

# Below the range from which the kernel gives ports to clients: one of those could take ours between two starts.
FIRST, END, BLOCK = 10_000, 32_000, 2_000
UNSAFE = {10_080}   # Chromium opens nothing there (Amanda's port); all others that it refuses are below the first.

claiming = threading.Lock()
claimed = []   # The socket that holds our block, and its ports, from the first to the last and again.


def claim():
    for first in range(FIRST, END, BLOCK):
        holder = socket.socket(socket.AF_UNIX)
        try:
            holder.bind(f'\0pawl-test-ports-{first}')
        except OSError:
            holder.close()
            continue
        return holder, itertools.cycle(range(first, first + BLOCK))
    raise RuntimeError(f'{(END - FIRST) // BLOCK} runs of the integration tests are at work already: each has its ports')


def free_port():
    """A port that nobody listens on, and that nobody else is given."""
    with claiming:
        if not claimed:
            claimed.append(claim())
        _, ports = claimed[0]
        for port in itertools.islice(ports, BLOCK):
            if port in UNSAFE:
                continue
            with socket.socket() as probe:
                try:
                    probe.bind(('127.0.0.1', port))
                    return port
                except OSError:   # Of another program.
                    continue
    raise RuntimeError(f'no port of the block is free: {BLOCK} are in use')
