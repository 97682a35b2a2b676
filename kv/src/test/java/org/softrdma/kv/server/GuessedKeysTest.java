package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.kv.server.RawQueuePair.await;

import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.message.Refusal;
import org.softrdma.kv.server.rdma.WrongKeys;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.cm.ConnectionRejectedException;

/**
 * A client that guesses the keys of chunks that it was not told of. A store of 64 MB in chunks of 96 bytes has 700 000, so that one in
 * 6 000 guesses READs somebody's item: they must not come at 3 000 a second.
 */
class GuessedKeysTest {
    private static final long SEED = 20_261_122;

    @Test
    void shouldStopWhoGuessesKeysAfterAHandful() throws IOException {
        try (RunningServer running = new RunningServer(
                        context -> context.items(items -> items.registration(ItemSettings.Registration.CHUNK)));
                RawMemcached victim = new RawMemcached(running.address());
                RawMemcached hoarder = new RawMemcached(running.address());
                RawMemcached early = new RawMemcached(running.address())) {
            victim.ask("set password 0 0 6\r\nsecret\r\n", "STORED\r\n");
            try (RawQueuePair kept = RawQueuePair.bound(hoarder, running, 2)) {
                String token = RawQueuePair.token(early);
                assertEquals(WrongKeys.FORGIVEN, guesses(running, 50), "queue pairs that a guesser got; seed " + SEED);
                kept.awaitEnd(); // one that was kept for later is a guess too
                ConnectionRejectedException refused = assertThrows(
                        ConnectionRejectedException.class,
                        () -> RawQueuePair.showing(token, running, 2).close());
                assertEquals(Refusal.PAUSED.text(), Refusal.textOf(refused.privateData()));
            }
            assertEquals("VERSION test-1\r\n", victim.ask("version\r\n", "VERSION test-1\r\n"), "TCP goes on");
            assertEquals("1", statistic(victim, "paused_peers"));
            assertEquals(Integer.toString(WrongKeys.FORGIVEN), statistic(victim, "wrong_keys"));
            assertEquals("1", statistic(victim, "paused_hellos"));
        }
    }

    /** How many guesses there were before the server gave no further token. */
    private static int guesses(RunningServer running, int most) throws IOException {
        Random random = new Random(SEED);
        for (int i = 0; i < most; i++) {
            try (RawMemcached tcp = new RawMemcached(running.address())) {
                tcp.send("rdma hello 2\r\n");
                String answer = tcp.readLine();
                if (!answer.startsWith("RDMA ")) {
                    assertTrue(answer.matches("CLIENT_ERROR rdma refused for \\d+ s, .*wrong keys"), answer);
                    return i;
                }
                guess(running, answer.split(" ", -1)[3], random.nextInt(), i + 1);
            }
        }
        return most;
    }

    private static void guess(RunningServer running, String token, int rkey, int counted) {
        try (RawQueuePair raw = RawQueuePair.showing(token, running, 2)) {
            raw.hello(token);
            raw.answer();
            assertEquals(CompletionStatus.REMOTE_ACCESS_ERROR, raw.read(rkey, 0, 96), "seed " + SEED);
            await(() -> running.server().rdmaCounters().wrongKeys.sum() == counted);
        }
    }

    @Test
    void shouldCountForTheMemcachedConnectionToo() throws IOException {
        try (RunningServer running = new RunningServer();
                RawMemcached tcp = new RawMemcached(running.address())) {
            for (int i = 0; i < WrongKeys.FORGIVEN; i++) {
                guess(running, RawQueuePair.token(tcp), i, i + 1);
            }
            tcp.send("rdma hello 2\r\n");
            assertEquals("CLIENT_ERROR rdma refused, this connection used too many wrong keys", tcp.readLine());
        }
    }

    private static String statistic(RawMemcached client, String name) throws IOException {
        client.send("stats rdma\r\n");
        String found = "";
        for (String line = client.readLine(); !line.equals("END"); line = client.readLine()) {
            if (line.startsWith("STAT " + name + " ")) {
                found = line.substring(line.lastIndexOf(' ') + 1);
            }
        }
        return found;
    }
}
