"""Sends raw request bytes over their own socket, and reads all answers."""
import socket

from phone import parse
from world import WAIT_S, NotSo, check


def exchanged(port, sent, ends=True):
    """Returns the bytes until the server closed. The client closes its side first only if it `ends`."""
    received = b''
    with socket.create_connection(('127.0.0.1', port), timeout=WAIT_S) as raw:
        try:
            raw.sendall(sent)
            if ends:
                raw.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass   # The server may answer and close while we still send.
        try:
            while part := raw.recv(65536):
                received += part
        except ConnectionResetError:
            pass
        except socket.timeout as error:
            raise NotSo(f'the server neither answers nor closes; received: {received[-300:]!r}') from error
    return received


def answers_in(received):
    """All of them in order, without 100 Continue."""
    found = []
    while received:
        answer = parse(received)
        check(answer is not None, f'half an answer: {received[:200]!r}')
        head = received.index(b'\r\n\r\n') + 4
        received = received[head + (0 if answer.status == 100 else len(answer.body)):]
        if answer.status != 100:
            found.append(answer)
    return found
