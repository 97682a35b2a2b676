package org.softrdma.kv.server.stream;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.server.host.PortSettings;

/**
 * Values of 1 KB to 4 MB, sent at once behind a few short requests, while other clients keep the port's thread busy: part of
 * a value comes while the port still receives ahead, and the rest while it does not.
 */
class UploadsUnderLoadTest {
    private static final int SHORTEST = 1 << 10;
    private static final int SPAN_BITS = 12;
    private static final int SHORT_REQUESTS = 6;
    private static final int UPLOADS = Integer.getInteger("softrdma.sample", 1) == 1 ? 40 : 12;
    private static final int MANY_UPLOADS = Boolean.getBoolean("softrdma.slow.short") ? 200 : 2000;
    private static final int CLIENTS = 2;
    private static final long SEED = Long.getLong("softrdma.seed", 34);

    @Tag("sampled")
    @ParameterizedTest
    @EnumSource(names = "AUTO", mode = EnumSource.Mode.EXCLUDE)
    void shouldAnswerAnUploadWhileOthersAreBusy(PortSettings.Io io) throws IOException {
        upload(io, 1, UPLOADS);
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(names = "AUTO", mode = EnumSource.Mode.EXCLUDE)
    void shouldAnswerManyUploadsWhileOthersAreBusy(PortSettings.Io io) throws IOException {
        upload(io, 1, MANY_UPLOADS / 2);
        upload(io, 4, MANY_UPLOADS - MANY_UPLOADS / 2);
    }

    private static void upload(PortSettings.Io io, int threads, int uploads) throws IOException {
        Random random = new Random(SEED);
        try (LoadedServer server = new LoadedServer(io, threads, CLIENTS)) {
            for (int i = 0; i < uploads; i++) {
                int bits = random.nextInt(SPAN_BITS);
                int length = (SHORTEST << bits) + random.nextInt(SHORTEST << bits);
                try {
                    upload(server, random, length);
                } catch (AssertionError e) {
                    throw new AssertionError(
                            "upload " + i + " of " + length + " bytes, softrdma.seed=" + SEED + ": " + e.getMessage(),
                            e);
                }
            }
        }
    }

    private static void upload(LoadedServer server, Random random, int length) throws IOException {
        byte[] value = new byte[length];
        random.nextBytes(value);
        try (LoadedServer.Client client = new LoadedServer.Client(server.address())) {
            for (int i = 0; i < SHORT_REQUESTS; i++) {
                client.send("get nothing\r\n");
                client.expect("END\r\n");
            }
            client.send(request("set big 0 0 " + length + "\r\n", value, ""));
            client.expect("STORED\r\n");
            client.send("get big\r\n");
            client.expect(request("VALUE big 0 " + length + "\r\n", value, "END\r\n"));
        }
    }

    private static byte[] request(String head, byte[] value, String tail) {
        byte[] before = head.getBytes(StandardCharsets.US_ASCII);
        byte[] behind = ("\r\n" + tail).getBytes(StandardCharsets.US_ASCII);
        byte[] all = new byte[before.length + value.length + behind.length];
        System.arraycopy(before, 0, all, 0, before.length);
        System.arraycopy(value, 0, all, before.length, value.length);
        System.arraycopy(behind, 0, all, before.length + value.length, behind.length);
        return all;
    }
}
