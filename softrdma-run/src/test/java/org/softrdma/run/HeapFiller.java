package org.softrdma.run;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Fills the heap of this process for a moment, each time a byte comes by a pipe, down to the last object. */
final class HeapFiller {
    /** How often there was no room before it is given back. */
    private static final int REFUSALS = 5;

    private static final int LARGEST = 1 << 20;
    private static final int SMALLEST = 16;
    private static final byte[] FULL = "the heap is full\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] FREE = "the heap is free\n".getBytes(StandardCharsets.US_ASCII);

    private HeapFiller() {}

    /** Begins to listen. */
    static void start(String pipe) {
        Thread.ofPlatform().daemon().name("heap filler").start(() -> fill(pipe));
    }

    private static void fill(String pipe) {
        try (FileInputStream bytes = new FileInputStream(pipe);
                FileOutputStream said = new FileOutputStream(FileDescriptor.out)) {
            while (bytes.read() >= 0) {
                fill(said);
                said.write(FREE);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void fill(FileOutputStream said) throws IOException {
        @Nullable Object[] last = new Object[2];
        int refusals = 0;
        int length = LARGEST;
        while (refusals < REFUSALS) {
            try {
                last = new Object[] {last, new byte[length]};
            } catch (OutOfMemoryError e) {
                if (length > SMALLEST) {
                    length /= 16;
                } else if (refusals++ == 0) {
                    said.write(FULL);
                }
            }
        }
        last[0] = null;
    }
}
