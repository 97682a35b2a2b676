package org.softrdma.kv.server.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.kv.server.TestCertificate;
import org.softrdma.kv.server.host.InputBudget;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.server.tls.TlsPort;

/** TLS over a socket that gives and takes what a test says; the client is the JDK's. */
class TlsSocketTest {
    private static final long BUFFER_BYTES = 8 << 20;
    private static final int RECORD = 1 << 14;
    private static final int MOST_TURNS = 10_000;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    @TempDir
    private Path directory;

    private final UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(true);
    private final InputBudget budget = new InputBudget(BUFFER_BYTES);
    private final LoopBuffers buffers = new LoopBuffers(memory, budget, BUFFER_BYTES);
    private final ScriptedLoop loop = new ScriptedLoop();
    private final ScriptedSocket socket = loop.socket();
    private final List<ScriptedClient> clients = new ArrayList<>();
    private final StreamChannel channel = new StreamChannel(
            loop,
            buffers,
            made -> {
                ScriptedClient client = new ScriptedClient(made);
                clients.add(client);
                return client;
            },
            gone -> {});
    private final ScriptedClient server = clients.getFirst();

    private TestCertificate certificate;
    private TlsPort port;
    private SSLEngine client;
    private final ByteBuffer encrypted = ByteBuffer.allocate(1 << 20);
    private final StringBuilder received = new StringBuilder();
    private int delivered;

    @BeforeEach
    void connect() throws Exception {
        certificate = new TestCertificate(directory, "server");
        port = new TlsPort(TlsSettings.of(certificate.chain(), certificate.key()));
        client = certificate.clientOf(null).createSSLEngine();
        client.setUseClientMode(true);
        channel.adopt(() -> {}, port);
    }

    @AfterEach
    void everythingIsGivenBack() {
        channel.close();
        String ignored = loop.turn(false);
        buffers.close();
        assertEquals(0, memory.metric().usedDirectMemory());
    }

    /** Gives what the client sends to the socket. */
    private void send(String text) throws SSLException {
        ByteBuffer source = ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
        ByteBuffer out = ByteBuffer.allocate(1 << 20);
        do {
            client.wrap(source, out);
        } while (source.hasRemaining());
        comes(out.flip());
    }

    private void comes(ByteBuffer bytes) {
        if (bytes.hasRemaining()) {
            socket.comes(StandardCharsets.ISO_8859_1.decode(bytes).toString());
        }
    }

    /** Gives the client what the socket took. */
    private void deliver() throws SSLException {
        encrypted.put(socket.output().substring(delivered).getBytes(StandardCharsets.ISO_8859_1));
        delivered = socket.output().length();
        encrypted.flip();
        ByteBuffer plain = ByteBuffer.allocate(1 << 15);
        try {
            for (int before = -1; before != encrypted.position(); ) {
                before = encrypted.position();
                client.unwrap(encrypted, plain.clear());
                received.append(StandardCharsets.ISO_8859_1.decode(plain.flip()));
                runTasks();
            }
        } finally {
            encrypted.compact();
        }
    }

    private void runTasks() {
        for (Runnable task = client.getDelegatedTask(); task != null; task = client.getDelegatedTask()) {
            task.run();
        }
    }

    private void handshake() throws SSLException {
        client.beginHandshake();
        for (int turns = 0; client.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING; turns++) {
            assertTrue(turns < MOST_TURNS, () -> "the handshake does not end: " + client.getHandshakeStatus());
            while (client.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                ByteBuffer out = ByteBuffer.allocate(1 << 15);
                client.wrap(NOTHING, out);
                comes(out.flip());
                runTasks();
            }
            String ignored = loop.turn(true);
            deliver();
        }
    }

    @Test
    void shouldCountBytesAsSentWhenTheirRecordsAre() throws Exception {
        handshake();
        List<String> sent = new ArrayList<>();
        String answer = "0123456789".repeat(6_000);
        server.onInput = () -> {
            for (int i = 0; i < 3; i++) {
                server.write(answer);
            }
            channel.flush();
            channel.whenSent(() -> sent.add("all"));
        };
        socket.room = 0;
        send("request");
        for (int turns = 0; received.length() < 3 * answer.length(); turns++) {
            assertTrue(turns < MOST_TURNS, () -> received.length() + " of " + 3 * answer.length());
            assertEquals(List.of(), sent, "sent is what the client cannot have");
            assertTrue(turns == 0 || !channel.isSent());
            socket.room = 1_000;
            String ignored = loop.turn(true);
            deliver();
        }
        assertEquals(answer.repeat(3), received.toString());
        assertEquals(List.of("all"), sent);
        assertTrue(channel.isSent());
        assertEquals(0, channel.pendingBytes());
    }

    @Test
    void shouldHandOverAllRecordsThatOneEventTellsOf() throws Exception {
        handshake();
        int before = server.events.size();
        send("a".repeat(RECORD));
        send("b");
        send("c".repeat(2 * RECORD));
        String ignored = loop.turn(false);
        int length = server.events.subList(before, server.events.size()).stream()
                .filter(event -> event.startsWith("received "))
                .mapToInt(event -> Integer.parseInt(event.substring("received ".length())))
                .sum();
        assertEquals(3 * RECORD + 1, length);
    }

    @Test
    void shouldNotReceiveFromASocketThatHasGivenAll() throws Exception {
        handshake();
        int before = socket.idleReceives;
        send("request");
        String ignored = loop.turn(false);
        assertEquals("received 7", server.events.get(server.events.size() - 2));
        assertEquals(before, socket.idleReceives, "a system call for nothing");
    }

    @Test
    void shouldTellAClientOfAnOlderVersionAndCountIt() throws Exception {
        channel.close();
        port = new TlsPort(new TlsSettings(
                certificate.chain(), certificate.key(), null, TlsSettings.ClientCertificates.IGNORED, List.of(), true));
        StreamChannel newest = new StreamChannel(loop, buffers, ScriptedClient::new, gone -> {});
        newest.adopt(() -> {}, port);
        client.setEnabledProtocols(new String[] {"TLSv1.2"});
        SSLException told = assertThrows(SSLException.class, this::handshake);
        assertTrue(String.valueOf(told.getMessage()).contains("protocol_version"), told::toString);
        assertEquals(1, port.handshakeErrors());
        newest.close();
    }

    @Test
    void shouldEndAClientThatDoesNotSpeakTls() {
        socket.comes("get k\r\n");
        String calls = loop.turn(true);
        assertTrue(calls.contains("close"), calls);
        assertEquals(1, port.handshakeErrors());
    }

    @Test
    void shouldSayGoodbye() throws Exception {
        handshake();
        channel.close();
        deliver();
        assertTrue(client.isInboundDone(), "a client that hears no close_notify cannot tell the end from a cut");
        assertEquals(0, port.handshakeErrors());
    }
}
