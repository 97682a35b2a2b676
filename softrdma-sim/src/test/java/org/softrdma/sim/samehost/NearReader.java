package org.softrdma.sim.samehost;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.CompletionStatus;

/**
 * A process that reads what an owner shows, closes, swaps and overwrites. Arguments: port; address and rkey of the notice; rkey
 * of what is swapped; how many lives to read by itself. It says "READs near", or what is wrong, and then ends with 1.
 */
final class NearReader {
    private static final int READS_OF_A_LIFE = 20;
    private static final long DEADLINE_NS = TimeUnit.MINUTES.toNanos(4);

    private NearReader() {}

    public static void main(String[] arguments) {
        InetSocketAddress owner =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
        long noticeAddress = Long.parseLong(arguments[1]);
        int noticeKey = Integer.parseInt(arguments[2]);
        int swappedKey = Integer.parseInt(arguments[3]);
        long wanted = Long.parseLong(arguments[4]);
        long endNs = System.nanoTime() + DEADLINE_NS;
        long reads = 0;
        long lives = 0;
        try (NearClient client = new NearClient(owner, NearOwner.LENGTH)) {
            while (lives < wanted) {
                require(System.nanoTime() < endNs, "only " + lives + " lives in four minutes");
                long near = client.near();
                require(client.read(0, swappedKey) == CompletionStatus.SUCCESS, "what is swapped cannot be read");
                if (client.near() > near) { // by TCP it may come from memory that the key named before
                    require(client.uniform("swapped") > NearOwner.POISON, "swapped memory was read after its swap");
                }
                reads++;
                require(client.read(noticeAddress, noticeKey) == CompletionStatus.SUCCESS, "the notice cannot be read");
                NearOwner.Notice notice = NearOwner.Notice.of(client);
                if (notice == null) {
                    continue; // it was being written
                }
                CompletionStatus status = CompletionStatus.SUCCESS;
                for (int i = 0; i < READS_OF_A_LIFE && status == CompletionStatus.SUCCESS; i++) {
                    near = client.near();
                    status = client.read(notice.address(), notice.rkey());
                    if (status == CompletionStatus.SUCCESS) {
                        long value = client.uniform("life " + notice.value());
                        // A later life may have the same key.
                        require(value >= notice.value(), "life " + notice.value() + ": found " + value);
                        reads++;
                        lives += i == 0 && client.near() > near ? 1 : 0;
                    }
                }
                if (status != CompletionStatus.SUCCESS) {
                    client.reconnect();
                }
            }
            System.out.println(reads + " " + client.near());
        } catch (AssertionError | RuntimeException e) {
            System.out.println("WRONG " + e);
            System.exit(1);
        }
        System.exit(0);
    }

    private static void require(boolean right, String what) {
        if (!right) {
            throw new AssertionError(what);
        }
    }
}
