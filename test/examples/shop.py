# SPDX-License-Identifier: BSD-3-Clause
"""shop.py REDIS_SERVER SHOP - two shops that share a stock sell each piece once, to many buyers at the same time;
and every answer that the head of shop.c names is given when it should be."""
import collections
import contextlib
import http.client
import os
import signal
import socket
import struct
import sys
import tempfile
import threading
import urllib.parse

import store

PIECES, BUYERS = 30, 40


@contextlib.contextmanager
def shop(program, directory, url, *spans):
    """Its address: host:port. spans: what a payment takes and how long a buyer waits, in ms."""
    with store.running(program, directory, url, '0', *(str(span) for span in spans)) as process:
        line = process.stdout.readline().strip()
        store.expect(line.startswith('http://'), f'a shop opens: {line}')
        yield line[len('http://'):]
        store.expect(process.poll() is None, 'it is still open at the end')


def end(program, directory, url, payment_ms, terms):
    """SIGTERM while a sale holds its lock: nothing is left taken when the shop has ended."""
    put(directory, 'bell', 1)
    with store.running(program, directory, url, '0', str(payment_ms)) as process:
        address = process.stdout.readline().strip()[len('http://'):]
        with buying(address, 'bell') as answers:
            while 'holds stock:bell' not in get(address, 'GET', '/locks')[1]:
                pass
            for _ in range(terms):
                process.send_signal(signal.SIGTERM)
                store.until(lambda: not is_open(address), 'the door is shut')
        store.expect_end(process)
    store.expect(store.locks(url) == [], f'a shop that ends leaves no lock: {store.locks(url)}')
    return answers


def is_open(address):
    host, port = address.split(':')
    with socket.socket() as door:
        return door.connect_ex((host, int(port))) == 0


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


@contextlib.contextmanager
def buying(address, *items):
    """A buyer of each, until all have their answers: these."""
    answers = []
    buyers = [threading.Thread(target=buy, args=(address, item, answers)) for item in items]
    for buyer in buyers:
        buyer.start()
    try:
        yield answers
    finally:
        for buyer in buyers:
            buyer.join()


def put(directory, item, pieces):
    with open(os.path.join(directory, item), 'w', encoding='utf-8') as file:
        file.write(f'{pieces} 0\n')


def left(directory, item):
    with open(os.path.join(directory, item), encoding='utf-8') as file:
        return [int(word) for word in file.read().split()]


def crowd(addresses, directory):
    put(directory, 'lamp', PIECES)
    each = ['lamp'] * (BUYERS // 2)
    with buying(addresses[0], *each) as here, buying(addresses[1], *each) as there:
        pass
    counted = dict(collections.Counter(here + there))
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
    with buying(address, 'chair') as answers:
        while 'waits for stock:chair' not in get(address, 'GET', '/locks')[1]:
            pass
        store.ask(url, 'DEL', 'stock:chair')
        store.ask(url, 'PUBLISH', 'redisson_lock__channel:{stock:chair}', 0)
    store.expect(answers == [200] and left(directory, 'chair')[0] == 1, f'and it is sold once that one releases: {answers}')


def fence(address, directory):
    with open(os.path.join(directory, 'vase'), 'w', encoding='utf-8') as file:
        file.write(f'1 {2 ** 62}\n')
    store.expect(sell(address, 'vase') == 503, 'a token that is not above the one in the stock sells nothing')
    store.expect(left(directory, 'vase') == [1, 2 ** 62], 'nor does it write')


def fence_before_read(address, directory):
    """A sale reads and is delayed by its payment; a later holder raises the fence, reads, and has not written yet."""
    put(directory, 'clock', 3)
    with buying(address, 'clock') as answers:
        while left(directory, 'clock')[1] == 0 and not answers:
            pass
        token = left(directory, 'clock')[1]
        store.expect(left(directory, 'clock') == [3, token] and not answers, 'the fence is raised before anything is sold')
        with open(os.path.join(directory, 'clock'), 'r+', encoding='utf-8') as file:
            file.write(f'{3:10} {token + 1:20}\n')
    is_refused = answers == [503] and left(directory, 'clock') == [3, token + 1]
    store.expect(is_refused, f'so the delayed sale does not write: {answers}')


def lost_after_the_write(address, directory, url):
    """Somebody ends the hold while the payment runs. The fence lets the write through: it is sold, LOST or not."""
    put(directory, 'drum', 2)
    with buying(address, 'drum') as answers:
        while left(directory, 'drum')[1] == 0 and not answers:
            pass
        store.ask(url, 'DEL', 'stock:drum')
    is_sold = answers == [200] and left(directory, 'drum')[0] == 1
    store.expect(is_sold, f'a sale that is written behind the fence is one: {answers}')


def leave(address, directory, url, how, is_waiting):
    """A buyer who leaves while he waits, or while he pays. Both take an hour here: nothing ends by itself."""
    host, port = address.split(':')
    put(directory, 'lute', 1)
    if is_waiting:
        store.ask(url, 'HSET', 'stock:lute', 'somebody', 1, 'mode', 'mutex')
    with socket.create_connection((host, int(port))) as link:
        link.sendall(b'POST /sell?item=lute HTTP/1.1\r\nHost: shop\r\nContent-Length: 0\r\n\r\n')
        while f'{"waits for" if is_waiting else "holds"} stock:lute' not in get(address, 'GET', '/locks')[1]:
            pass
        if how == 'reset':
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    while 'stock:lute' in get(address, 'GET', '/locks')[1]:
        pass
    if is_waiting:
        store.ask(url, 'DEL', 'stock:lute')
    doing = 'waits' if is_waiting else 'pays'
    store.expect(left(directory, 'lute')[0] == 1, f'a buyer who leaves ({how}) while he {doing} leaves no lock')


HOUR_MS = 3600000


def main(server, program):
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as stock, contextlib.ExitStack() as open_shops:
        with store.redis(server, work) as url:
            addresses = [open_shops.enter_context(shop(program, stock, url)) for _ in range(2)]
            crowd(addresses, stock)
            refusals(addresses[0], stock)
            busy(addresses[0], stock, url)
            fence(addresses[0], stock)
            with shop(program, stock, url, 1000) as slow: # renewals come later: at 1667 ms
                lost_after_the_write(slow, stock, url)
            with shop(program, stock, url, 4000) as slow:
                fence_before_read(slow, stock)
            with shop(program, stock, url, HOUR_MS, HOUR_MS) as patient:
                for how in ('close', 'reset'):
                    for is_waiting in (True, False):
                        leave(patient, stock, url, how, is_waiting)
            store.expect(store.locks(url) == [], f'no lock is left: {store.locks(url)}')
            store.expect(end(program, stock, url, 500, 1) == [200], 'a sale that holds its lock is ended first')
            store.expect(end(program, stock, url, HOUR_MS, 2) == [503], 'but not at a second SIGTERM')
        put(stock, 'desk', 1)
        store.expect(sell(addresses[0], 'desk') == 503, '503 when the store is gone')
        store.expect(left(stock, 'desk') == [1, 0], 'nothing is sold then')


if __name__ == '__main__':
    main(*sys.argv[1:])
