package org.softrdma.stores.herd.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.herd.wire.HerdAnswersDescriptor;
import org.softrdma.stores.herd.wire.HerdForms;
import org.softrdma.stores.herd.wire.HerdRequestForm;
import org.softrdma.stores.herd.wire.HerdTestRequest;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.device.VerbsDevice;

/** Clients that lie about where their answers go: it costs them their connection, and nobody else anything. */
class RcWritePeerTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int TURNS = 100;
    private static final int SLOTS = 32;
    private static final int LENGTH = SLOTS * RcWriteChannel.answerLength(4096);

    /** Says what it is told to say, if anything. */
    private static final class Liar extends RcChannel {
        Liar(Connecting by, RemoteRegion answers, int length) {
            super(by, 1, HerdAnswersDescriptor.LENGTH);
            HerdAnswersDescriptor.put(messages(), secondAt(), answers);
            if (length > 0) {
                say(secondAt(), length);
            }
        }

        @Override
        public boolean isReliable() {
            return false;
        }

        @Override
        public boolean mayWriteAgain(int unanswered) {
            return false;
        }

        @Override
        protected boolean received(int receive, long length, HerdReplyHandler handler) {
            return false;
        }
    }

    /** What somebody does once. */
    private interface Deed {
        void of(RcChannel channel);
    }

    /** True if the connection of who says that, and then does that, ends; others do not notice. */
    private static boolean endsItsConnection(RemoteRegion answers, int length, Deed deed) {
        Fabric fabric = new Fabric(7, FabricSettings.DEFAULT);
        FabricNode serverNode = fabric.node("server");
        FabricNode good = fabric.node("good");
        FabricNode bad = fabric.node("bad");
        StoreDesign design = StoreDesigns.named("nessie-sd");
        boolean[] alive = {true};
        fabric.run(good, () -> {
            FabricStores.RunningServer server = FabricStores.serve(
                    fabric, serverNode, design, context -> context.options(Map.of("index", "6", "entries", "6")));
            StoreClientContext context = FabricStores.client(fabric, serverNode).conclude();
            try (VerbsDevice device = good.open(Map.of());
                    BlockingStore store = new BlockingStore(design.connect(device, context));
                    VerbsDevice badDevice = bad.open(Map.of());
                    ProtectionDomain domain = badDevice.allocateProtectionDomain();
                    RcChannel channel = new Liar(
                            new RcChannel.Connecting(
                                    badDevice,
                                    domain,
                                    context,
                                    new StoreCounters(),
                                    4711,
                                    context.servers().getFirst()),
                            answers,
                            length)) {
                assertTrue(store.put(KEY, new byte[8]));
                assertEquals(SLOTS, channel.welcome().shape().slots());
                deed.of(channel);
                for (int i = 0; i < TURNS && alive[0]; i++) {
                    alive[0] = channel.poll((memory, at, bytes) -> {});
                    fabric.scheduler().sleep(SECOND_NS / TURNS);
                }
                assertEquals(8, store.get(KEY).orElseThrow().length);
            }
            server.stop();
        });
        return !alive[0];
    }

    private static RemoteRegion region(long length) {
        return new RemoteRegion(4096, length, 0x1234_5678);
    }

    @Test
    void shouldEndTheConnectionOfWhoSaysSomethingElse() {
        assertTrue(endsItsConnection(region(LENGTH - 64), HerdAnswersDescriptor.LENGTH, channel -> {}), "too short");
        assertTrue(endsItsConnection(region(LENGTH), HerdAnswersDescriptor.LENGTH - 1, channel -> {}), "half of it");
        assertTrue(endsItsConnection(region(LENGTH), HerdAnswersDescriptor.LENGTH + 8, channel -> {}), "more");
        assertFalse(endsItsConnection(region(LENGTH), HerdAnswersDescriptor.LENGTH, channel -> {}), "a lie unseen");
    }

    /** The server's WRITE fails, and with it the connection. */
    @Test
    void shouldEndTheConnectionOfWhoHasNoSuchMemory() {
        assertTrue(endsItsConnection(region(LENGTH), HerdAnswersDescriptor.LENGTH, RcWritePeerTest::get));
    }

    /** Nobody else waits for it. */
    @Test
    void shouldLetRequestsWaitUntilTheClientHasToldWhereAnswersGo() {
        assertFalse(endsItsConnection(region(LENGTH), 0, RcWritePeerTest::get));
    }

    /** Where answers go is said once. */
    @Test
    void shouldEndTheConnectionOfWhoSaysMore() {
        assertTrue(endsItsConnection(
                region(LENGTH),
                HerdAnswersDescriptor.LENGTH,
                channel -> channel.say(channel.secondAt(), HerdAnswersDescriptor.LENGTH)));
    }

    /** A GET of "key", in the first slot of its worker. */
    private static void get(RcChannel channel) {
        HerdWelcome told = channel.welcome();
        HerdRequestForm form = HerdForms.of(Protocol.SAFE, told.maxKeyLength(), told.maxValueLength(), told.seed());
        HerdTestRequest any = HerdTestRequest.get(0, 1, 1);
        long hash = form.hash(any.memory(), any.keyAt(), any.keyLength());
        int slot = told.shape().firstSlot(told.shape().worker(hash));
        HerdTestRequest get = HerdTestRequest.get(slot, 1, 1);
        channel.write(
                slot, form.put(channel.slots(), channel.view(), told.shape().end(slot), get));
    }
}
