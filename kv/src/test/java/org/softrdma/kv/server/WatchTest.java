package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code watch}: what it shows, to whom, and what becomes of a watcher that does not read. */
class WatchTest {
    private static final int ITEM_BYTES = 100_000;

    /** A line without its time and number. */
    private static String line(RawMemcached watcher) throws IOException {
        String line = watcher.readLine();
        assertTrue(line.matches("ts=[0-9]+\\.[0-9]{6} gid=[0-9]+ type=.*"), line);
        return line.replaceFirst("^ts=\\S+ gid=\\S+ ", "")
                .replaceFirst(" cfd=[0-9]+", "")
                .replaceFirst("rport=[0-9]+", "rport=N");
    }

    private static RawMemcached watcher(RunningServer server, String what) throws IOException {
        RawMemcached watcher = new RawMemcached(server.address());
        assertEquals("OK\r\n", watcher.ask("watch" + what + "\r\n", "OK\r\n"));
        return watcher;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " fetchers", " fetchers rawcmds"})
    void shouldShowWhatIsFetched(String what) throws IOException {
        try (RunningServer server = new RunningServer();
                RawMemcached watcher = watcher(server, what);
                RawMemcached client = new RawMemcached(server.address())) {
            client.ask("set a 0 0 3\r\nabc\r\nget a b%\r\n", "STORED\r\nVALUE a 0 3\r\nabc\r\nEND\r\n");
            client.ask("mg a v\r\nmg c\r\n", "VA 3\r\nabc\r\nEN\r\n");
            client.ask("touch a 0\r\ndelete d\r\n", "TOUCHED\r\nNOT_FOUND\r\n");
            assertEquals("type=item_get key=a status=not_found clsid=0 size=0", line(watcher), "of the set");
            assertEquals("type=item_get key=a status=found clsid=1 size=3", line(watcher));
            assertEquals("type=item_get key=b%25 status=not_found clsid=0 size=0", line(watcher));
            assertEquals("type=item_get key=a status=found clsid=1 size=3", line(watcher));
            assertEquals("type=item_get key=c status=not_found clsid=0 size=0", line(watcher));
            assertEquals("type=item_get key=a status=found clsid=1 size=3", line(watcher), "of the touch");
            assertEquals("type=item_get key=d status=not_found clsid=0 size=0", line(watcher), "of the delete");
        }
    }

    /** As memcached 1.6.18 does: it looks before it changes an item, whatever protocol the command came by. */
    @Test
    void shouldShowTheSameOfBinaryRequests() throws IOException {
        try (RunningServer server = new RunningServer();
                RawMemcached watcher = watcher(server, " fetchers mutations");
                BinaryClient client = new BinaryClient(server.address())) {
            client.ask(BinaryClient.SET, BinaryClient.store(0, 0), "a", "5");
            client.ask(BinaryClient.INCREMENT, BinaryClient.count(1, 0, 0), "a", "");
            client.ask(BinaryClient.INCREMENT, BinaryClient.count(1, 7, 0), "n", "");
            client.ask(BinaryClient.DELETE, BinaryClient.NO_EXTRAS, "a", "");
            client.ask(BinaryClient.DELETE, BinaryClient.NO_EXTRAS, "a", "");
            assertEquals("type=item_get key=a status=not_found clsid=0 size=0", line(watcher));
            assertEquals("type=item_store key=a status=stored cmd=set ttl=0 clsid=1 size=1", line(watcher));
            assertEquals("type=item_get key=a status=found clsid=1 size=1", line(watcher), "of the increment");
            assertEquals("type=item_get key=n status=not_found clsid=0 size=0", line(watcher));
            assertEquals("type=item_get key=n status=not_found clsid=0 size=0", line(watcher), "before it is created");
            assertEquals("type=item_store key=n status=stored cmd=add ttl=0 clsid=1 size=1", line(watcher));
            assertEquals("type=item_get key=a status=found clsid=1 size=1", line(watcher), "of the delete");
            assertEquals("type=item_get key=a status=not_found clsid=0 size=0", line(watcher));
        }
    }

    @Test
    void shouldShowOnlyTheMissOfAnItemThatAGetCreates() throws IOException {
        try (RunningServer server = new RunningServer();
                RawMemcached watcher = watcher(server, " fetchers mutations");
                RawMemcached client = new RawMemcached(server.address())) {
            client.ask("mg v N30\r\nmg w\r\n", "HD W\r\nEN\r\n");
            assertEquals("type=item_get key=v status=not_found clsid=0 size=0", line(watcher));
            assertEquals("type=item_get key=w status=not_found clsid=0 size=0", line(watcher));
        }
    }

    @Test
    void shouldShowWhatIsStored() throws IOException {
        try (RunningServer server = new RunningServer(context -> context.items(items -> items.maxItemLength(2048)));
                RawMemcached watcher = watcher(server, " mutations");
                RawMemcached client = new RawMemcached(server.address())) {
            client.ask("set a 0 100 3\r\nabc\r\n", "STORED\r\n");
            client.ask("add a 0 0 1\r\nx\r\n", "NOT_STORED\r\n");
            client.ask("cas a 0 0 1 99999\r\nx\r\n", "EXISTS\r\n");
            client.ask("replace no 0 0 1\r\nx\r\n", "NOT_STORED\r\n");
            client.ask("ms a 1 MA\r\nx\r\n", "HD\r\n");
            client.ask("ma n N0\r\n", "HD\r\n");
            client.ask(
                    "set big 0 0 3000\r\n" + "x".repeat(3000) + "\r\n", "SERVER_ERROR object too large for cache\r\n");
            String first = line(watcher);
            assertTrue(first.matches("type=item_store key=a status=stored cmd=set ttl=(100|99) clsid=1 size=3"), first);
            assertEquals("type=item_store key=a status=not_stored cmd=add ttl=0 clsid=1 size=1", line(watcher));
            assertEquals("type=item_store key=a status=exists cmd=cas ttl=0 clsid=1 size=1", line(watcher));
            assertEquals("type=item_store key=no status=not_stored cmd=replace ttl=0 clsid=1 size=1", line(watcher));
            assertEquals("type=item_store key=a status=stored cmd=append ttl=0 clsid=1 size=1", line(watcher));
            assertEquals("type=item_store key=n status=stored cmd=add ttl=0 clsid=1 size=1", line(watcher));
            assertEquals("type=item_store key=big status=too_large cmd=set ttl=0 clsid=0 size=3000", line(watcher));
        }
    }

    @Test
    void shouldShowWhatIsEvicted() throws IOException {
        try (RunningServer server = new RunningServer(context -> context.items(items -> items.memoryLimit(2 << 20)));
                RawMemcached watcher = watcher(server, " evictions");
                RawMemcached client = new RawMemcached(server.address())) {
            String value = "x".repeat(ITEM_BYTES);
            for (int i = 0; i < 40; i++) {
                client.ask("set key" + i + " 0 1000 " + ITEM_BYTES + "\r\n" + value + "\r\n", "STORED\r\n");
            }
            String line = line(watcher);
            assertTrue(
                    line.matches("type=eviction key=key[0-9]+ fetch=no ttl=[0-9]+ la=[0-9]+ clsid=[0-9]+ size="
                            + ITEM_BYTES),
                    line);
        }
    }

    @Test
    void shouldShowWhoComesAndGoesAndWhy() throws IOException {
        try (RunningServer server = new RunningServer();
                RawMemcached watcher = watcher(server, " connevents")) {
            try (RawMemcached client = new RawMemcached(server.address())) {
                client.send("quit\r\n");
                assertEquals("type=conn_new rip=127.0.0.1 rport=N transport=tcp", line(watcher));
                assertEquals("type=conn_close rip=127.0.0.1 rport=N transport=tcp reason=normal", line(watcher));
            }
            try (RawMemcached client = new RawMemcached(server.address())) {
                client.send("GET / HTTP/1.1\r\n");
                assertEquals("type=conn_new rip=127.0.0.1 rport=N transport=tcp", line(watcher));
                assertEquals("type=conn_close rip=127.0.0.1 rport=N transport=tcp reason=error", line(watcher));
            }
        }
    }

    @Test
    void shouldNameOneConnectionByOneNumberAndHearNothingOfAWatcher() throws IOException {
        try (RunningServer server = new RunningServer();
                RawMemcached watcher = watcher(server, " fetchers connevents mutations");
                RawMemcached client = new RawMemcached(server.address())) {
            watcher.send("set a 0 0 1\r\nx\r\nget a\r\n"); // not heard
            client.ask("get a\r\n", "END\r\n");
            client.ask("set b 0 0 1\r\nx\r\n", "STORED\r\n");
            String first = watcher.readLine();
            String number = first.replaceFirst(".* cfd=([0-9]+).*", "$1");
            assertTrue(first.contains("type=conn_new"), first);
            assertTrue(watcher.readLine().contains("type=item_get key=a status=not_found clsid=0 cfd=" + number + " "));
            assertTrue(watcher.readLine().contains("type=item_get key=b status=not_found clsid=0 cfd=" + number + " "));
            assertTrue(watcher.readLine().contains("type=item_store key=b"));
        }
    }

    @Test
    void shouldDropWhatAWatcherSaysHoweverMuchItIs() throws Exception {
        try (RunningServer server = new RunningServer();
                RawMemcached watcher = watcher(server, " fetchers");
                RawMemcached client = new RawMemcached(server.address())) {
            String lines = "get a\r\n".repeat(150_000);
            FutureTask<Void> sending = new FutureTask<>(() -> {
                for (int i = 0; i < 64; i++) { // 64 MB in all: more than the buffers of two sockets take
                    watcher.send(lines);
                }
                return null;
            });
            Thread.ofPlatform().daemon().start(sending);
            sending.get(60, TimeUnit.SECONDS); // or the server reads no more
            assertTrue(statistic(client, "bytes_read") < 1_000_000, "the server has heard what the watcher sent");
            client.ask("get b\r\n", "END\r\n");
            assertTrue(watcher.readLine().contains("type=item_get key=b "));
        }
    }

    @Test
    void shouldSkipLinesOfAWatcherThatDoesNotReadAndSaySo() throws IOException {
        try (RunningServer server = new RunningServer(
                        context -> context.diagnosis(settings -> settings.withWatcherBufferBytes(4096)));
                RawMemcached watcher = watcher(server, " fetchers");
                RawMemcached client = new RawMemcached(server.address())) {
            String key = "k".repeat(250);
            String request = ("get " + key + "\r\n").repeat(1000);
            String answer = "END\r\n".repeat(1000);
            long skipped = 0;
            while (skipped == 0) {
                client.ask(request, answer);
                skipped = statistic(client, "log_watcher_skipped");
            }
            // Another line comes once there is room, and before it the watcher is told.
            List<String> lines = new ArrayList<>();
            while (lines.stream().noneMatch(line -> line.startsWith("skipped="))) {
                if (!watcher.hasInput()) {
                    client.ask("get last\r\n", "END\r\n");
                }
                lines.add(watcher.readLine());
                assertFalse(lines.getLast().contains("key=last "), "it was not told that it missed something");
            }
            assertTrue(lines.getLast().matches("skipped=[1-9][0-9]*"), lines.getLast());
            assertEquals(1, statistic(client, "log_watchers"));
        }
    }

    private static long statistic(RawMemcached client, String name) throws IOException {
        client.send("stats\r\n");
        long value = -1;
        for (String line = client.readLine(); !line.equals("END"); line = client.readLine()) {
            if (line.startsWith("STAT " + name + " ")) {
                value = Long.parseLong(line.split(" ", -1)[2]);
            }
        }
        return value;
    }

    @Test
    void shouldRefuseAWatchThatMayNotBe() throws IOException {
        try (RunningServer server = new RunningServer();
                RawMemcached client = new RawMemcached(server.address())) {
            client.send("version\r\nwatch\r\n");
            assertEquals("VERSION test-1", client.readLine());
            assertEquals("ERROR cannot pipeline other commands before watch", client.readLine());
            assertEquals("ERROR\r\n", client.ask("watch deletions\r\n", "ERROR\r\n"));
            List<RawMemcached> watchers = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                watchers.add(watcher(server, ""));
            }
            client.send("watch\r\n");
            assertEquals("WATCHER_TOO_MANY log watcher limit reached", client.readLine());
            for (RawMemcached each : watchers) {
                each.close();
            }
        }
        try (RunningServer server =
                        new RunningServer(context -> context.diagnosis(settings -> settings.withWatchAllowed(false)));
                RawMemcached client = new RawMemcached(server.address())) {
            client.send("watch\r\n");
            assertEquals("CLIENT_ERROR watch commands not allowed", client.readLine());
        }
    }
}
