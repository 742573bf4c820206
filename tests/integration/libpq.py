"""PostgreSQL by its own C library, which every server of ours needs; not every Python has a module for it, and a psql for each
question takes ten times as long."""
import ctypes
import ctypes.util
import select
import time

NOTICES = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
IGNORED = NOTICES(lambda *_: None)   # libpq prints them otherwise.
CONNECTED = 0
COMMAND_OK, TUPLES_OK = 1, 2


class PostgresError(Exception):
    """What the server or the library says."""


def library():
    found = ctypes.CDLL(ctypes.util.find_library('pq') or 'libpq.so.5')
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for name, result, *arguments in (
            ('PQconnectdb', pointer, text), ('PQstatus', number, pointer), ('PQerrorMessage', text, pointer), ('PQfinish', None, pointer),
            ('PQsetNoticeProcessor', pointer, pointer, NOTICES, pointer),
            ('PQsocket', number, pointer), ('PQsendQuery', number, pointer, text), ('PQconsumeInput', number, pointer),
            ('PQisBusy', number, pointer), ('PQgetResult', pointer, pointer), ('PQresultStatus', number, pointer),
            ('PQresultErrorMessage', text, pointer), ('PQntuples', number, pointer), ('PQnfields', number, pointer),
            ('PQgetvalue', text, pointer, number, number), ('PQclear', None, pointer)):
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


PQ = library()


def execute(url, statements, limit_s):
    """The rows of the last statement, as texts; NULL is an empty one. On a connection of its own."""
    connection = PQ.PQconnectdb(f'{url}?connect_timeout={max(2, round(limit_s))}'.encode())
    try:
        PQ.PQsetNoticeProcessor(connection, IGNORED, None)
        if PQ.PQstatus(connection) != CONNECTED or not PQ.PQsendQuery(connection, statements.encode()):
            raise PostgresError(PQ.PQerrorMessage(connection).decode())
        return last_rows(connection, time.monotonic() + limit_s)
    finally:
        PQ.PQfinish(connection)


def last_rows(connection, end):
    rows = []
    while result := next_result(connection, end):
        try:
            if PQ.PQresultStatus(result) not in (COMMAND_OK, TUPLES_OK):
                raise PostgresError(PQ.PQresultErrorMessage(result).decode())
            rows = [tuple(PQ.PQgetvalue(result, row, column).decode() for column in range(PQ.PQnfields(result)))
                    for row in range(PQ.PQntuples(result))]
        finally:
            PQ.PQclear(result)
    return rows


def next_result(connection, end):
    while PQ.PQisBusy(connection):
        if not select.select([PQ.PQsocket(connection)], [], [], max(0, end - time.monotonic()))[0]:
            raise PostgresError('no answer in time')
        if not PQ.PQconsumeInput(connection):
            raise PostgresError(PQ.PQerrorMessage(connection).decode())
    return PQ.PQgetResult(connection)
