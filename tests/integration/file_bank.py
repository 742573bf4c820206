"""A bank: takes the files of its inbox, checks each by itself, and reports what it booked. No code of ours reads or writes here."""
import collections
import hashlib
import os
import re
import xml.etree.ElementTree as ET
from decimal import Decimal

PAIN = '{urn:iso:std:iso:20022:tech:xsd:pain.001.001.09}'
IBAN = 'DE89370400440532013000'


class Violation(AssertionError):
    """A file that a bank refuses."""


def require(truth, what):
    if not truth:
        raise Violation(what)


Booking = collections.namedtuple('Booking', 'file end_to_end cents account')


class Bank:
    """`folder` has inbox, archive and outbox. take() and report() are called by one thread."""

    def __init__(self, folder):
        self.inbox, self.archive, self.outbox = (os.path.join(folder, name) for name in ('inbox', 'archive', 'outbox'))
        self.files = {}      # Name to hash, in the order of their numbers.
        self.booked = {}     # End-to-end id to Booking.
        self.repeats = 0     # Files that came again after they were taken.
        self.reports = 0     # Written, and so the last number of the series.

    def waiting(self):
        """Temporary names are not the bank's business."""
        return sorted(name for name in os.listdir(self.inbox) if not name.endswith('.tmp'))

    def take(self):
        """Books all files of the inbox; returns the new bookings."""
        new = []
        for name in self.waiting():
            path = os.path.join(self.inbox, name)
            with open(path, 'rb') as file:
                data = file.read()
            digest = hashlib.sha256(data).hexdigest()
            if name in self.files:
                require(self.files[name] == digest, f'{name} came again with other bytes')
                self.repeats += 1
            else:
                number = int(re.fullmatch(r'payouts-(\d{8})\.(xml|ach)', name).group(1))
                require(number == len(self.files) + 1, f'{name} after {len(self.files)} files')
                self.files[name] = digest
                bookings = self.read_pain(name, number, data) if name.endswith('.xml') else self.read_nacha(name, number, data)
                for booking in bookings:
                    require(booking.end_to_end not in self.booked, f'{booking} is in {self.booked.get(booking.end_to_end)} already')
                    self.booked[booking.end_to_end] = booking
                new += bookings
            os.rename(path, os.path.join(self.archive, name))
        return new

    def reject(self, name):
        """The bank refuses the whole file after all: none of its payments is made."""
        self.booked = {key: one for key, one in self.booked.items() if one.file != name}

    @staticmethod
    def read_pain(name, number, data):
        root = ET.fromstring(data)
        require(root.tag == PAIN + 'Document', root.tag)
        group, block = root[0].find(PAIN + 'GrpHdr'), root[0].find(PAIN + 'PmtInf')
        require(group.find(PAIN + 'MsgId').text == f'PAYOUTS-{number:08}', 'MsgId')
        payments = block.findall(PAIN + 'CdtTrfTxInf')
        amounts = [payment.find(f'{PAIN}Amt/{PAIN}InstdAmt') for payment in payments]
        total = sum(Decimal(amount.text) for amount in amounts)
        for head in (group, block):
            require(int(head.find(PAIN + 'NbOfTxs').text) == len(payments), f'{name}: NbOfTxs')
            require(Decimal(head.find(PAIN + 'CtrlSum').text) == total, f'{name}: CtrlSum')
        require(all(amount.get('Ccy') == 'EUR' for amount in amounts), 'Ccy')
        return [Booking(name, payment.find(f'{PAIN}PmtId/{PAIN}EndToEndId').text, int(Decimal(amount.text) * 100),
                        payment.find(f'{PAIN}CdtrAcct/{PAIN}Id/{PAIN}IBAN').text)
                for payment, amount in zip(payments, amounts)]

    def read_nacha(self, name, number, data):
        lines = data.decode('ascii').split('\n')
        require(lines.pop() == '' and all(len(line) == 94 for line in lines) and len(lines) % 10 == 0, f'{name}: records')
        require(lines[0][86:94] == f'{number:08}' and lines[0][33] == 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'[number - 1], 'its number')
        entries = [line for line in lines if line[0] == '6']
        control = lines[len(entries) + 2]
        require(control[0] == '8' and int(control[4:10]) == len(entries), f'{name}: entry count')
        require(int(control[10:20]) == sum(int(entry[3:11]) for entry in entries) % 10**10, f'{name}: entry hash')
        require(int(control[32:44]) == sum(int(entry[29:39]) for entry in entries), f'{name}: credits')
        require(lines[len(entries) + 3][21:55] == control[10:44], f'{name}: file control')
        return [Booking(name, entry[39:54].strip(), int(entry[29:39]), entry[12:29].strip()) for entry in entries]

    # Reports.

    def write(self, name, data):
        """Under a temporary name first, as banks should."""
        path = os.path.join(self.outbox, name)
        with open(path + '.tmp', 'wb') as file:
            file.write(data)
        os.chmod(path + '.tmp', 0o644)
        os.rename(path + '.tmp', path)

    def report(self, paid=(), returned=(), **changes):
        """Writes the next camt.054; returns its name."""
        self.reports += 1
        name = f'camt054-{self.reports:06}.xml'
        self.write(name, camt054(self.reports, list(paid), list(returned), **changes))
        return name

    def report_returns(self, returned):
        """Writes the next file of returns of NACHA."""
        self.reports += 1
        name = f'returns-{self.reports:06}.ach'
        self.write(name, nacha_returns(self.reports, list(returned)))
        return name


def money(cents):
    return f'{cents // 100}.{cents % 100:02}'


def camt054(number, paid, returned, sum_off=0, message=None, references=True):
    """One debit entry for all payments, and one credit entry for each return."""
    code = '<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>{}</SubFmlyCd></Fmly></Domn></BkTxCd>'

    def details(booking, kind, more=''):
        reference = f'<AcctSvcrRef>{kind}-{booking.end_to_end}</AcctSvcrRef>' if references else ''
        return (f'<TxDtls><Refs>{reference}<EndToEndId>{booking.end_to_end}</EndToEndId></Refs>'
                f'<Amt Ccy="EUR">{money(booking.cents)}</Amt>{more}</TxDtls>')

    def entry(cents, direction, subfamily, inner):
        return (f'<Ntry><Amt Ccy="EUR">{money(cents)}</Amt><CdtDbtInd>{direction}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>'
                f'<BookgDt><Dt>2026-12-01</Dt></BookgDt>{code.format(subfamily)}<NtryDtls>{inner}</NtryDtls></Ntry>')
    out, back = sum(booking.cents for booking in paid), sum(booking.cents for booking in returned)
    batch = f'<Btch><NbOfTxs>{len(paid)}</NbOfTxs></Btch>' + ''.join(details(one, 'P') for one in paid)
    entries = [entry(out, 'DBIT', 'ESCT', batch)] if paid else []
    entries += [entry(one.cents, 'CRDT', 'RRTN', details(one, 'R', '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>')) for one in returned]
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08">'
            f'<BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>{message or f"BANK-{number}"}</MsgId><CreDtTm>2026-12-01T09:30:00Z</CreDtTm></GrpHdr>'
            f'<Ntfctn><Id>N{number}</Id><ElctrncSeqNb>{number}</ElctrncSeqNb><Acct><Id><IBAN>{IBAN}</IBAN></Id></Acct>'
            f'<TxsSummry><TtlNtries><NbOfNtries>{len(entries)}</NbOfNtries><Sum>{money(out + back + sum_off)}</Sum></TtlNtries></TxsSummry>'
            f'{"".join(entries)}</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>\n').encode()


def nacha_returns(number, returned):
    head = f'101 123456780 0910000192612010930{"ABCDEFGHIJ"[number - 1]}094101{"Rocket Rides":23}{"The bank":23}' + ' ' * 8
    lines = [head, '5220' + 'Rocket Rides'.ljust(36) + '1234567890PPD' + 'PAYOUT'.ljust(16) + '261130335109100001' + '0000001']
    for place, booking in enumerate(returned, 1):
        trace = f'02100002{place:07}'
        lines += [f'621021000021{booking.account:17}{booking.cents:010}{booking.end_to_end:15}{"Jane":24}1{trace}',
                  f'799R03{9100001:08}{place:07}' + ' ' * 6 + '02100002' + ' ' * 44 + trace]
    totals = f'{2100002 * len(returned) % 10**10:010}{0:012}{sum(one.cents for one in returned):012}'
    lines += [f'8220{2 * len(returned):06}{totals}1234567890' + ' ' * 25 + '091000010000001',
              f'9000001{(len(lines) + 11) // 10:06}{2 * len(returned):08}{totals}' + ' ' * 39]
    lines += ['9' * 94] * (-len(lines) % 10)
    return ''.join(line + '\n' for line in lines).encode('ascii')
