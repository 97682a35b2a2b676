package org.softrdma.run.rdmacm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.softrdma.run.card.Card;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.card.EventWriter;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ScriptedKernel;

/**
 * A program in this process that writes to rdma_cm what librdmacm writes. Offsets are those of rdma_user_cm.h, written out.
 */
final class ScriptedManager implements AutoCloseable {
    static final int DONE = 0;
    static final int TCP = 0x0106;
    static final int UDP = 0x0111;
    static final int NON_BLOCKING = 04000;
    static final InetAddress HERE = InetAddress.ofLiteral("127.0.0.1");
    static final int ANSWER = 1024;
    static final int EVENT = 2048;

    private static final int ROOM = 336;

    final ScriptedKernel kernel = new ScriptedKernel();
    final Card card;
    final RdmaCmDevice device;

    /** With no channel yet. */
    ScriptedManager() {
        this(List.of(HERE));
    }

    /** At some addresses. */
    ScriptedManager(List<InetAddress> addresses) {
        this(addresses, CardSettings.usual());
    }

    /** Beside a card of one's own. */
    ScriptedManager(List<InetAddress> addresses, CardSettings settings) {
        RxeDevice rxe = RxeDevice.of(
                addresses.stream().map(each -> new GidEntry(each, "lo")).toList(), 65_536);
        card = new Card(rxe, kernel.listener(), settings);
        device = new RdmaCmDevice(
                kernel, DescriptorRange.below(1024), rxe, card, new EventWriter(Architecture.X86_64), Arena.ofAuto());
        kernel.statusFlags = NON_BLOCKING;
    }

    /** Opens a channel; its descriptor. */
    int channel() throws CallRefusedException {
        device.open(kernel.call(LinuxCall.OPENAT), true, false);
        return Integer.parseInt(kernel.answers.getLast().split(" ", -1)[2]);
    }

    // ---- commands

    /** Writes a command; returns the errno, or {@link #DONE}. */
    int command(int channel, int number, int room, int length, Consumer<MemorySegment> fill) {
        MemorySegment page = kernel.memory();
        page.asSlice(0, ANSWER).fill((byte) 0);
        page.set(ValueLayout.JAVA_INT, 0, number);
        page.set(ValueLayout.JAVA_SHORT, 4, (short) length);
        page.set(ValueLayout.JAVA_SHORT, 6, (short) room);
        fill.accept(page.asSlice(8));
        return write(channel, 8 + length);
    }

    /** Writes what is in the page. */
    int write(int channel, int bytes) {
        try {
            assertTrue(device.answer(call(channel, bytes)));
            return DONE;
        } catch (CallRefusedException e) {
            return e.errno();
        }
    }

    Notification call(int channel, int bytes) {
        return kernel.call(LinuxCall.WRITE, channel, ScriptedKernel.MEMORY, bytes);
    }

