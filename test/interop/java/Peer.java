/* SPDX-License-Identifier: BSD-3-Clause */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;

/**
 * A program with Redisson, played line by line from standard input. `TAG VERB WORD..` is answered by `TAG NANOSECONDS WORD..`, in any order: the time
 * is System.nanoTime(), which on Linux is CLOCK_MONOTONIC and so that of every process of the host. One program may have several clients, each of
 * which is to the store what a process of its own would be. End of input ends the program at once.
 *
 *   open CLIENT URL [SETTING=VALUE..]            a client; its id
 *   do CLIENT THREAD KIND NAME OPERATION [MS..]  one call (Kinds), in that thread of that client: Redisson holds by thread
 *   contend CLIENT COUNT KIND HOLD_US THINK_US LEASE_MS NAME..   threads that want these names until `stop` (Contenders)
 *   stop                                         answered once each of them has what it waited for, and gave it back
 *   close CLIENT
 *
 * Invariant: all calls of one THREAD run one after the other in one thread of Java.
 */
final class Peer {
    private static final String USER = "default";
    private final Map<String, RedissonClient> clients = new ConcurrentHashMap<>();
    private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
    private final Contenders contenders;

    private Peer(String trace) throws Exception {
        contenders = new Contenders(trace);
    }

    private static synchronized void answer(String tag, String words) {
        System.out.print(tag + " " + System.nanoTime() + " " + words.replace('\n', ' ') + "\n");
        System.out.flush();
    }

    static String reason(Throwable failure) {
        Throwable cause = failure.getCause() != null && failure instanceof java.lang.reflect.InvocationTargetException ? failure.getCause() : failure;
        return cause.getClass().getSimpleName() + " " + cause.getMessage();
    }

    interface Work {
        String run() throws Exception;
    }

    private static void work(String tag, Work work) {
        try {
            answer(tag, work.run());
        } catch (Exception | LinkageError failure) {
            answer(tag, "error " + reason(failure));
        }
    }

    private static String setting(String[] words, String name, String usual) {
        return Arrays.stream(words).filter(word -> word.startsWith(name + "=")).map(word -> word.substring(name.length() + 1)).findFirst().orElse(usual);
    }

    /** The oldest release has no such setting. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void shard(ClusterServersConfig cluster, String mode) throws ReflectiveOperationException {
        Class kind = Class.forName("org.redisson.config.ShardedSubscriptionMode");
        ClusterServersConfig.class.getMethod("setShardedSubscriptionMode", kind).invoke(cluster, Enum.valueOf(kind, mode));
    }

    /** URL: redis://:password@host:port, or cluster://:password@host:port,host:port. */
    private String open(String client, String url, String[] settings) throws ReflectiveOperationException {
        Config config = new Config();
        int at = url.lastIndexOf('@');
        String password = url.substring(url.indexOf("://") + 4, at);
        String[] hosts = url.substring(at + 1).split(",");
        config.setLockWatchdogTimeout(Long.parseLong(setting(settings, "watchdog", "30000")));
        if (url.startsWith("cluster:")) {
            ClusterServersConfig cluster = config.useClusterServers().setUsername(USER).setPassword(password);
            if (!setting(settings, "sharded", "AUTO").equals("AUTO"))
                shard(cluster, setting(settings, "sharded", "AUTO"));
            for (String host : hosts)
                cluster.addNodeAddress("redis://" + host);
        } else {
            config.useSingleServer().setUsername(USER).setPassword(password).setAddress("redis://" + hosts[0]);
        }
        clients.put(client, Redisson.create(config));
        return "ok " + clients.get(client).getId();
    }

    private void close(String client) {
        threads.keySet().stream().filter(name -> name.startsWith(client + "/")).forEach(name -> threads.remove(name).shutdown());
        clients.remove(client).shutdown();
    }

    private ExecutorService thread(String name) {
        return threads.computeIfAbsent(name, key -> Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, key);
            thread.setDaemon(true);
            return thread;
        }));
    }

    private void obey(String[] words) {
        String tag = words[0];
        String[] rest = words.length > 3 ? Arrays.copyOfRange(words, 3, words.length) : new String[0];
        switch (words[1]) {
        case "now":
            answer(tag, "ok");
            break;
        case "open":
            work(tag, () -> open(words[2], words[3], rest));
            break;
        case "do":
            thread(words[2] + "/" + words[3]).execute(() ->
                work(tag, () -> Kinds.call(clients.get(words[2]), words[4], words[5], words[6], Arrays.copyOfRange(words, 7, words.length))));
            break;
        case "contend":
            contenders.begin(clients.get(words[2]), words[2], rest);
            answer(tag, "ok");
            break;
        case "stop":
            contenders.stop(() -> answer(tag, "ok"));
            break;
        case "close":
            new Thread(() -> work(tag, () -> {
                close(words[2]);
                return "ok";
            })).start();
            break;
        default:
            answer(tag, "error no such verb");
        }
    }

    public static void main(String[] arguments) throws Exception {
        Peer peer = new Peer(arguments[0]);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine())
            peer.obey(line.split(" "));
        Runtime.getRuntime().halt(0);
    }
}
