# SPDX-License-Identifier: BSD-3-Clause
"""guide.py REDIS_SERVER GUIDE_FOLDER SHOP - what the user's guide shows besides C is so: the fences in SQL and Lua
refuse latecomers and nobody else, and what an operator types ends a hold and wakes who waits."""
import re
import shlex
import sqlite3
import tempfile
import threading

import shop
import store

QUEUE = 'hilock:queue:{stock:lamp}'


# The recipe that loses updates: the later holder raises nothing before it has written, and refuses nothing until then.
OLD_SQL = 'UPDATE stock SET pieces = :pieces, fence = :token WHERE item = :item AND fence <= :token'
OLD_LUA = '''
if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[2]) or '0') then return 0 end
redis.call('SET', KEYS[2], ARGV[1])
redis.call('SET', KEYS[1], ARGV[2])
return 1
'''


def two_holders(enter, write):
    """A, token 1, reads and is stopped; B, token 2, reads; A goes on and writes, then B. Each takes one piece."""
    first, second = enter(1), enter(2)
    return write(1, first - 1), write(2, second - 1)


def compare(where, old, new):
    """new must refuse A; old must take both, or the play proves nothing. Each is (enter, write, left)."""
    outcomes = [(two_holders(enter, write), left()) for enter, write, left in (old, new)]
    store.expect(outcomes[0] == ((1, 1), 8), f'{where}: raised by writes only, it loses an update: {outcomes[0]}')
    store.expect(outcomes[1] == ((0, 1), 8), f'{where}: raised before the read, it refuses the late one: {outcomes[1]}')


def statements_of(text):
    return [statement.strip() for statement in re.sub(r'--.*', '', text).split(';') if statement.strip()]


def stock_of(create):
    database = sqlite3.connect(':memory:', isolation_level=None)
    database.execute(create)
    database.execute("INSERT INTO stock (item, pieces) VALUES ('lamp', 9)")
    return database


def one_row(text):
    create, lift, read, update = statements_of(text)

    def holders(database, raises, writes):
        def enter(token):
            if raises:
                raised = database.execute(lift, {'token': token, 'item': 'lamp'}).rowcount
                store.expect(raised == 1, f'SQL: token {token} raises the fence')
            return database.execute(read, {'item': 'lamp'}).fetchone()[0]

        def write(token, pieces):
            return database.execute(writes, {'pieces': pieces, 'token': token, 'item': 'lamp'}).rowcount
        return enter, write, lambda: database.execute(read, {'item': 'lamp'}).fetchone()[0]
    compare('SQL, one row', holders(stock_of(create), False, OLD_SQL), holders(stock_of(create), True, update))
    database = stock_of(create)
    enter, write, left = holders(database, True, update)
    enter(5)
    written = [write(5, 8), write(5, 7), write(7, 6), write(6, 1)]
    store.expect(written == [1, 1, 1, 0] and left() == 6, f'SQL: only the older token is refused: {written}')
    raised = database.execute(lift, {'token': 6, 'item': 'lamp'}).rowcount
    store.expect(raised == 0, 'SQL: and an older token cannot raise the fence')


def many_rows(text, create):
    """The page's transaction; and the short one before it: up to the UPDATE, then COMMIT."""
    statements = statements_of(text)
    tables, transaction = statements[:2], statements[2:]
    at = next(i for i, statement in enumerate(transaction) if statement.startswith('UPDATE fences'))
    store.expect(transaction[at + 1].startswith('SELECT'), 'SQL: the transaction reads behind the fence')

    def run(database, steps, token):
        """As the comment says: when the fence's UPDATE changed no row, ROLLBACK."""
        for statement in steps:
            done = database.execute(statement, {'name': 'stock:lamp', 'token': token, 'item': 'lamp', 'buyer': f'of {token}'})
            if statement.startswith('UPDATE fences') and done.rowcount == 0:
                database.execute('ROLLBACK')
                return 0
        return 1

    def fresh():
        database = stock_of(create)
        for table in tables:
            database.execute(table)
        return database

    def left(database):
        return database.execute('SELECT pieces FROM stock').fetchone()[0]

    def holders(database, raises):
        def enter(token):
            if raises:
                raised = run(database, [*transaction[:at + 1], 'COMMIT'], token)
                store.expect(raised == 1, f'SQL: token {token} raises the fence')
            return left(database)

        def write(token, pieces):
            sets = f'UPDATE stock SET pieces = {pieces} WHERE item = :item'
            return run(database, [sets if step.startswith('UPDATE stock') else step for step in transaction], token)
        return enter, write, lambda: left(database)
    compare('SQL, many rows', holders(fresh(), False), holders(fresh(), True))
    database = fresh()
    sold = [run(database, transaction, token) for token in (5, 5, 7, 6)]
    store.expect(sold == [1, 1, 1, 0], 'SQL: only the transaction with the older token is refused')
    sales = database.execute('SELECT COUNT(*) FROM sales').fetchone()[0]
    is_undone = (left(database), sales) == (6, 3) and not database.in_transaction
    store.expect(is_undone, f'SQL: and none of it stays: {left(database)}, {sales}')


