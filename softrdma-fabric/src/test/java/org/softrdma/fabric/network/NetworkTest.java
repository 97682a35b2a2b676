package org.softrdma.fabric.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.fabric.memory.GrainCopier;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.fabric.memory.RegisteredRanges;
import org.softrdma.fabric.memory.VirtualAddresses;
import org.softrdma.fabric.scheduler.Choices;
import org.softrdma.fabric.scheduler.Group;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.memory.MemoryOperations;

/** What sockets of the network do at their ends, as TCP does it. */
class NetworkTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int BYTES = 1000;
    private static final int SEEDS = 50;

    /** Two sockets that are connected, unless the client gives up before. */
    private static final class Pair {
        final Scheduler scheduler;
        final FabricSocket client;
        final MemorySegment memory = Arena.ofAuto().allocate(2 * BYTES);
        private final ArrayDeque<FabricSocket> accepted = new ArrayDeque<>();
        private final FabricAcceptor acceptor;

        Pair(Scheduler scheduler) throws IOException {
            this.scheduler = scheduler;
            Network network = new Network(
                    scheduler,
                    NetworkSettings.DEFAULT,
                    new GrainCopier(scheduler, new RegisteredRanges(scheduler, new VirtualAddresses()), Grains.NONE));
            InetAddress here = InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
            InetAddress there = InetAddress.getByAddress(new byte[] {10, 0, 0, 2});
            network.host(here);
            network.host(there);
            scheduler.add(network);
            OpenCount open = new OpenCount(0);
            InetSocketAddress address = new InetSocketAddress(there, 1);
            acceptor = network.listen(
                    there,
                    address,
                    new FabricAcceptor.Settings(
                            1,
                            pending -> accepted.add(((FabricAcceptor.Pending) pending).socket()),
                            open,
                            closed -> {}));
            client = network.connect(here, address, open);
        }

        FabricSocket server() {
            assertTrue(scheduler.until(acceptor::hasEvent, SECOND_NS), "no connection came");
            acceptor.raise();
            return accepted.remove();
        }

        void send(FabricSocket from) throws IOException {
            IoVectors vectors = new IoVectors(new MemoryOperations(), 1);
            vectors.set(0, memory.address(), BYTES);
            assertEquals(BYTES, from.gather(vectors, 0, 1));
        }

        int receiveToTheEnd(FabricSocket socket) throws IOException {
            int total = 0;
            int count = 0;
            while (count != StreamSocket.END_OF_STREAM) {
                total += count;
                count = socket.receive(memory.address() + BYTES, BYTES);
                scheduler.idle();
            }
            return total;
        }
    }

    private interface Body {
        void run(Pair pair) throws IOException;
    }

    private static void run(Body body) {
        for (long seed = 0; seed < SEEDS; seed++) {
            Scheduler scheduler = new Scheduler(new Choices(seed), Scheduler.Limits.DEFAULT);
            scheduler.run(new Group("node"), "main", () -> {
                try {
                    body.run(new Pair(scheduler));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldDeliverWhatWasSentBeforeAClose(boolean clientEndsToo) {
        run(pair -> {
            FabricSocket server = pair.server();
            assertTrue(pair.scheduler.until(() -> finished(pair.client), SECOND_NS));
            pair.send(server);
            server.close();
            if (clientEndsToo) {
                pair.client.shutdownOutput(); // its end finds a socket that is closed, which says nothing to that
            }

            assertEquals(BYTES, pair.receiveToTheEnd(pair.client));
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldResetWhatComesForNobody(boolean data) {
        run(pair -> {
            if (!data) {
                pair.client.close(); // it does not wait for the answer
            }
            FabricSocket server = pair.server();
            if (data) {
                assertTrue(pair.scheduler.until(() -> finished(pair.client), SECOND_NS));
                pair.client.close();
                pair.send(server);
            }

            assertTrue(pair.scheduler.until(() -> isReset(pair, server), SECOND_NS), "the server was not told");
        });
    }

    @Test
    void shouldNotCallForBytesThatNobodyTakesUntilTheResetArrives() {
        run(pair -> {
            FabricSocket server = pair.server();
            assertTrue(pair.scheduler.until(() -> finished(pair.client), SECOND_NS));
            pair.client.attach(_ -> {}, null);
            pair.client.raise();
            server.abort();
            IoVectors vectors = new IoVectors(new MemoryOperations(), 1);
            vectors.set(0, pair.memory.address(), BYTES);
            assertEquals(0, pair.client.gather(vectors, 0, 1));

            pair.client.awaitRoom();

            assertFalse(pair.client.hasEvent(), "it would try again without end");
            assertTrue(pair.scheduler.until(pair.client::hasEvent, SECOND_NS), "the reset is no event");
            assertThrows(IOException.class, () -> pair.client.gather(vectors, 0, 1));
        });
    }

    private static boolean finished(FabricSocket socket) {
        try {
            return socket.finishConnect();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isReset(Pair pair, FabricSocket socket) {
        try {
            socket.receive(pair.memory.address(), BYTES);
            return false;
        } catch (IOException e) {
            return true;
        }
    }
}
