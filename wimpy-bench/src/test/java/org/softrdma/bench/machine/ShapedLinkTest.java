package org.softrdma.bench.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** As root on Linux with iproute2; bash is the peer at the far end. Only least times are asserted. */
class ShapedLinkTest {
    private static final int TIMEOUT_MS = 60_000;
    private static final int BYTES = 400_000;
    /** 1 MB/s. */
    private static final int MEGABITS = 8;
    /** What is left of the bytes once the bucket is empty, 128 KiB, takes this long; some tolerance for its beginning. */
    private static final long LEAST_NS = 200_000_000;

    private static ShapedLink link() {
        ShapedLink.Found found = ShapedLink.find(MEGABITS);
        return found.link().orElseGet(() -> abort(found.problem()));
    }

    /** The address of this end: the one before the far end's. */
    private static String near(ShapedLink link) {
        byte[] address = link.address().getAddress();
        return "198.18." + (address[2] & 0xFF) + "." + ((address[3] & 0xFF) - 1);
    }

    /** Connects from the far end and runs a command there, with the connection as descriptor 3. */
    private static Child connect(ShapedLink link, ServerSocket listener, String command) throws IOException {
        List<String> words = new ArrayList<>(link.prefix());
        words.addAll(List.of(
                "bash", "-c", "exec 3<>/dev/tcp/" + near(link) + "/" + listener.getLocalPort() + "; " + command));
        return Child.start("far end", words);
    }

    private static ServerSocket listener(ShapedLink link) throws IOException {
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.getByName(near(link)));
        listener.setSoTimeout(TIMEOUT_MS);
        return listener;
    }

    @Test
    void shouldLimitWhatTheFarEndSends() throws IOException {
        try (ShapedLink link = link();
                ServerSocket listener = listener(link)) {
            long start =
                    System.nanoTime(); // before it sends, or what has come before this thread looks would be missed
            try (Child far = connect(link, listener, "head -c " + BYTES + " /dev/zero >&3");
                    Socket socket = listener.accept()) {
                assertEquals(link.address(), socket.getInetAddress());
                assertTrue(far.pid() > 0);
                InputStream in = socket.getInputStream();
                assertEquals(BYTES, in.readNBytes(BYTES).length);
                long tookNs = System.nanoTime() - start;
                assertTrue(tookNs > LEAST_NS, () -> BYTES + " bytes took only " + tookNs + " ns");
            }
        }
    }

    @Test
    void shouldLimitWhatTheNearEndSends() throws IOException {
        try (ShapedLink link = link();
                ServerSocket listener = listener(link)) {
            link.limit(MEGABITS + 1);
            try (Child far = connect(link, listener, "head -c " + BYTES + " <&3 >/dev/null; echo done >&3");
                    Socket socket = listener.accept()) {
                assertTrue(far.pid() > 0);
                OutputStream out = socket.getOutputStream();
                long start = System.nanoTime();
                out.write(new byte[BYTES]);
                assertEquals('d', socket.getInputStream().read());
                long tookNs = System.nanoTime() - start;
                assertTrue(tookNs > LEAST_NS, () -> BYTES + " bytes took only " + tookNs + " ns");
            }
        }
    }

    @Test
    void shouldLeaveNothingBehind() throws IOException {
        String name;
        try (ShapedLink link = link()) {
            name = link.prefix().getLast();
            assertTrue(Files.exists(Path.of("/run/netns", name)));
            assertTrue(Files.exists(Path.of("/sys/class/net", name)));
        }
        assertFalse(Files.exists(Path.of("/run/netns", name)));
        assertFalse(Files.exists(Path.of("/sys/class/net", name)));
        link().close(); // the name is free again
    }

    /** tc(8) itself takes a rate below 0, and then limits nothing. */
    @Test
    void shouldRefuseARateBelow1() throws IOException {
        try (ShapedLink link = link()) {
            assertThrows(IllegalArgumentException.class, () -> link.limit(-1));
        }
    }
}
