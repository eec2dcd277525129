# SPDX-License-Identifier: BSD-3-Clause
"""guide.py GUIDE.md SHOP REDIS_SERVER - what the user's guide shows besides C is so: the fences in SQL and Lua refuse latecomers and nobody else,
what an operator types ends a hold and wakes who waits, and the rights it gives a server's user are enough to sell by, and none of them is
too many."""
import contextlib
import http.client
import os
import re
import shlex
import sqlite3
import sys
import tempfile
import threading

import shop
import store

NOT_IN_A_SALE = {'+hget', '+unsubscribe'}  # a renewal's, and what is said a second after the last waiter
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


def admin(url):
    """The same server, as the user who may do everything."""
    return 'unix://' + url[url.index('@') + 1:]


def refusals(log):
    with open(log, encoding='utf-8') as file:
        return [line.strip() for line in file if re.search('refused|NOPERM', line)]


@contextlib.contextmanager
def opened(program, directory, url, log):
    with open(log, 'w', encoding='utf-8') as file:
        process = store.start(program, directory, url, stderr=file)
    try:
        yield process.stdout.readline().strip()[len('http://'):]
    finally:
        store.end(process)


def buy(address, answers):
    try:
        shop.buy(address, 'lamp', answers)
    except (OSError, http.client.HTTPException):
        answers.append('the shop was closed')


def sale(program, directory, url, console):
    """(answers to a buyer who must wait first, refusals logged): a sale, or what kept it from being one. An operator ends the wait."""
    log, answers = os.path.join(directory, 'log'), []
    shop.put(directory, 'lamp', 1)
    store.ask(admin(url), 'DEL', 'stock:lamp')
    store.ask(admin(url), 'HSET', 'stock:lamp', 'somebody', 1, 'mode', 'mutex')
    with opened(program, directory, url, log) as address:
        buyer = threading.Thread(target=buy, args=(address, answers))
        buyer.start()
        while store.ask(admin(url), 'PUBSUB', 'NUMSUB', CHANNEL)[1] == 0 and not refusals(log) and buyer.is_alive():
            pass
        for line in console:
            store.ask(admin(url), *shlex.split(line)[1:])
        while buyer.is_alive() and not refusals(log):
            pass
        found = refusals(log)
    buyer.join()
    return answers, found


def rights(line, program, directory, url, console):
    words = line.split()
    store.expect(words[:5] == ['ACL', 'SETUSER', 'shop', 'on', '>secret'], 'the rights begin as expected')
    as_shop = 'unix://shop:secret@' + url[len('unix://'):]
    store.ask(url, *words)
    answers, found = sale(program, directory, as_shop, console)
    store.expect(answers == [200] and not found, f'the rights are enough: {answers} {found}')
    for word in words:
        if word[0] in '+~&' and word not in NOT_IN_A_SALE:
            store.ask(url, 'ACL', 'DELUSER', 'shop')
            store.ask(url, *[other for other in words if other != word])
            _, found = sale(program, directory, as_shop, console)
            store.expect(found, f'without {word} something is refused')


def main(guide, program, server):
    with open(guide, encoding='utf-8') as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as stock, store.redis(server, work) as url:
        row, rows = store.blocks(text, 'sql')
        one_row(row)
        many_rows(rows, row)
        lua(*store.blocks(text, 'lua'), url)
        console = store.blocks(text, 'console')[0].splitlines()
        store.expect(len(console) == 5 and all(line.startswith('redis-cli ') for line in console), 'an operator has five commands')
        rights(*store.blocks(text, 'acl'), program, stock, url, console)


if __name__ == '__main__':
    main(*sys.argv[1:])
