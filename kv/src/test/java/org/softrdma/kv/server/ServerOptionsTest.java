package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.memory.RegisteredChunks;
import org.softrdma.kv.server.session.DiagnosisSettings;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

class ServerOptionsTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldServeUnixSocket(PortSettings.Io io) throws IOException {
        shouldServeUnixSocket(io, directory.resolve("socket"));
    }

    /** As long as the kernel allows: 108 bytes with the zero at the end. */
    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldServeUnixSocketWhosePathIsLong(PortSettings.Io io) throws IOException {
        for (int length = 105; length <= 107; length++) {
            Path file =
                    directory.resolve("s".repeat(length - directory.toString().length() - 1));
            shouldServeUnixSocket(io, file);
        }
        Path tooLong = directory.resolve("s".repeat(107 - directory.toString().length()));
        UncheckedIOException failure = assertThrows(
                UncheckedIOException.class,
                () -> new RunningServer(
                        context -> context.unixSocket(tooLong, 0750).io(io)));
        assertTrue(String.valueOf(failure.getMessage()).contains("the kernel allows 107"), failure.getMessage());
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** Linux tells of the timer of each socket: 2 is that of keepalive (proc_net_tcp.txt). */
    @EnabledOnOs(OS.LINUX)
    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldNoticeIdleClientsWhoseHostIsGone(PortSettings.Io io) throws IOException {
        try (RunningServer running = new RunningServer(context -> context.io(io));
                RawMemcached client = new RawMemcached(running.address())) {
            client.ask("mn\r\n", "MN\r\n");
            String local = String.format(":%04X", running.address().getPort());
            List<String> timers = Stream.of("/proc/net/tcp", "/proc/net/tcp6")
                    .flatMap(ServerOptionsTest::lines)
                    .map(line -> line.strip().split("\\s+", -1))
                    .filter(fields -> fields[1].endsWith(local) && fields[3].equals("01"))
                    .map(fields -> fields[5].substring(0, 2))
                    .toList();
            assertEquals(List.of("02"), timers);
        }
    }

    private static Stream<String> lines(String file) {
        try {
            return Files.readAllLines(Path.of(file)).stream();
        } catch (IOException e) {
            return Stream.empty(); // no IPv6
        }
    }

    private void shouldServeUnixSocket(PortSettings.Io io, Path file) throws IOException {
        for (int life = 0; life < 2; life++) { // the second finds the file of the first
            try (RunningServer running = new RunningServer(
                            context -> context.unixSocket(file, 0750).io(io));
                    SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                Path link = Files.createSymbolicLink(directory.resolve("l"), file); // Java's own limit is lower
                client.connect(UnixDomainSocketAddress.of(link));
                Files.delete(link);
                UncheckedIOException failure = assertThrows(
                        UncheckedIOException.class,
                        () -> new RunningServer(
                                context -> context.unixSocket(file, 0750).io(io)));
                assertTrue(String.valueOf(failure.getMessage()).contains("another server"), failure.getMessage());
                assertThrows(IllegalStateException.class, running::address);
                assertEquals("rwxr-x---", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
                client.write(ByteBuffer.wrap("set k 0 0 1\r\nx\r\n".getBytes(StandardCharsets.US_ASCII)));
                ByteBuffer answer = ByteBuffer.allocate(8);
                while (answer.hasRemaining() && client.read(answer) >= 0) {
                    // reads on
                }
                assertEquals("STORED\r\n", new String(answer.array(), StandardCharsets.US_ASCII));
                client.write(ByteBuffer.wrap("stats conns\r\n".getBytes(StandardCharsets.US_ASCII)));
                String expected = "listen_addr unix:" + file + "\r\n";
                ByteBuffer connections = ByteBuffer.allocate(1000);
                String found = "";
                while (!found.endsWith("END\r\n") && client.read(connections) >= 0) {
                    found = new String(connections.array(), 0, connections.position(), StandardCharsets.US_ASCII);
                }
                assertTrue(found.contains(expected), found);
            }
        }
    }

    /** Whoever connects before the rights are set stays connected. */
    @Test
    void shouldGiveAUnixSocketItsRightsBeforeAnybodySeesIt() throws Exception {
        for (int life = 0; life < 30; life++) {
            Path file = directory.resolve("socket" + life);
            FutureTask<Set<PosixFilePermission>> first = new FutureTask<>(() -> {
                while (!Files.exists(file)) {
                    Thread.onSpinWait();
                }
                return Files.getPosixFilePermissions(file);
            });
            Thread.ofPlatform().daemon().start(first);
            try (RunningServer running = new RunningServer(context -> context.unixSocket(file, 0700))) {
                assertEquals("rwx------", PosixFilePermissions.toString(first.get()), running::toString);
            }
        }
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(List.of(), left.toList());
        }
    }

    @Test
    void shouldNotTakeTheSocketOfAnotherServerNorAFile() throws IOException {
        Path file = directory.resolve("socket");
        try (RunningServer running = new RunningServer(context -> context.unixSocket(file, 0700))) {
            assertTrue(running.server().rdmaAddress().getPort() > 0);
            UncheckedIOException failure = assertThrows(
                    UncheckedIOException.class, () -> new RunningServer(context -> context.unixSocket(file, 0700)));
            assertTrue(String.valueOf(failure.getMessage()).contains("another server"), failure.getMessage());
        }
        Path plain = Files.writeString(directory.resolve("file"), "precious");
        assertThrows(UncheckedIOException.class, () -> new RunningServer(context -> context.unixSocket(plain, 0700)));
        assertEquals("precious", Files.readString(plain));
    }

    @Test
    void shouldConnectQueuePairsOnTheLoopbackAddressOnlyWhenThereIsAUnixSocket() throws IOException {
        InetAddress all = InetAddress.getByName("0.0.0.0");
        Path file = directory.resolve("socket");
        assertTrue(concluded(new KvServerContext()).rdmaAddress().isAnyLocalAddress(), "as the TCP port");
        assertTrue(concluded(new KvServerContext().unixSocket(file, 0700))
                .rdmaAddress()
                .isLoopbackAddress());
        assertEquals(
                all,
                concluded(new KvServerContext().unixSocket(file, 0700).rdmaAddress(all))
                        .rdmaAddress());
        assertEquals(
                all,
                concluded(new KvServerContext().unixSocket(file, 0700).memcachedAddress(new InetSocketAddress(all, 0)))
                        .rdmaAddress(),
                "-l is its address too");
        assertEquals(
                InetAddress.getLoopbackAddress(),
                concluded(new KvServerContext()
                                .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))
                        .rdmaAddress());
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                KvServer server = KvServer.start(device, concluded(new KvServerContext().unixSocket(file, 0700)))) {
            assertTrue(server.rdmaAddress().getAddress().isLoopbackAddress(), server.rdmaAddress()::toString);
        }
    }

    private static List<String> rdmaAddresses(String... memcached) {
        List<InetSocketAddress> addresses = Stream.of(memcached)
                .map(each -> new InetSocketAddress(InetAddress.ofLiteral(each), 11211))
                .toList();
        return concluded(new KvServerContext().memcachedAddresses(addresses)).rdmaAddresses().stream()
                .map(InetAddress::getHostAddress)
                .toList();
    }

    @Test
    void shouldConnectQueuePairsAtEachAddressOnce() {
        assertEquals(List.of("127.0.0.1", "127.0.0.2"), rdmaAddresses("127.0.0.1", "127.0.0.2", "127.0.0.1"));
        assertEquals(List.of("0.0.0.0", "0:0:0:0:0:0:0:1"), rdmaAddresses("127.0.0.1", "0.0.0.0", "::1"));
        assertEquals(List.of("0:0:0:0:0:0:0:0"), rdmaAddresses("0.0.0.0", "::"));
        assertEquals(List.of("0:0:0:0:0:0:0:0"), rdmaAddresses("127.0.0.1", "::"));
    }

    private static KvServerContext concluded(KvServerContext context) {
        return context.conclude();
    }

    @Test
    void shouldRefuseFlushWhereItIsSwitchedOff() throws IOException {
        try (RunningServer running = new RunningServer(context -> context.flushAllowed(false));
                RawMemcached client = new RawMemcached(running.address())) {
            String expected = "CLIENT_ERROR flush_all not allowed\r\n";
            assertEquals(expected, client.ask("flush_all\r\n", expected));
        }
    }

    @Test
    void shouldStopOnShutdownWhereItIsSwitchedOn() throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        try (RunningServer running = new RunningServer(context -> context.shutdown(stopped::countDown));
                RawMemcached client = new RawMemcached(running.address())) {
            String expected = "CLIENT_ERROR invalid shutdown mode\r\n";
            assertEquals(expected, client.ask("shutdown now\r\n", expected));
            assertEquals(1, stopped.getCount());
            client.send("shutdown graceful\r\n");
            assertTrue(client.isClosedByServer());
            assertTrue(stopped.await(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldCloseIdleConnections() throws IOException {
        AtomicLong now = new AtomicLong(1_000_000);
        try (RunningServer running =
                        new RunningServer(context -> context.timeouts(timeouts -> timeouts.withIdleTimeoutSeconds(3))
                                .environment(around -> around.withClockSeconds(now::get)));
                RawMemcached client = new RawMemcached(running.address())) {
            assertEquals("MN\r\n", client.ask("mn\r\n", "MN\r\n"));
            now.addAndGet(4);
            assertTrue(client.isClosedByServer());
            assertFalse(running.server().counters().idleKicks.sum() == 0);
        }
    }

    @Test
    void shouldFlushLater() throws IOException {
        AtomicLong now = new AtomicLong(1_000_000);
        try (RunningServer running =
                        new RunningServer(context -> context.environment(around -> around.withClockSeconds(now::get)));
                RawMemcached client = new RawMemcached(running.address())) {
            assertEquals("STORED\r\nOK\r\n", client.ask("set k 0 0 1\r\nx\r\nflush_all 1\r\n", "STORED\r\nOK\r\n"));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (running.server().store().statistics().currentItems() > 0) {
                assertTrue(System.nanoTime() < deadline, "not flushed in 20 s");
                Thread.onSpinWait();
            }
            assertEquals("END\r\n", client.ask("get k\r\n", "END\r\n"));
        }
    }

    @Test
    void shouldShowWhatItCounts() throws IOException {
        try (RunningServer running = new RunningServer(context -> context.verbosity(1));
                RawMemcached client = new RawMemcached(running.address())) {
            client.ask("set k 0 0 1\r\n1\r\n", "STORED\r\n");
            client.ask("incr k 1\r\n", "2\r\n");
            client.ask("decr nope 1\r\n", "NOT_FOUND\r\n");
            client.ask("touch k 0\r\n", "TOUCHED\r\n");
            client.ask("get k\r\n", "VALUE k 0 1\r\n2\r\nEND\r\n");
            String general = stats(client, "stats");
            for (String line : new String[] {
                "cmd_set 1", "incr_hits 1", "decr_misses 1", "touch_hits 1", "get_hits 1", "curr_items 1", "evictions 0"
            }) {
                assertTrue(general.contains("STAT " + line + "\n"), line + " in " + general);
            }
            assertTrue(stats(client, "stats settings").contains("STAT verbosity 1\n"));
            assertTrue(stats(client, "stats items").contains(":number 1\n"));
            assertTrue(stats(client, "stats slabs").contains(":total_pages 1\n"));
            client.ask("stats reset\r\n", "RESET\r\n");
            assertTrue(stats(client, "stats").contains("STAT get_hits 0\n"));
            assertTrue(stats(client, "stats").contains("STAT curr_items 1\n"));
        }
    }

    @Test
    void shouldSayWhatItDoesNotOffer() throws IOException {
        String[][] conversations = {
            {"slabs reassign 1 2", "NOSPARE source class has no spare pages"},
            {"slabs reassign -1 2", "NOSPARE source class has no spare pages"},
            {"slabs reassign 2 2", "SAME src and dst class are identical"},
            {"slabs reassign 1 100", "BADCLASS invalid src or dst class id"},
            {"slabs reassign 1 x", "CLIENT_ERROR bad command line format"},
            {"slabs reassign 1", "ERROR"},
            {"slabs automove invalid", "CLIENT_ERROR bad command line format"},
            {"slabs automove 0", "OK"},
            {"slabs automove 1", "OK"},
            {"slabs automove 2", "OK"},
            {"slabs automove 3", "ERROR"},
            {"slabs automove ratio 0.5", "OK"},
            {"slabs automove ratio", "ERROR"},
            {"slabs automove", "ERROR"},
            {"slabs bogus 1", "ERROR"},
            {"extstore item_size 1", "CLIENT_ERROR extstore is not offered: clients READ items from memory"},
            {"debugtime 1", "ERROR"}
        };
        try (RunningServer running = new RunningServer();
                RawMemcached client = new RawMemcached(running.address())) {
            for (String[] each : conversations) {
                client.send(each[0] + "\r\n");
                assertEquals(each[1], client.readLine(), each[0]);
            }
        }
    }

    @Test
    void shouldKeepPagesWhereTheyAreIfTold() throws IOException {
        try (RunningServer running = new RunningServer(
                        context -> context.items(items -> items.balance(balance -> balance.allowed(false))));
                RawMemcached client = new RawMemcached(running.address())) {
            for (String command : List.of("slabs reassign 1 2", "slabs automove 1")) {
                client.send(command + "\r\n");
                assertEquals("CLIENT_ERROR slab reassignment disabled", client.readLine());
            }
            assertTrue(stats(client, "stats settings").contains("STAT slab_reassign no\n"));
        }
    }

    @Test
    void shouldRaiseTheMemoryLimit() throws IOException {
        try (RunningServer running = new RunningServer(context -> context.items(items -> items.memoryLimit(8 << 20)));
                RawMemcached client = new RawMemcached(running.address())) {
            String[][] conversations = {
                {"cache_memlimit 7", "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m"},
                {"cache_memlimit 999999999", "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes"},
                {"cache_memlimit x", "ERROR"},
                {"cache_memlimit", "ERROR"},
                {"cache_memlimit 16", "OK"}
            };
            for (String[] each : conversations) {
                client.send(each[0] + "\r\n");
                assertEquals(each[1], client.readLine(), each[0]);
            }
            assertTrue(stats(client, "stats settings").contains("STAT maxbytes " + (16 << 20) + "\n"));
            assertTrue(stats(client, "stats").contains("STAT limit_maxbytes " + (16 << 20) + "\n"));
        }
    }

    @Test
    void shouldCrawlWhenAskedUnlessSwitchedOff() throws IOException {
        AtomicLong now = new AtomicLong(1_000_000);
        try (RunningServer running =
                        new RunningServer(context -> context.environment(around -> around.withClockSeconds(now::get))
                                .items(items -> items.tailsReclaimed(false).crawling(false)));
                RawMemcached client = new RawMemcached(running.address())) {
            client.ask("set dying 0 10 1\r\n1\r\nset living 0 0 1\r\n1\r\n", "STORED\r\nSTORED\r\n");
            now.addAndGet(10);
            String disabled = "CLIENT_ERROR lru crawler disabled\r\n";
            assertEquals(disabled, client.ask("lru_crawler crawl all\r\n", disabled));
            assertTrue(stats(client, "stats settings").contains("STAT lru_crawler no\n"));
            assertEquals("OK\r\n", client.ask("lru_crawler enable\r\n", "OK\r\n"));
            assertTrue(stats(client, "stats settings").contains("STAT lru_crawler yes\n"));
            String badClass = "BADCLASS invalid class id\r\n";
            assertEquals(badClass, client.ask("lru_crawler crawl 64\r\n", badClass));
            assertEquals("OK\r\n", client.ask("lru_crawler crawl 1,2\r\n", "OK\r\n"));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!stats(client, "stats").contains("STAT lru_crawler_running 0\n")) {
                assertTrue(System.nanoTime() < deadline, "still crawling after 20 s");
            }
            assertTrue(stats(client, "stats").contains("STAT curr_items 1\n"));
            assertTrue(stats(client, "stats").contains("STAT crawler_reclaimed 1\n"));
        }
    }

    @Test
    void shouldLetOtherConnectionsHaveTheirTurn() throws IOException {
        try (RunningServer running = new RunningServer(context -> context.requestsPerTurn(1));
                RawMemcached client = new RawMemcached(running.address())) {
            String sets = "set k 0 0 1\r\n1\r\n".repeat(6) + "mg k v\r\n".repeat(6);
            String answers = "STORED\r\n".repeat(6) + "VA 1\r\n1\r\n".repeat(6);
            assertEquals(answers, client.ask(sets, answers));
            assertEquals("MN\r\n", client.ask("mn\r\n", "MN\r\n"));
            long yields = running.server().counters().yields.sum();
            assertTrue(yields >= 5, "yields=" + yields);
        }
    }

    @Test
    void shouldCountByPrefixWhileAskedTo() throws IOException {
        try (RunningServer running = new RunningServer();
                RawMemcached client = new RawMemcached(running.address())) {
            client.ask("set a:1 0 0 1\r\n1\r\n", "STORED\r\n");
            assertEquals("OK\r\n", client.ask("stats detail on\r\n", "OK\r\n"));
            client.ask("set a:1 0 0 1\r\n1\r\nset plain 0 0 1\r\n1\r\n", "STORED\r\nSTORED\r\n");
            client.ask("delete b:1\r\n", "NOT_FOUND\r\n");
            client.ask("get a:1 a:2\r\n", "VALUE a:1 0 1\r\n1\r\nEND\r\n");
            assertEquals("OK\r\n", client.ask("stats detail off\r\n", "OK\r\n"));
            client.ask("get a:1\r\n", "VALUE a:1 0 1\r\n1\r\nEND\r\n");
            String dump = "PREFIX a get 2 hit 1 set 1 del 0\r\nPREFIX b get 0 hit 0 set 0 del 1\r\nEND\r\n";
            assertEquals(dump, client.ask("stats detail dump\r\n", dump));
            String usage = "CLIENT_ERROR usage: stats detail on|off|dump\r\n";
            assertEquals(usage, client.ask("stats detail\r\n", usage));
            client.ask("stats reset\r\n", "RESET\r\n");
            assertEquals("END\r\n", client.ask("stats detail dump\r\n", "END\r\n"));
        }
    }

    @Test
    void shouldListConnectionsWithWhatTheyDo() throws IOException {
        AtomicLong now = new AtomicLong(1_000_000);
        try (RunningServer running =
                        new RunningServer(context -> context.environment(around -> around.withClockSeconds(now::get)));
                RawMemcached sending = new RawMemcached(running.address());
                RawMemcached client = new RawMemcached(running.address())) {
            assertEquals("MN\r\n", sending.ask("mn\r\nset k 0 0 6\r\n", "MN\r\n"));
            now.addAndGet(5);
            String conns = stats(client, "stats conns");
            String address = "tcp:127.0.0.1:" + running.address().getPort();
            assertTrue(conns.startsWith("STAT 0:addr " + address + "\nSTAT 0:state conn_listening\n"), conns);
            assertTrue(conns.contains(":listen_addr " + address + "\n"), conns);
            assertTrue(conns.contains(":state conn_nread\n"), conns);
            assertTrue(conns.contains(":state conn_parse_cmd\n"), conns);
            assertTrue(conns.contains(":secs_since_last_cmd 5\n"), conns);
            assertTrue(conns.contains(":secs_since_last_cmd 0\n"), conns);
        }
    }

    @Test
    void shouldLetInOnlyWhoKnowsAPassword() throws IOException {
        Path file = Files.writeString(directory.resolve("users"), "foo:bar\nbaaaz:quux\n");
        Passwords passwords = Passwords.read(file);
        try (RunningServer running = new RunningServer(context -> context.passwords(passwords));
                RawMemcached client = new RawMemcached(running.address())) {
            String unauthenticated = "CLIENT_ERROR unauthenticated\r\n";
            String failure = "CLIENT_ERROR authentication failure\r\n";
            for (String refused : new String[] {"get k", "version", "bogus", "rdma hello 2", "set k 0 0"}) {
                assertEquals(unauthenticated, client.ask(refused + "\r\n", unauthenticated), refused);
            }
            for (String wrong : new String[] {"foo ba", "foo barr", "foo:bar", "foo quux", "", "x".repeat(5000)}) {
                String attempt = "set k 0 0 " + wrong.length() + "\r\n" + wrong + "\r\n";
                assertEquals(failure, client.ask(attempt, failure), wrong);
            }
            assertEquals("STORED\r\n", client.ask("set any 0 0 10\r\nbaaaz quux\r\n", "STORED\r\n"));
            assertEquals("END\r\n", client.ask("get any\r\n", "END\r\n"), "a login is not an item");
            String general = stats(client, "stats");
            assertTrue(general.contains("STAT auth_cmds 7\n"), general);
            assertTrue(general.contains("STAT auth_errors 6\n"), general);
        }
    }

    @Test
    void shouldNameTheLineOfAPasswordFileThatIsWrong() throws IOException {
        for (String text : new String[] {"", "foo:bar\nbaz\n", ":x\n", "a b:c\n"}) {
            Path file = Files.writeString(directory.resolve("users"), text);
            IOException failure = assertThrows(IOException.class, () -> Passwords.read(file));
            assertTrue(String.valueOf(failure.getMessage()).contains("user:password"), failure.getMessage());
        }
    }

    @Test
    void shouldMoveTheClockWhereItMay() throws IOException {
        AtomicLong now = new AtomicLong(1_000_000);
        try (RunningServer running =
                        new RunningServer(context -> context.environment(around -> around.withClockSeconds(now::get))
                                .moveClock(now::addAndGet));
                RawMemcached client = new RawMemcached(running.address())) {
            client.ask("set k 0 10 1\r\n1\r\n", "STORED\r\n");
            assertEquals("OK\r\n", client.ask("debugtime 10\r\n", "OK\r\n"));
            assertEquals("END\r\n", client.ask("get k\r\n", "END\r\n"));
            assertEquals("ERROR\r\n", client.ask("debugtime soon\r\n", "ERROR\r\n"));
        }
    }

    @Test
    void shouldRefuseSettingsWhenTheyAreMade() {
        List<Executable> wrong = List.of(
                () -> ServerTimeouts.DEFAULT.withIdleTimeoutSeconds(-1),
                () -> ServerTimeouts.DEFAULT.withAnswerTimeoutNs(999_999),
                () -> ServerTimeouts.DEFAULT.withHelloTimeoutNs(0),
                () -> DiagnosisSettings.DEFAULT.withWatcherBufferBytes(1023));
        List<String> messages = wrong.stream()
                .map(each -> String.valueOf(
                        assertThrows(IllegalArgumentException.class, each).getMessage()))
                .toList();
        assertEquals(
                List.of(
                        "idleTimeoutSeconds=-1: expected 0 to 2147483647",
                        "answerTimeoutNs=999999: expected 1000000 to 9223372036854775807",
                        "helloTimeoutNs=0: expected 1000000 to 9223372036854775807",
                        "watcherBufferBytes=1023: expected at least 1024"),
                messages);
    }

    private static String stats(RawMemcached client, String command) throws IOException {
        client.send(command + "\r\n");
        StringBuilder lines = new StringBuilder();
        for (String line = client.readLine(); !line.equals("END"); line = client.readLine()) {
            lines.append(line).append('\n');
        }
        return lines.toString();
    }

    @Test
    void shouldRefuseToRegisterChunksOnDeviceThatCannotDoIt() {
        for (Feature missing : new Feature[] {Feature.ZERO_BASED, Feature.REGION_SWAP}) {
            Set<Feature> features =
                    missing == Feature.ZERO_BASED ? Set.of(Feature.REGION_SWAP) : Set.of(Feature.ZERO_BASED);
            IllegalArgumentException e = assertThrows(
                    IllegalArgumentException.class,
                    () -> new RegisteredChunks(
                            device(features, 1 << 20),
                            mock(ProtectionDomain.class),
                            new MemorySource.Anonymous(),
                            new SlabGeometry(1.25, 48, 1 << 20),
                            1024));
            assertEquals(
                    "registration chunk needs the feature " + missing
                            + ", which device card does not have; use registration arena",
                    e.getMessage());
        }
        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class,
                () -> new RegisteredChunks(
                        device(Set.of(Feature.ZERO_BASED, Feature.REGION_SWAP), 1000),
                        mock(ProtectionDomain.class),
                        new MemorySource.Anonymous(),
                        new SlabGeometry(1.25, 48, 1 << 20),
                        1024));
        assertTrue(String.valueOf(e.getMessage()).contains("more memory regions than the 1000 of device card"));
    }

    private static VerbsDevice device(Set<Feature> features, int regions) {
        VerbsDevice device = mock(VerbsDevice.class);
        when(device.name()).thenReturn("card");
        when(device.capabilities())
                .thenReturn(Capabilities.builder("test", "none")
                        .maxMemoryRegions(regions)
                        .maxRegionLength(1 << 20)
                        .maxMessageLength(1 << 20)
                        .features(features)
                        .build());
        return device;
    }
}
