package org.softrdma.cli.kv;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.softrdma.kv.client.cluster.KvCluster;
import picocli.CommandLine.Parameters;

/** A command about one key. */
abstract class KeyAction extends KvAction {
    /** Stands for the standard input or output where a file is expected. */
    static final String STANDARD_STREAM = "-";

    @Parameters(index = "0", paramLabel = "KEY", description = "Key: 1 to 250 bytes, no whitespace.")
    String key = "";

    KeyAction() {}

    @Override
    int run(KvCluster cluster) throws IOException {
        return run(cluster.client(cluster.server(key())));
    }

    byte[] key() {
        return utf8(key);
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
