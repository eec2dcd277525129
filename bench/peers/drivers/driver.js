/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.js PORT - redis-semaphore's Mutex and Semaphore, and node-redlock, by the lines of README.md. A contender is an asynchronous loop. */
'use strict';
const { createInterface } = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');
const Redis = require('ioredis');
const { Mutex, Semaphore, TimeoutError } = require('redis-semaphore');
const Redlock = require('redlock');

const now = () => process.hrtime.bigint(); /* CLOCK_MONOTONIC in nanoseconds */
const tell = (...lines) => process.stdout.write(lines.join('\n') + '\n');
const FOREVER_MS = 1e9;
const REDLOCK_DELAY_MS = 200; /* between two tries, as it is if nothing is asked for */

/* Each makes a function that acquires: it resolves to what releases, or to null when the wait's limit has come. */
const KINDS = {
    'redis-semaphore': (store, name, leaseMs, waitMs, permits) => {
        const options = { lockTimeout: leaseMs, acquireTimeout: waitMs, onLockLost: (error) => console.error(String(error)) };
        const mutex = permits ? new Semaphore(store, name, permits, options) : new Mutex(store, name, options);
        return async () => {
            try {
                await mutex.acquire();
            } catch (error) {
                if (error instanceof TimeoutError)
                    return null;
                throw error;
            }
            return () => mutex.release();
        };
    },
    'node-redlock': (store, name, leaseMs, waitMs) => {
        const redlock = new Redlock([store], { retryCount: Math.ceil(waitMs / REDLOCK_DELAY_MS) });
        return async () => {
            try {
                const lock = await redlock.lock(name, leaseMs);
                return () => lock.unlock();
            } catch (error) {
                if (error.name === 'LockError')
                    return null;
                throw error;
            }
        };
    },
};

/* KIND, or KIND:PERMITS. */
function acquirer(store, word, name, leaseMs, waitMs) {
    const [kind, permits] = word.split(':');
    return KINDS[kind](store, name, Number(leaseMs), Number(waitMs), Number(permits || 0));
}

async function contend(acquire, holdMs, thinkMs, end, lines) {
    for (let asked = now(); asked < end; asked = now()) {
        const release = await acquire();
        const granted = now();
        if (!release) {
            lines.push(`ended ${asked} ${granted}`);
            continue;
        }
        if (holdMs)
            await sleep(holdMs);
        const releasing = now();
        await release();
        lines.push(`grant ${asked} ${granted} ${releasing} ${now()}`);
        if (thinkMs)
            await sleep(thinkMs);
    }
}

async function run(store, [kind, name, leaseMs, holdUs, thinkUs, runMs, contenders, waitMs]) {
    const lines = [], end = now() + BigInt(runMs) * 1000000n;
    const loops = Array.from({ length: Number(contenders) }, () =>
        contend(acquirer(store, kind, name, leaseMs, waitMs), holdUs / 1000, thinkUs / 1000, end, lines));
    await Promise.all(loops);
    tell(...lines, 'done');
}

async function hold(store, [kind, name, leaseMs], input) {
    const asked = now(), release = await acquirer(store, kind, name, leaseMs, FOREVER_MS)(), granted = now();
    tell(`granted ${granted}`);
    await input.next();
    const releasing = now();
    await release();
    tell(`grant ${asked} ${granted} ${releasing} ${now()}`, 'done');
}

async function main(port) {
    const store = new Redis({ host: '127.0.0.1', port: Number(port) });
    const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    await store.ping();
    tell('ready ' + Object.keys(KINDS).join(' '));
    for (let line = await input.next(); !line.done; line = await input.next()) {
        const [verb, ...words] = line.value.split(' ');
        await (verb === 'run' ? run : hold)(store, words, input);
    }
    store.disconnect();
}

main(process.argv[2]);
