package org.softrdma.net.transport;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds out whether this process may open some descriptors more. Stateless; any thread. */
final class SpareDescriptors {
    /** Always there where descriptors matter here. */
    private static final String NOTHING = "/dev/null";

    private SpareDescriptors() {}

    /**
     * Refuses if there are fewer.
     *
     * @param count how many
     * @throws IOException if it cannot open so many
     */
    static void require(int count) throws IOException {
        if (!Files.exists(Path.of(NOTHING))) {
            return;
        }
        List<FileInputStream> opened = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                opened.add(new FileInputStream(NOTHING));
            }
        } finally {
            for (FileInputStream each : opened) {
                each.close();
            }
        }
    }
}