def two_accounts(text):
    """The page's transaction, which an older token of either name refuses whole."""
    statements = statements_of(text)
    database = sqlite3.connect(':memory:', isolation_level=None)
    database.execute(statements[0])
    database.execute("INSERT INTO accounts (name, cents) VALUES ('a', 100), ('b', 100)")

    def transfer(from_, to, token_from, token_to, cents):
        values = {'from': from_, 'to': to, 'token_from': token_from, 'token_to': token_to, 'cents': cents}
        for statement in statements[1:]:
            done = database.execute(statement, values)
            is_refused = 'SET fence' in statement and done.rowcount == 0
            if is_refused or statement.startswith('SELECT') and done.fetchone()[0] < cents:
                database.execute('ROLLBACK')
                return 0
        return 1

    def left():
        return dict(database.execute('SELECT name, cents FROM accounts'))
    done = [transfer('a', 'b', 5, 5, 30), transfer('b', 'a', 7, 7, 10), transfer('a', 'b', 6, 8, 1), transfer('a', 'b', 8, 6, 1),
            transfer('a', 'b', 8, 8, 500)]
    store.expect(done == [1, 1, 0, 0, 0], f'SQL: an older token of either account refuses the transfer: {done}')
    store.expect(left() == {'a': 80, 'b': 120} and not database.in_transaction, f'SQL: and none of it stays: {left()}')
    fences = [row[0] for row in database.execute('SELECT fence FROM accounts')]
    store.expect(fences == [7, 7], f'SQL: its fences too: {fences}')


def lua(text, url):
    def fenced(script, *words):
        return store.ask(url, 'EVAL', script, 2, '{lamp}', '{lamp}fence', *words)

    def write(token, value):
        try:
            return 1 if fenced(text, token, value) == str(value) else 0
        except SystemExit as refusal:
            store.expect('FENCED' in str(refusal), f'Lua: refused as FENCED: {refusal}')
            return 0

    def left():
        """Puts a new stock behind what it reads, so that the next play begins anew."""
        pieces = int(store.ask(url, 'GET', '{lamp}') or 0)
        store.ask(url, 'DEL', '{lamp}fence')
        store.ask(url, 'SET', '{lamp}', 9)
        return pieces
    left()
    old = (lambda token: int(store.ask(url, 'GET', '{lamp}')), lambda token, value: fenced(OLD_LUA, token, value), left)
    compare('Lua', old, (lambda token: int(fenced(text, token)), write, left))
    latest = 2 ** 53 - 1
    written = [write(5, 8), write(5, 7), write(latest, 6), write(latest - 1, 1)]
    store.expect(written == [1, 1, 1, 0], f'Lua: only the older token is refused: {written}')
    store.expect(left() == 6, 'Lua: and it changed nothing')
    store.ask(url, 'DEL', '{lamp}', '{lamp}fence')


def operator(lines, program, directory, url):
    """A buyer waits for a hold that nobody gives back, until an operator ends it."""
    store.expect(len(lines) == 5 and all(line.startswith('redis-cli ') for line in lines), 'an operator has five commands')
    answers = []
    shop.put(directory, 'lamp', 1)
    store.ask(url, 'HSET', 'stock:lamp', 'somebody', 1, 'mode', 'mutex')
    with shop.shop(program, directory, url) as address:
        buyer = threading.Thread(target=shop.buy, args=(address, 'lamp', answers))
        buyer.start()
        while store.ask(url, 'ZCARD', QUEUE) == 0 and buyer.is_alive():
            pass
        told = [store.ask(url, *shlex.split(line)[1:]) for line in lines]
        buyer.join()
    store.expect(told[0][0] == 'somebody' and 'hilock:shop:' in told[2], f'he sees the holder, and whose connections there are: {told}')
    store.expect(told[3:] == [1, 0] and answers == [200], f'he ends the hold, and the buyer finds that: {told[3:]} {answers}')


def pages(url, folder, program):
    text = store.guide(folder)
    with tempfile.TemporaryDirectory() as stock:
        row, rows, accounts = store.blocks(text, 'sql')
        one_row(row)
        two_accounts(accounts)
        many_rows(rows, statements_of(row)[0])
        lua(store.blocks(text, 'lua')[0], url)
        operator(store.blocks(text, 'console')[0].splitlines(), program, stock, url)


if __name__ == '__main__':
    store.drive(pages)
