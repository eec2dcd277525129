/* SPDX-License-Identifier: BSD-3-Clause */
import java.util.Arrays;
import java.util.Collection;
import java.util.concurrent.TimeUnit;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Redisson's kinds of lock by name, and what can be asked of them. What a release of Redisson does not have yet is looked up when it runs, so that this
 * compiles against the oldest: it is then answered `error NoSuchMethodException`.
 */
final class Kinds {
    private Kinds() { }

    static RLock lock(RedissonClient client, String kind, String name) throws Exception {
        switch (kind) {
        case "rlock": return client.getLock(name);
        case "fair": return client.getFairLock(name);
        case "spin": return client.getSpinLock(name);
        case "fenced": return client.getFencedLock(name);
        case "read": return client.getReadWriteLock(name).readLock();
        case "write": return client.getReadWriteLock(name).writeLock();
        case "multi": return client.getMultiLock(Arrays.stream(name.split(",")).map(client::getLock).toArray(RLock[]::new));
        case "group":
            return (RLock) RedissonClient.class.getMethod("getMultiLock", String.class, Collection.class).invoke(client, name, Arrays.asList("a", "b"));
        case "nonreentrant": return (RLock) RedissonClient.class.getMethod("getNonReentrantLock", String.class).invoke(client, name);
        default: throw new IllegalArgumentException("no kind " + kind);
        }
    }

    /** Of the thread that calls it. */
    static String call(RedissonClient client, String kind, String name, String operation, String[] ms) throws Exception {
        if (kind.equals("map")) {
            client.getMap(name).put("field", "value");
            return "ok";
        }
        RLock lock = lock(client, kind, name);
        switch (operation) {
        case "try": return ms.length == 0 ? "" + lock.tryLock() : "" + lock.tryLock(Long.parseLong(ms[0]), Long.parseLong(ms[1]), TimeUnit.MILLISECONDS);
        case "lock":
            if (ms.length == 0)
                lock.lock();
            else
                lock.lock(Long.parseLong(ms[0]), TimeUnit.MILLISECONDS);
            return "true";
        case "unlock":
            lock.unlock();
            return "ok";
        case "locked": return "" + lock.isLocked();
        case "holder": return client.getId() + ":" + Thread.currentThread().getId();
        default: throw new IllegalArgumentException("no operation " + operation);
        }
    }
}
