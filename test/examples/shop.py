# SPDX-License-Identifier: BSD-3-Clause
"""shop.py SHOP REDIS_SERVER - two shops that share a stock sell each piece once, to many buyers at the same time; and every answer that the
head of shop.c names is given when it should be."""
import collections
import contextlib
import http.client
import os
import signal
import sys
import tempfile
import threading
import urllib.parse

import store

PIECES, BUYERS = 30, 40


@contextlib.contextmanager
def shop(program, directory, url):
    """Its address: host:port."""
    process = store.start(program, directory, url)
    try:
        line = process.stdout.readline().strip()
        store.expect(line.startswith('http://'), f'a shop opens: {line}')
        yield line[len('http://'):]
        store.expect(process.poll() is None, 'it is still open at the end')
        process.send_signal(signal.SIGTERM)
        process.wait(store.WAITS_S)
    finally:
        store.end(process)


def get(address, method, path):
    connection = http.client.HTTPConnection(address, timeout=store.WAITS_S)
    try:
        connection.request(method, path)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def sell(address, item):
    return get(address, 'POST', '/sell?' + urllib.parse.urlencode({'item': item}))[0]


def buy(address, item, answers):
    """A buyer asks again while others are faster."""
    status = 409
    while status == 409:
        status = sell(address, item)
    answers.append(status)


def put(directory, item, pieces):
    with open(os.path.join(directory, item), 'w', encoding='utf-8') as file:
        file.write(f'{pieces} 0\n')


def left(directory, item):
    with open(os.path.join(directory, item), encoding='utf-8') as file:
        return [int(word) for word in file.read().split()]


def crowd(addresses, directory):
    answers = []
    put(directory, 'lamp', PIECES)
    buyers = [threading.Thread(target=buy, args=(addresses[i % len(addresses)], 'lamp', answers)) for i in range(BUYERS)]
    for buyer in buyers:
        buyer.start()
    for buyer in buyers:
        buyer.join()
    counted = dict(collections.Counter(answers))
    store.expect(counted == {200: PIECES, 410: BUYERS - PIECES}, f'{BUYERS} buyers at once, {PIECES} pieces: {counted}')
    store.expect(left(directory, 'lamp')[0] == 0, f'and none is left: {left(directory, "lamp")}')


def refusals(address, directory):
    put(directory, 'x}y', 1)
    for item in ('', '../lamp', '.lamp', 'lamp/x', 'a' * 300, 'x}y', 'a{}b{c}'):
        store.expect(sell(address, item) == 400, f'400 for the name {item[:20]!r}')
    store.expect(get(address, 'POST', '/sell')[0] == 400, '400 for no name')
    store.expect(sell(address, 'unheard-of') == 410, '410 for what is not in stock')
    store.expect(left(directory, 'x}y') == [1, 0], 'nothing was sold by that')


def busy(address, directory, url):
    put(directory, 'chair', 2)
    store.ask(url, 'HSET', 'stock:chair', 'somebody', 1, 'mode', 'mutex')
    store.expect(sell(address, 'chair') == 409, '409 while somebody else holds the lock')
    store.expect(left(directory, 'chair') == [2, 0], 'nothing is sold then')
    answers = []
    buyer = threading.Thread(target=buy, args=(address, 'chair', answers))
    buyer.start()
    while 'waits for stock:chair' not in get(address, 'GET', '/locks')[1]:
        pass
    store.ask(url, 'DEL', 'stock:chair')
    store.ask(url, 'PUBLISH', 'redisson_lock__channel:{stock:chair}', 0)
    buyer.join()
    store.expect(answers == [200] and left(directory, 'chair')[0] == 1, f'and it is sold once that one releases: {answers}')


def fence(address, directory):
    with open(os.path.join(directory, 'vase'), 'w', encoding='utf-8') as file:
        file.write(f'1 {2 ** 62}\n')
    store.expect(sell(address, 'vase') == 503, 'a token that is not above the one in the stock sells nothing')
    store.expect(left(directory, 'vase') == [1, 2 ** 62], 'nor does it write')


def main(program, server):
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as stock, contextlib.ExitStack() as open_shops:
        with store.redis(server, work) as url:
            addresses = [open_shops.enter_context(shop(program, stock, url)) for _ in range(2)]
            crowd(addresses, stock)
            refusals(addresses[0], stock)
            busy(addresses[0], stock, url)
            fence(addresses[0], stock)
            store.expect(store.locks(url) == [], f'no lock is left: {store.locks(url)}')
        put(stock, 'desk', 1)
        store.expect(sell(addresses[0], 'desk') == 503, '503 when the store is gone')
        store.expect(left(stock, 'desk') == [1, 0], 'nothing is sold then')


if __name__ == '__main__':
    main(*sys.argv[1:])
