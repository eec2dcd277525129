# SPDX-License-Identifier: BSD-3-Clause
"""guide.py GUIDE.md SHOP REDIS_SERVER - what the user's guide shows besides C is so: the fences in SQL and Lua refuse latecomers and nobody else,
and what an operator types ends a hold and wakes who waits."""
import http.client
import re
import shlex
import sqlite3
import sys
import tempfile
import threading

import shop
import store

CHANNEL = 'redisson_lock__channel:{stock:lamp}'


def one_row(text):
    create, update, _ = text.split(';\n')
    database = sqlite3.connect(':memory:')
    database.execute(create)
    database.execute("INSERT INTO stock (item, pieces) VALUES ('lamp', 9)")

    def write(pieces, token):
        return database.execute(update, {'pieces': pieces, 'token': token, 'item': 'lamp'}).rowcount
    store.expect([write(8, 5), write(7, 5), write(6, 7), write(1, 6)] == [1, 1, 1, 0], 'SQL: only the write with the older token is refused')
    store.expect(database.execute('SELECT pieces FROM stock').fetchone() == (6,), 'SQL: and it changed nothing')


def many_rows(text, stock):
    statements = [statement.strip() for statement in re.sub(r'--.*', '', text).split(';') if statement.strip()]
    tables, transaction = statements[:2], statements[2:]
    database = sqlite3.connect(':memory:', isolation_level=None)
    for table in (stock.split(';\n')[0], *tables, "INSERT INTO stock (item, pieces) VALUES ('lamp', 9)"):
        database.execute(table)

    def sell(token):
        """As the comment says: when the fence's UPDATE changed no row, ROLLBACK."""
        for statement in transaction:
            done = database.execute(statement, {'name': 'stock:lamp', 'token': token, 'item': 'lamp', 'buyer': f'of {token}'})
            if statement.startswith('UPDATE fences') and done.rowcount == 0:
                database.execute('ROLLBACK')
                return 0
        return 1
    store.expect([sell(5), sell(5), sell(7), sell(6)] == [1, 1, 1, 0], 'SQL: only the transaction with the older token is refused')
    sold = database.execute('SELECT pieces, (SELECT COUNT(*) FROM sales) FROM stock').fetchone()
    store.expect(sold == (6, 3) and not database.in_transaction, f'SQL: and none of it stays: {sold}')


def lua(text, url):
    def write(value, token):
        return store.ask(url, 'EVAL', text, 2, '{lamp}', '{lamp}fence', token, value)
    latest = 2 ** 53 - 1
    store.expect([write(8, 5), write(7, 5), write(6, latest), write(1, latest - 1)] == [1, 1, 1, 0], 'Lua: only the older token is refused')
    store.expect(store.ask(url, 'GET', '{lamp}') == '6', 'Lua: and it changed nothing')
    store.ask(url, 'DEL', '{lamp}', '{lamp}fence')


def buy(address, answers):
    try:
        shop.buy(address, 'lamp', answers)
    except (OSError, http.client.HTTPException):
        answers.append('the shop was closed')


def operator(lines, program, directory, url):
    """A buyer waits for a hold that nobody gives back, until an operator ends it."""
    store.expect(len(lines) == 5 and all(line.startswith('redis-cli ') for line in lines), 'an operator has five commands')
    answers = []
    shop.put(directory, 'lamp', 1)
    store.ask(url, 'HSET', 'stock:lamp', 'somebody', 1, 'mode', 'mutex')
    with shop.shop(program, directory, url) as address:
        buyer = threading.Thread(target=buy, args=(address, answers))
        buyer.start()
        while store.ask(url, 'PUBSUB', 'NUMSUB', CHANNEL)[1] == 0 and buyer.is_alive():
            pass
        told = [store.ask(url, *shlex.split(line)[1:]) for line in lines]
        buyer.join()
    store.expect(told[0][0] == 'somebody' and 'hilock:shop:' in told[2], f'he sees the holder, and whose connections there are: {told}')
    store.expect(told[3:] == [1, 1] and answers == [200], f'he ends the hold, and the buyer is woken: {told[3:]} {answers}')


def main(guide, program, server):
    with open(guide, encoding='utf-8') as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as stock, store.redis(server, work) as url:
        row, rows = store.blocks(text, 'sql')
        one_row(row)
        many_rows(rows, row)
        lua(*store.blocks(text, 'lua'), url)
        operator(store.blocks(text, 'console')[0].splitlines(), program, stock, url)


if __name__ == '__main__':
    main(*sys.argv[1:])
