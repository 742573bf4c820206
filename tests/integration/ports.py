"""Ports for a run's processes: none is used twice in a run, or by two simultaneous runs on this machine.

A port is chosen before its server listens, and must stay free while that is killed and restarted. So a run does not
search for free ports: each run owns a block of ports for the life of its process, by an abstract socket name of the
kernel that only one socket can have. It leaves no file behind, even after a kill.
"""
import itertools
import socket
import threading

# Below the kernel's range for clients: a client could use our port between two starts.
FIRST, END, BLOCK = 10_000, 32_000, 2_000
UNSAFE = {10_080}   # Chromium blocks this port (Amanda's); its other blocked ports are below the first.

claiming = threading.Lock()
claimed = []   # The socket that holds our block, and its ports in a cycle.


def claim():
    for first in range(FIRST, END, BLOCK):
        holder = socket.socket(socket.AF_UNIX)
        try:
            holder.bind(f'\0pawl-test-ports-{first}')
        except OSError:
            holder.close()
            continue
        return holder, itertools.cycle(range(first, first + BLOCK))
    raise RuntimeError(f'{(END - FIRST) // BLOCK} runs of the integration tests are active: no block of ports is left')


def free_port():
    """A free port that no other caller gets."""
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
                except OSError:   # Used by another program.
                    continue
    raise RuntimeError(f'no port of the block is free: {BLOCK} are in use')
