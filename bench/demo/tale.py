# SPDX-License-Identifier: BSD-3-Clause
"""tale.py - reads a story (story.c): who held what, and when, in seconds from the first sale of each run.

A hold is traced from its grant to its release. A process that was struck (killed, or stopped past its lease) releases nothing: its hold is its
own until it was struck, and stays at the store until the lease is over. That moment is nobody's event; it is taken to be the lease's length
behind the last grant by the store or the last renewal, or the next grant of the item if that comes earlier."""
import collections
import json

STOP_MIN_S = 0.5  # shorter stops are looks of the driver, which found nobody in the middle of a sale

Bar = collections.namedtuple('Bar', 'id shop item start end kept kind')  # kept: until then it stays locked, or None
Moment = collections.namedtuple('Moment', 'id shop item at')
Stop = collections.namedtuple('Stop', 'shop start end')  # end None: it was killed


class Tale:
    """One run. bars are holds (or, without locks, sales), waits are bars, too; of each list the order is that of the events."""

    def __init__(self, events):
        begin = events[0]
        self.has_locks, self.items, self.stock = begin['has_locks'], begin['items'], begin['stock']
        self.lease_s, self.buyers = begin['lease_ms'] / 1000, begin['buyers']
        self.ledger = [event for event in events if event['step'] == 'ledger']
        self.claims = [event for event in events if event['step'] == 'claim']
        steps = [event for event in events if event['step'] not in ('begin', 'ledger', 'claim')]
        self.zero_us = min(event['at_us'] for event in steps if event['who'] != 'driver')
        self.shops = sorted({event['shop'] for event in steps if event['who'] == 'driver'})
        self.stops, self.opened = self._stops(steps), self._opened(steps)
        self.waits, self.losses, self.refusals = [], [], []
        self.bars = self._holds(steps) if self.has_locks else self._sales(steps)
        self.end = max([bar.end for bar in self.bars] + [moment.at for moment in self.refusals])
        sales = [entry for entry in self.ledger if entry['kind'] == 'sale']
        self.sold, self.pieces = len(sales), len({(entry['item'], entry['piece']) for entry in sales})

    def _at(self, event):
        return (event['at_us'] - self.zero_us) / 1e6

    def _stops(self, steps):
        stops, began = [], {}
        for event in steps:
            if event['who'] != 'driver':
                continue
            shop = event['shop']
            if event['step'] == 'stopped':
                began[shop] = self._at(event)
            elif event['step'] == 'killed':
                stops.append(Stop(shop, began.pop(shop), None))
            elif event['step'] == 'continued' and self._at(event) - began[shop] >= STOP_MIN_S:
                stops.append(Stop(shop, began[shop], self._at(event)))
        return stops

    def _opened(self, steps):
        """When a killed shop was open again: {shop: seconds}."""
        return {event['shop']: self._at(event) for event in steps if event['step'] == 'opened' and self._at(event) > 0}

    def _struck(self, shop, start, end):
        """The stop that a hold did not survive, if any: it was held when the process stood still, and had no end before."""
        for stop in self.stops:
            if stop.shop == shop and start <= stop.start < (end if end is not None else float('inf')):
                return stop
        return None

    def _holds(self, steps):
        grants, ends, waits, handed = {}, {}, {}, set()
        self.leases = collections.defaultdict(list)  # when they began: {(shop, item): seconds}
        for event in steps:
            step, at = event['step'], self._at(event)
            key = (event['who'], event.get('sale'))
            if step == 'wait':
                waits[key] = event, at
            elif step in ('grant', 'failed'):
                if key in waits:
                    self.waits.append(self._wait(*waits.pop(key), at))
                if step == 'grant':
                    grants[event['item'], event['token']] = event, at
                    if key not in handed:
                        self.leases[event['who'], event['item']].append(at)
            elif step == 'renew':
                self.leases[event['who'], event['item']].append(at)
            elif step == 'handoff':
                handed.add(key)
            elif step in ('release', 'loss'):
                ends.setdefault((event['item'], event['token']), (at, step))
            elif step == 'refused':
                self.refusals.append(Moment(f'refused-{event["item"]}-{event["token"]}', event['who'], event['item'], at))
            if step == 'loss':
                self.losses.append(Moment(f'loss-{event["item"]}-{event["token"]}', event['who'], event['item'], at))
        granted = sorted((item, at) for (item, _), (_, at) in grants.items())
        for event, at in waits.values():  # of a process that was killed
            self.waits.append(self._wait(event, at, min([stop.start for stop in self.stops if stop.shop == event['who']] + [at])))
        return [self._hold(*grant, ends.get(key), granted) for key, grant in grants.items()]

    @staticmethod
    def _wait(event, start, end):
        return Bar(f'wait-{event["who"]}-{event["sale"]}', event['who'], event['item'], start, max(start, end), None, 'wait')

    def _hold(self, event, start, end, grants):
        at, step = end or (None, None)
        stop = self._struck(event['who'], start, at)
        kept = None
        if stop and step != 'release' or step == 'loss':
            struck = stop.start if stop else at
            since = max((begun for begun in self.leases[event['who'], event['item']] if begun <= struck), default=start)
            kept = min([since + self.lease_s] + [other for item, other in grants if item == event['item'] and other > struck])
            at = min(struck, kept)
        return Bar(f'hold-{event["item"]}-{event["token"]}', event['who'], event['item'], start, start if at is None else at, kept, 'hold')

    def _sales(self, steps):
        """Without locks a sale is from the look at the stock to the write. The answers of a shop come in the order of its lines in the ledger."""
        recorded = {shop: iter([entry for entry in self.ledger if entry['shop'] == shop]) for shop in self.shops}
        looked, bars, twice = {}, [], self._doubles()
        for event in steps:
            key = (event['who'], event.get('sale'))
            if event['step'] == 'looked':
                looked[key] = self._at(event)
            elif event['step'] == 'sold':
                kind = 'oversold' if id(next(recorded[event['who']])) in twice else 'sale'
                bars.append(Bar(f'{kind}-{event["who"]}-{event["sale"]}', event['who'], event['item'], looked[key], self._at(event), None, kind))
        return bars

    def _doubles(self):
        gone, twice = set(), set()
        for entry in self.ledger:
            piece = entry['item'], entry['piece']
            if piece in gone:
                twice.add(id(entry))
            gone.add(piece)
        return twice


def read(path):
    """The run without locks, and the one with them."""
    with open(path, encoding='utf-8') as file:
        events = [json.loads(line) for line in file]
    begins = [number for number, event in enumerate(events) if event['step'] == 'begin'] + [len(events)]
    tales = [Tale(events[start:end]) for start, end in zip(begins, begins[1:])]
    without, under = [tale for tale in tales if not tale.has_locks], [tale for tale in tales if tale.has_locks]
    return without[0], under[0]
