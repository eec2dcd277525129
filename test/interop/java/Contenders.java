/* SPDX-License-Identifier: BSD-3-Clause */
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Threads that want names, one at a time, until they are stopped. Each writes down what it does, a line a step, `MARK NANOSECONDS THREAD NAME TOKEN`:
 *   ?  asks          +  has it             -  about to give it back
 *   x  unlock() said that it was not held  e  a call failed, and what of it
 * A line is one write to a file that is appended to, so that kill -9 leaves whole lines, and all of them.
 */
final class Contenders {
    private final FileOutputStream trace;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean isStopped;

    Contenders(String path) throws IOException {
        trace = new FileOutputStream(path, true);
    }

    private void note(String mark, String name) {
        try {
            trace.write((mark + " " + System.nanoTime() + " " + Thread.currentThread().getName() + " " + name + " 0\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        }
    }

    private static void spend(long us) {
        long until = System.nanoTime() + us * 1000;
        for (long left = us * 1000; left > 0; left = until - System.nanoTime())
            LockSupport.parkNanos(left);
    }

    private void turn(RLock lock, String name, long holdUs, long leaseMs) {
        note("?", name);
        if (leaseMs > 0)
            lock.lock(leaseMs, TimeUnit.MILLISECONDS);
        else
            lock.lock();
        note("+", name);
        spend(holdUs);
        note("-", name);
        try {
            lock.unlock();
        } catch (IllegalMonitorStateException lost) {
            note("x", name);
        }
    }

    private void contend(RedissonClient client, String kind, long holdUs, long thinkUs, long leaseMs, String[] names) {
        while (!isStopped) {
            String name = names[ThreadLocalRandom.current().nextInt(names.length)];
            try {
                turn(Kinds.lock(client, kind, name), name, holdUs, leaseMs);
            } catch (Exception failure) {
                note("e", name + " " + Peer.reason(failure).replaceAll("\\s", "_"));
                spend(10000);
            }
            spend(thinkUs);
        }
    }

    /** words: COUNT KIND HOLD_US THINK_US LEASE_MS NAME.. */
    void begin(RedissonClient client, String label, String[] words) {
        String[] names = Arrays.copyOfRange(words, 5, words.length);
        isStopped = false;
        for (int i = 0; i < Integer.parseInt(words[0]); i++) {
            Thread thread = new Thread(() -> contend(client, words[1], Long.parseLong(words[2]), Long.parseLong(words[3]), Long.parseLong(words[4]), names),
                label + "/" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
    }

    void stop(Runnable done) {
        isStopped = true;
        new Thread(() -> {
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException ended) {
                    return;
                }
            }
            threads.clear();
            done.run();
        }).start();
    }
}
