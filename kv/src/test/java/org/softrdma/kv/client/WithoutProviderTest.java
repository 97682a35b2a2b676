package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.verbs.device.VerbsProvider;

/** A client without a device: stock memcached, and a class path with no verbs provider on it. */
class WithoutProviderTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = "value".getBytes(StandardCharsets.US_ASCII);

    @Test
    void shouldUseStockMemcachedWhereNoProviderIsOnTheClassPath() throws Exception {
        try (MemcachedProcess memcached = new MemcachedProcess()) {
            Process program = new ProcessBuilder(
                            System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                            "-cp",
                            classPath(
                                    KvClient.class,
                                    VerbsProvider.class,
                                    NanoClock.class,
                                    Logger.class,
                                    WithoutProviderTest.class),
                            Program.class.getName(),
                            Integer.toString(memcached.address().getPort()))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try {
                String output = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertEquals(0, program.waitFor(), output);
                assertEquals("0 providers, PLAIN, value, value", output.strip());
            } finally {
                program.destroyForcibly();
            }
        }
    }

    @Test
    void shouldSayWhyItDoesNotReadFromAServerThatCould() {
        try (RunningServer running = new RunningServer()) {
            KvClientContext context = new KvClientContext(running.server().memcachedAddress()).conclude();
            try (KvClient client = KvClient.connect(context)) {
                assertEquals(KvProtocol.PLAIN, client.protocol());
                assertTrue(client.plainReason().endsWith("this client has no device"), client::plainReason);
                assertEquals(SetStatus.STORED, client.set(KEY, 0, 0, VALUE));
                assertEquals(
                        "value",
                        client.get(KEY)
                                .map(found -> new String(found.value(), StandardCharsets.US_ASCII))
                                .orElse(""));
                assertEquals(0, client.counters().reads());
            }
        }
    }

    @Test
    void shouldRefuseToReadWithoutADevice() {
        InetSocketAddress anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        KvClientContext context =
                new KvClientContext(anywhere).protocol(KvProtocol.RDMA).conclude();
        assertThrows(IllegalArgumentException.class, () -> KvClient.connect(context));
    }

    private static String classPath(Class<?>... needed) {
        return Stream.of(needed).map(WithoutProviderTest::origin).collect(Collectors.joining(File.pathSeparator));
    }

    private static String origin(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What a user writes. */
    static final class Program {
        private Program() {}

        public static void main(String[] args) throws IOException {
            InetSocketAddress server =
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
            long providers = ServiceLoader.load(VerbsProvider.class).stream().count();
            try (KvClient client = KvClient.connect(server);
                    SharedKvClient shared = SharedKvClient.connect(server)) {
                client.set(KEY, 0, 0, VALUE);
                String line = providers + " providers, " + client.protocol() + ", " + text(client.get(KEY)) + ", "
                        + text(shared.get(KEY));
                System.out.write(TextProtocol.line(line));
                System.out.flush();
            }
        }

        private static String text(Optional<KvItem> item) {
            return item.map(found -> new String(found.value(), StandardCharsets.US_ASCII))
                    .orElse("none");
        }
    }
}
