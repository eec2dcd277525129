/* SPDX-License-Identifier: BSD-3-Clause */
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Driver PORT - Redisson's locks and its semaphore with leases by the lines of README.md. A contender is a thread, because Redisson holds by thread.
 * The time is System.nanoTime(), which on Linux is CLOCK_MONOTONIC. Idle connections are closed: 32 of these programs run on one machine.
 */
final class Driver {
    private static final long FOREVER_MS = TimeUnit.DAYS.toMillis(1);

    /** Returns what releases, or null: the wait's limit came first. */
    private interface Acquirer {
        Runnable acquire(long waitMs, long leaseMs) throws InterruptedException;
    }

    private static Acquirer ofLock(RLock lock) {
        return (waitMs, leaseMs) -> {
            if (waitMs == FOREVER_MS)
                lock.lock(leaseMs, TimeUnit.MILLISECONDS);
            else if (!lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS))
                return null;
            return lock::unlock;
        };
    }

    private static Acquirer ofSemaphore(RPermitExpirableSemaphore semaphore, int permits) {
        semaphore.trySetPermits(permits);
        return (waitMs, leaseMs) -> {
            String permit = semaphore.tryAcquire(waitMs, leaseMs, TimeUnit.MILLISECONDS);
            return permit == null ? null : () -> semaphore.release(permit);
        };
    }

    /** KIND, or KIND:HOW: `read`, `write`, or a number of permits. */
    private static Acquirer of(RedissonClient client, String word, String name) {
        switch (word) {
        case "RLock": return ofLock(client.getLock(name));
        case "RFairLock": return ofLock(client.getFairLock(name));
        case "RReadWriteLock:read": return ofLock(client.getReadWriteLock(name).readLock());
        case "RReadWriteLock:write": return ofLock(client.getReadWriteLock(name).writeLock());
        default: return ofSemaphore(client.getPermitExpirableSemaphore(name), Integer.parseInt(word.split(":")[1]));
        }
    }

    private static void sleepMicros(long micros) {
        long end = System.nanoTime() + micros * 1000;
        for (long left = micros * 1000; left > 0; left = end - System.nanoTime())
            LockSupport.parkNanos(left);
    }

    private static String grant(long asked, long granted, long releasing) {
        return "grant " + asked + " " + granted + " " + releasing + " " + System.nanoTime() + "\n";
    }

    private static void contend(Acquirer acquirer, long leaseMs, long holdUs, long thinkUs, long end, long waitMs, StringBuilder lines) {
        try {
            for (long asked = System.nanoTime(); asked < end; asked = System.nanoTime()) {
                Runnable release = acquirer.acquire(waitMs, leaseMs);
                long granted = System.nanoTime();
                if (release == null) {
                    lines.append("ended ").append(asked).append(' ').append(granted).append('\n');
                    continue;
                }
                sleepMicros(holdUs);
                long releasing = System.nanoTime();
                release.run();
                lines.append(grant(asked, granted, releasing));
                sleepMicros(thinkUs);
            }
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    /** KIND NAME LEASE_MS HOLD_US THINK_US RUN_MS CONTENDERS WAIT_MS */
    private static String run(RedissonClient client, String[] words) throws InterruptedException {
        long[] numbers = new long[words.length];
        for (int i = 3; i < words.length; i++)
            numbers[i] = Long.parseLong(words[i]);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(numbers[6]);
        List<StringBuilder> lines = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (long i = 0; i < numbers[7]; i++) {
            StringBuilder own = new StringBuilder();
            lines.add(own);
            threads.add(new Thread(() -> contend(of(client, words[1], words[2]), numbers[3], numbers[4], numbers[5], end, numbers[8], own)));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads)
            thread.join();
        return String.join("", lines) + "done\n";
    }

    /** KIND NAME LEASE_MS */
    private static String hold(RedissonClient client, String[] words, BufferedReader input) throws IOException, InterruptedException {
        Acquirer acquirer = of(client, words[1], words[2]);
        long asked = System.nanoTime();
        Runnable release = acquirer.acquire(FOREVER_MS, Long.parseLong(words[3]));
        long granted = System.nanoTime();
        tell("granted " + granted + "\n");
        input.readLine();
        long releasing = System.nanoTime();
        release.run();
        return grant(asked, granted, releasing) + "done\n";
    }

    private static void tell(String lines) {
        System.out.print(lines);
        System.out.flush();
    }

    public static void main(String[] arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + arguments[0]).setConnectionMinimumIdleSize(1)
            .setSubscriptionConnectionMinimumIdleSize(1);
        RedissonClient client = Redisson.create(config);
        tell("ready RLock RFairLock RReadWriteLock RPermitExpirableSemaphore\n");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            tell(words[0].equals("run") ? run(client, words) : hold(client, words, input));
        }
        Runtime.getRuntime().halt(0);
    }
}
