package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.peer.ChildJvm;

/** What reads a mapped file that was truncated fails where it does so, however the code around it was compiled. */
class LostPageTest {
    /** The compilers: none, the quick one, the one that inlines and moves most. All but the first wait for it. */
    @ParameterizedTest
    @CsvSource({
        "-Xint,copy",
        "-XX:TieredStopAtLevel=1 -Xbatch,copy",
        "-XX:-TieredCompilation -Xbatch,copy",
        "-XX:-TieredCompilation -Xbatch,polled",
        "-XX:-TieredCompilation -Xbatch,touch"
    })
    void shouldThrowBeforeItReturns(String compiler, String way, @TempDir Path directory) {
        List<String> options = new ArrayList<>(List.of(compiler.split(" ", -1)));
        options.addAll(List.of(
                "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=dontinline," + Copier.class.getName() + "::copied",
                "-D" + Copier.WAY + "=" + way,
                "-D" + Copier.MAPPED + "=" + directory.resolve("mapped")));
        ChildJvm.Outcome child = ChildJvm.run(List.of(), options, Copier.class);
        assertEquals(0, child.exitCode(), child::toString);
        assertEquals(List.of("caught 80 of 80"), child.lines());
    }

    /** The process: copies from a mapped file, before and after it is truncated. */
    static final class Copier {
        private static final String MAPPED = "test.mapped";
        private static final String WAY = "test.way";
        private static final int BYTES = 1 << 14;
        private static final int WARM_UP = 20_000;
        private static final int TRIES = 20;
        private static final int MOST_TOUCHED = 2048;
        private static final int[] LENGTHS = {8, 100, 4000, BYTES};

        private final MemoryOperations operations = new MemoryOperations();
        private final String way = System.getProperty(WAY, "copy");
        private int step;
        /** Consumes the bytes that were read, so that the JIT keeps the loads. */
        int touched;

        private Copier() {}

        public static void main(String[] arguments) throws IOException {
            Copier copier = new Copier();
            int caught = 0;
            for (int length : LENGTHS) {
                caught += copier.run(Path.of(System.getProperty(MAPPED) + length), length);
            }
            System.out.println("caught " + caught + " of " + LENGTHS.length * TRIES);
        }

        /** As the engine does: copies, goes on with what was copied, and catches what fails. */
        private boolean copied(long source, long target, int length) {
            try {
                step = 1;
                switch (way) {
                    case "polled" -> operations.copyFromPolled(source, target, length);
                    case "touch" -> touched += operations.touch(source, Math.min(length, MOST_TOUCHED));
                    default -> operations.copy(source, target, length);
                }
                step = 2;
                return true;
            } catch (InternalError e) {
                return false;
            }
        }

        private int run(Path path, int length) throws IOException {
            try (Arena arena = Arena.ofShared();
                    FileChannel file = FileChannel.open(
                            path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                int ignored = file.write(ByteBuffer.allocate(BYTES), 0);
                MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
                MemorySegment target = arena.allocate(BYTES);
                for (int i = 0; i < WARM_UP; i++) {
                    if (!copied(mapped.address(), target.address(), length)) {
                        throw new AssertionError("a copy failed while the file was whole");
                    }
                }
                file.truncate(0);
                int caught = 0;
                for (int i = 0; i < TRIES; i++) {
                    if (!copied(mapped.address(), target.address(), length) && step == 1) {
                        caught++;
                    }
                }
                return caught;
            }
        }
    }
}
