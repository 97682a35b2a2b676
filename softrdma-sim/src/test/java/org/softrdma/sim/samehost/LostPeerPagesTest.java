package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairState;

/** Pages of a peer that the machine cannot bring cost the READs on the same host, and nothing else. */
@Timeout(2 * 60)
class LostPeerPagesTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    /** The compilers: none, and the one that inlines and moves most. An error comes later in compiled code. */
    private static final List<String> COMPILERS = List.of("-Xint", "-XX:-TieredCompilation -Xbatch");

    /** Every compiler with every page; in a sample, each compiler with one of them. */
    static Stream<Arguments> ways() {
        if (SAMPLE > 1) {
            return Stream.of(
                    Arguments.of(COMPILERS.getFirst(), "reads"), Arguments.of(COMPILERS.getLast(), "connection"));
        }
        return COMPILERS.stream()
                .flatMap(compiler -> Stream.of("regions", "connection", "directory", "reads")
                        .map(page -> Arguments.of(compiler, page)));
    }

    @Tag("sampled")
    @ParameterizedTest
    @MethodSource("ways")
    void shouldReadByTcpWhenPagesOfThePeerAreGone(String compiler, String page) {
        List<String> options = new ArrayList<>(List.of(compiler.split(" ", -1)));
        options.addAll(List.of("-XX:CompileCommand=quiet", "-Dtest.page=" + page));
        ChildJvm.Outcome child = ChildJvm.run(List.of(), options, Reader.class);
        assertEquals(0, child.exitCode(), child::toString);
        assertEquals(List.of("read 20, counted, ended"), child.lines());
    }

    /** The process: both sides. */
    static final class Reader {
        private static final int WARM_UP = 15_000;
        private static final int READS = 20;
        private static final int LENGTH = 64;

        private Reader() {}

        public static void main(String[] arguments) throws Exception {
            String page = System.getProperty("test.page", "");
            int warmUp = page.equals("reads")
                            || System.getProperty("java.vm.info", "").contains("interpreted")
                    ? READS
                    : WARM_UP;
            try (NearPair nodes = new NearPair()) {
                MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ);
                require(nodes, region, warmUp);
                if (nodes.near() == 0) {
                    throw new AssertionError("no READ on the same host");
                }
                long before = nodes.near();
                if (Descriptors.loseMappings("softrdma " + page) != 1) {
                    throw new AssertionError("not one mapping of " + page);
                }
                require(nodes, region, READS);
                if (!page.equals("reads") && nodes.near() != before) {
                    throw new AssertionError("read what is not there");
                }
                System.out.print("read " + READS);
                long ignored = nodes.server.counter("responderReads") + nodes.client.counter("sameHostReads");
                System.out.print(", counted");
                nodes.pair.close();
                TestDevice.await("the responder's end", () -> nodes.serverPair.state() == QueuePairState.ERROR);
                System.out.println(", ended");
            }
        }

        private static void require(NearPair nodes, MemoryRegion region, int reads) {
            for (int i = 0; i < reads; i++) {
                CompletionStatus status = nodes.read(region, 0, LENGTH);
                if (status != CompletionStatus.SUCCESS || nodes.got(LENGTH - 1) != 7) {
                    throw new AssertionError(i + ": " + status);
                }
            }
        }
    }
}