    static void set(MemorySegment to, int offset, int value) {
        to.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value);
    }

    static void answerAt(MemorySegment to, int offset, int place) {
        to.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, ScriptedKernel.MEMORY + place);
    }

    int answer(int offset) {
        return kernel.memory().get(ValueLayout.JAVA_INT_UNALIGNED, ANSWER + offset);
    }

    int answerByte(int offset) {
        return kernel.memory().get(ValueLayout.JAVA_BYTE, ANSWER + offset) & 0xFF;
    }

    int create(int channel, long name, int portSpace) {
        assertEquals(DONE, tryCreate(channel, name, portSpace));
        return answer(0);
    }

    int tryCreate(int channel, long name, int portSpace) {
        return command(channel, 0, 4, 24, to -> {
            to.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, name);
            answerAt(to, 8, ANSWER);
            set(to, 16, portSpace);
        });
    }

    /** Destroys an id; how many of its events were read. */
    int destroy(int channel, int id) {
        assertEquals(DONE, withId(channel, 1, id));
        return answer(0);
    }

    /** A command of address 0, id 8 and a number 12. */
    int withId(int channel, int number, int id, int more, int room) {
        return command(channel, number, room, 16, to -> {
            answerAt(to, 0, ANSWER);
            set(to, 8, id);
            set(to, 12, more);
        });
    }

    int withId(int channel, int number, int id) {
        return withId(channel, number, id, 0, 4);
    }

    static InetSocketAddress at(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }

    int bind(int channel, int id, InetSocketAddress address) {
        return command(channel, 2, 0, 40, to -> {
            ProgramAddresses.write(to, 8, address);
            set(to, 36, id);
        });
    }

    int resolveAddress(int channel, int id, InetSocketAddress peer) {
        return command(channel, 3, 0, 64, to -> {
            ProgramAddresses.write(to, 28, peer);
            set(to, 56, id);
            set(to, 60, 2000);
        });
    }

    /** A command of two numbers. */
    int simple(int channel, int number, int id, int more) {
        return command(channel, number, 0, 8, to -> {
            set(to, 0, id);
            set(to, 4, more);
        });
    }

    int resolveRoute(int channel, int id) {
        return simple(channel, 4, id, 2000);
    }

    int listen(int channel, int id, int backlog) {
        return simple(channel, 7, id, backlog);
    }

    int connect(int channel, int id, int queuePair, String data) {
        return command(channel, 6, 0, 288, to -> {
            parameter(to, 0, queuePair, data);
            set(to, 272, id);
        });
    }

    int accept(int channel, int id, long name, int queuePair, String data) {
        return command(channel, 8, 0, 296, to -> {
            to.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, name);
            parameter(to, 8, queuePair, data);
            set(to, 280, id);
        });
    }

    /** The active side: its queue pair is ready. */
    int isReady(int channel, int id) {
        return command(channel, 8, 0, 296, to -> set(to, 280, id));
    }

    private static void parameter(MemorySegment to, int at, int queuePair, String data) {
        byte[] bytes = data.getBytes(StandardCharsets.US_ASCII);
        set(to, at, queuePair);
        MemorySegment.copy(bytes, 0, to, ValueLayout.JAVA_BYTE, at + 8, bytes.length);
        to.set(ValueLayout.JAVA_BYTE, at + 264, (byte) bytes.length);
        to.set(ValueLayout.JAVA_BYTE, at + 266, (byte) 3); // READs to serve
        to.set(ValueLayout.JAVA_BYTE, at + 267, (byte) 5); // READs to send
        to.set(ValueLayout.JAVA_BYTE, at + 269, (byte) 6); // retries
        to.set(ValueLayout.JAVA_BYTE, at + 270, (byte) 7); // RNR retries
        to.set(ValueLayout.JAVA_BYTE, at + 271, (byte) 1); // valid
    }

    int reject(int channel, int id, String data) {
        byte[] bytes = data.getBytes(StandardCharsets.US_ASCII);
        return command(channel, 9, 0, 264, to -> {
            set(to, 0, id);
            to.set(ValueLayout.JAVA_BYTE, 4, (byte) bytes.length);
            MemorySegment.copy(bytes, 0, to, ValueLayout.JAVA_BYTE, 8, bytes.length);
        });
    }

    int disconnect(int channel, int id) {
        return command(channel, 10, 0, 4, to -> set(to, 0, id));
    }

    /** What a queue pair is to be set for a state. */
    int attributes(int channel, int id, int state) {
        return withId(channel, 11, id, state, 144);
    }

    // ---- events

    /** Asks for an event without waiting; the errno, or {@link #DONE}. */
    int getEvent(int channel) {
        return command(channel, 12, ROOM, 8, to -> answerAt(to, 0, EVENT));
    }

    /** Waits for the next event, which has this kind and status. */
    Event next(int channel, int kind, int status) {
        until(() -> getEvent(channel) == DONE, "event " + kind);
        Event event = new Event();
        assertEquals(kind + " " + status, event.kind() + " " + event.status());
        return event;
    }

    /** The card works until that holds. */
    void until(BooleanSupplier condition, String what) {
        long end = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, what);
            turn();
        }
    }

    /** The card does what there is to do. */
    void turn() {
        if (!card.awaitCall()) {
            device.forgetChannels();
        }
    }

    /** The event that was read last. */
    final class Event {
        private final MemorySegment bytes =
                Arena.ofAuto().allocate(ROOM, 8).copyFrom(kernel.memory().asSlice(EVENT, ROOM));

        long name() {
            return bytes.get(ValueLayout.JAVA_LONG, 0);
        }

        int id() {
            return bytes.get(ValueLayout.JAVA_INT, 8);
        }

        int kind() {
            return bytes.get(ValueLayout.JAVA_INT, 12);
        }

        int status() {
            return bytes.get(ValueLayout.JAVA_INT, 16);
        }

        int parameter(int offset) {
            return bytes.get(ValueLayout.JAVA_INT, 20 + offset);
        }

        int parameterByte(int offset) {
            return bytes.get(ValueLayout.JAVA_BYTE, 20 + offset) & 0xFF;
        }

        /** Text at an offset of the parameter, to the first zero. */
        String text(int offset) {
            return bytes.getString(20 + offset, StandardCharsets.US_ASCII);
        }
    }

    // ---- whole exchanges

    /** An id that listens on a port that is free; its number and port. */
    Listening listening(int channel, long name, int portSpace, int backlog) {
        int id = create(channel, name, portSpace);
        assertEquals(DONE, bind(channel, id, at("127.0.0.1", 0)));
        assertEquals(DONE, withId(channel, 5, id, 0, 208));
        int port = answerByte(138) << 8 | answerByte(139);
        assertEquals(DONE, listen(channel, id, backlog));
        return new Listening(id, port);
    }

    record Listening(int id, int port) {}

    /** An id that knows the way to a port of this host. */
    int resolved(int channel, long name, int portSpace, int port) {
        int id = create(channel, name, portSpace);
        assertEquals(DONE, resolveAddress(channel, id, at("127.0.0.1", port)));
        assertEquals(name, next(channel, 0, 0).name());
        assertEquals(DONE, resolveRoute(channel, id));
        assertEquals(name, next(channel, 2, 0).name());
        return id;
    }

    @Override
    public void close() {
        device.close();
        card.close();
    }
}
