package org.softrdma.run.uverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import org.softrdma.run.card.Card;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.card.EventWriter;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.ScriptedKernel;

/**
 * A program in this process that does what rdma-core's driver of SoftRoCE does: sends commands, fills rings, rings the doorbell and reads
 * completions. Offsets are those of rdma_user_rxe.h, written out.
 */
final class ScriptedProgram implements AutoCloseable {
    static final int DONE = 0;
    static final int SEND = 2;
    static final int SIGNALLED = 2;
    static final int SOLICITED = 4;
    static final int INLINE = 8;
    static final int LENGTH = 1 << 16;

    /** The last eight bytes of ::ffff:127.0.0.1. */
    static final long LOOPBACK = 0x0100_007F_FFFF_0000L;

    private static final int DESCRIPTOR = 960;
    private static final int REQUEST = 0;
    private static final int INPUT = 512;
    private static final int OUTPUT = 1024;
    private static final int DRIVER_OUTPUT = 2048;
    private static final int DOORBELL = 3072;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    final ScriptedKernel kernel = new ScriptedKernel();
    final MemorySegment memory = Arena.ofAuto().allocate(LENGTH, 4096);
    private final Card card;
    private final UverbsDevice device;
    /** What the driver says with a command, if it is not 0. */
    private long driverInput;

    // What modify says, if its mask does.
    int ownGid;
    long peerGid = LOOPBACK;
    int port = 1;
    int transferUnit = 3; // 1024
    int reads = 4;
    int servedReads = 4;
    int rnrTimer = 12;
    int timeout = 14;
    int retries = 7;
    /** 7 for ever. */
    int rnrRetries = 7;

    final int asyncEvents;
    final int domain;
    final int lkey;
    final int rkey;
    final int region;

    /** With a context, a domain and a region of all its memory, with all rights. */
    ScriptedProgram() throws CallRefusedException {
        this(CardSettings.usual());
    }

    /** Beside a card of one's own. */
    ScriptedProgram(CardSettings settings) throws CallRefusedException {
        this(settings, List.of(new GidEntry(InetAddress.getLoopbackAddress(), "lo")));
    }

    /** On a host with addresses of one's own, the first of which is 127.0.0.1. */
    ScriptedProgram(List<GidEntry> gids) throws CallRefusedException {
        this(CardSettings.usual(), gids);
    }

    private ScriptedProgram(CardSettings settings, List<GidEntry> gids) throws CallRefusedException {
        RxeDevice rxe = RxeDevice.of(gids, 65_536);
        card = new Card(rxe, kernel.listener(), settings);
        device = new UverbsDevice(
                kernel, DescriptorRange.below(1024), rxe, card, new EventWriter(Architecture.X86_64), Arena.ofAuto());
        device.open(kernel.call(LinuxCall.OPENAT), true, false);
        asyncEvents = made(0, 8, 0, 0);
        domain = made(3, 4, 0, 0);
        region = register(memory.address(), LENGTH, 31);
        lkey = output(4);
        rkey = output(8);
    }

    // ---- commands

    int register(long address, long length, int access) {
        return made(
                9,
                12,
                0,
                0,
                low(address),
                high(address),
                low(length),
                high(length),
                low(address),
                high(address),
                domain,
                access);
    }

    static int low(long value) {
        return (int) value;
    }

    static int high(long value) {
        return (int) (value >>> Integer.SIZE);
    }

    int made(int number, int room, int... input) {
        assertEquals(DONE, command(number, room, input), () -> "command " + number);
        return output(0);
    }

    /** Sends a command; returns the errno, or {@link #DONE}. The words are the input. */
    int command(int number, int room, int... input) {
        MemorySegment page = kernel.memory();
        page.asSlice(OUTPUT, 512).fill((byte) 0);
        for (int i = 0; i < input.length; i++) {
            page.set(INT, INPUT + 4L * i, input[i]);
        }
        page.set(LONG, REQUEST, 0);
        page.set(ValueLayout.JAVA_SHORT, REQUEST + 6, (short) 5);
        attribute(4, 0x1000, driverInput == 0 ? 0 : 8, driverInput);
        attribute(0, 2, 4, number & 0xFFFF_FFFFL);
        int bytes = 4 * input.length;
        attribute(1, 0, bytes, bytes <= 8 ? page.get(LONG, INPUT) : ScriptedKernel.MEMORY + INPUT);
        attribute(2, 1, room, ScriptedKernel.MEMORY + OUTPUT);
        attribute(3, 0x1001, 32, ScriptedKernel.MEMORY + DRIVER_OUTPUT);
        try {
            device.answer(kernel.call(LinuxCall.IOCTL, DESCRIPTOR, 0xC018_1B01L, ScriptedKernel.MEMORY + REQUEST));
            return DONE;
        } catch (CallRefusedException e) {
            return e.errno();
        }
    }

    private void attribute(int index, int id, int length, long value) {
        int offset = REQUEST + 24 + 16 * index;
        kernel.memory().set(ValueLayout.JAVA_SHORT, offset, (short) id);
        kernel.memory().set(ValueLayout.JAVA_SHORT, offset + 2, (short) length);
        kernel.memory().set(LONG, offset + 8, value);
    }

    int output(int offset) {
        return kernel.memory().get(INT, OUTPUT + offset);
    }

    int outputByte(int offset) {
        return kernel.memory().get(ValueLayout.JAVA_BYTE, OUTPUT + offset);
    }

    /** A ring where the driver's answer says that it is. */
    private Ring ring(int offset) {
        long at = kernel.memory().get(LONG, DRIVER_OUTPUT + offset);
        int length = kernel.memory().get(INT, DRIVER_OUTPUT + offset + 8);
        return new Ring(kernel.mappings.getFirst().asSlice(at, length));
    }

    Completions completions(int count, int channel, long cookie) {
        int handle = made(18, 8, 0, 0, low(cookie), high(cookie), count, 0, channel, 0, 0, 0);
        return new Completions(handle, ring(0));
    }

    /** In another ring from now on. */
    Completions resize(Completions completions, int count) {
        assertEquals(DONE, command(19, 8, 0, 0, completions.handle, count));
        return new Completions(completions.handle, ring(0));
    }

    /** In another ring from now on, of which the card tells where the driver has asked for it. */
    Ring resize(Shared shared, int count) {
        driverInput = ScriptedKernel.MEMORY + DRIVER_OUTPUT;
        assertEquals(DONE, command(33, 0, shared.handle, 1, count, 0));
        driverInput = 0;
        return ring(0);
    }

    int channel() {
        return made(17, 4, 0, 0);
    }

    Pair pair(int type, Completions completions, int sends, int receives) {
        int handle = made(
                24,
                32,
                0,
                0,
                7,
                0,
                domain,
                completions.handle,
                completions.handle,
                0,
                sends,
                receives,
                2,
                2,
                64,
                type << 8,
                0,
                0);
        return new Pair(handle, output(4), ring(16), ring(0), completions, type);
    }

    Shared shared(int requests) {
        int handle = made(32, 16, 0, 0, 9, 0, domain, requests, 2, 0, 0, 0);
        return new Shared(handle, ring(0));
    }

    Pair pairWithShared(Completions completions, Shared shared) {
        int handle = made(
                24,
                32,
                0,
                0,
                7,
                0,
                domain,
                completions.handle,
                completions.handle,
                shared.handle,
                8,
                0,
                2,
                2,
                64,
                (2 << 8) | (1 << 16),
                0,
                0);
        return new Pair(handle, output(4), ring(16), shared.ring, completions, 2);
    }

    int modify(Pair pair, int mask, int state, int peer, int attribute) {
        return modify(pair, mask, state, peer, attribute, 17);
    }

    int modify(Pair pair, int mask, int state, int peer, int attribute, int queueKey) {
        int[] input = new int[28];
        input[2] = low(peerGid);
        input[3] = high(peerGid);
        input[6] = ownGid;
        input[7] = 1 << 16; // is global
        input[16] = pair.handle;
        input[17] = mask;
        input[18] = queueKey;
        input[19] = 100; // first PSN to receive
        input[20] = 100; // and to send
        input[21] = peer;
        input[22] = attribute;
        input[24] = state | transferUnit << 16;
        input[25] = reads << 8 | servedReads << 16 | rnrTimer << 24;
        input[26] = port | timeout << 8 | retries << 16 | rnrRetries << 24;
        return command(26, 0, input);
    }

    /** A handle to 127.0.0.1, from an own GID, by a port. */
    int address(int ownGid, boolean global, int port) {
        return address(ownGid, global, port, LOOPBACK);
    }

    /** One to another host or a group, by the second half of its GID. */
    int address(int ownGid, boolean global, int port, long host) {
        int[] input = new int[14];
        input[4] = domain;
        input[8] = low(host);
        input[9] = high(host);
        input[11] = ownGid;
        input[13] = (global ? 1 : 0) << 8 | port << 16;
        return command(5, 4, input) == DONE ? output(0) : -1;
    }

    /** Joins a group by 30, or leaves it by 31; by the second half of its GID. */
    int group(int command, Pair pair, long group) {
        return command(command, 0, 0, 0, low(group), high(group), pair.handle, 0);
    }

    int initialise(Pair pair) {
        return modify(pair, pair.type == 4 ? 0x71 : 0x39, 1, 0, 15);
    }

    int toReceive(Pair pair, int peer) {
        int mask = pair.type == 4 ? 1 : pair.type == 2 ? 0x12_9181 : 0x10_1181;
        return modify(pair, mask, 2, peer, 0);
    }

    int toSend(Pair pair) {
        return modify(pair, pair.type == 2 ? 0x1_2E01 : 0x1_0001, 3, 0, 0);
    }

    void connect(Pair one, Pair other) {
        for (Pair each : List.of(one, other)) {
            assertEquals(DONE, initialise(each));
            assertEquals(DONE, toReceive(each, each == one ? other.number : one.number));
            assertEquals(DONE, toSend(each));
        }
    }

    /** What a query tells of it. */
    String attributes(Pair pair) {
        assertEquals(DONE, command(25, 128, 0, 0, pair.handle, 0));
        return HexFormat.of().formatHex(kernel.memory().asSlice(OUTPUT, 128).toArray(ValueLayout.JAVA_BYTE));
    }

    int state(Pair pair) {
        assertEquals(DONE, command(25, 128, 0, 0, pair.handle, 0));
        return outputByte(108);
    }

    /** The port's state as its query says: 1 is down, 4 is active. */
    int portState() {
        assertEquals(DONE, command(2, 40, 0, 0, 1));
        return outputByte(26);
    }

    /** The next asynchronous event is that; the card works until there is one. */
    void expectEvent(long element, int kind) {
        long[] event = {-1, -1};
        until(
                () -> {
                    event[0] = event[0] == -1 ? kernel.event(asyncEvents) : event[0];
                    event[1] = event[0] == -1 ? -1 : kernel.event(asyncEvents);
                    return event[1] != -1;
                },
                "an event " + kind);
        assertEquals(element + " " + kind, event[0] + " " + event[1]);
    }

    // ---- rings

    /** Rings; returns the errno, or {@link #DONE}. */
    int doorbell(Pair pair) {
        kernel.memory().set(INT, DOORBELL, 28);
        kernel.memory().set(INT, DOORBELL + 16, pair.handle);
        try {
            assertTrue(device.ring(kernel.call(LinuxCall.WRITE, DESCRIPTOR, ScriptedKernel.MEMORY + DOORBELL, 32)));
            return DONE;
        } catch (CallRefusedException e) {
            return e.errno();
        }
    }

    /** The card works until that holds. */
    void until(java.util.function.BooleanSupplier condition, String what) {
        long end = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, what);
            if (!card.awaitCall()) {
                device.forgetContexts();
            }
        }
    }

    void forgetContexts() {
        assertEquals(0, device.contexts());
    }

    @Override
    public void close() {
        device.close();
        card.close();
    }

    /** A ring as the program sees it. */
    record Ring(MemorySegment bytes) {
        int producer() {
            return bytes.get(INT, 128);
        }

        int consumer() {
            return bytes.get(INT, 256);
        }

        void producer(int index) {
            bytes.set(INT, 128, index);
        }

        void consumer(int index) {
            bytes.set(INT, 256, index);
        }

        int next(int index) {
            return (index + 1) & bytes.get(INT, 4);
        }

        MemorySegment element(int index) {
            int length = 1 << bytes.get(INT, 0);
            return bytes.asSlice(384 + (long) (index & bytes.get(INT, 4)) * length, length);
        }
    }

    final class Completions {
        final int handle;
        final Ring ring;

        Completions(int handle, Ring ring) {
            this.handle = handle;
            this.ring = ring;
        }

        /** The next completion; the card works until there is one. */
        MemorySegment next() {
            until(() -> ring.consumer() != ring.producer(), "a completion");
            MemorySegment found = Arena.ofAuto()
                    .allocate(48, 8)
                    .copyFrom(ring.element(ring.consumer()).asSlice(0, 48));
            ring.consumer(ring.next(ring.consumer()));
            return found;
        }

        void expect(long number, int status) {
            MemorySegment next = next();
            assertEquals(number + " " + status, next.get(LONG, 0) + " " + next.get(INT, 8));
        }
    }

    record Shared(int handle, Ring ring) {}

    final class Pair {
        final int handle;
        final int number;
        final Ring sends;
        final Ring receives;
        final Completions completions;
        final int type;

        Pair(int handle, int number, Ring sends, Ring receives, Completions completions, int type) {
            this.handle = handle;
            this.number = number;
            this.sends = sends;
            this.receives = receives;
            this.completions = completions;
            this.type = type;
        }

        /** Fills the next request; its fields may be changed before {@link #give}. */
        MemorySegment fill(long wrId, int operation, int flags, long offset, int length) {
            MemorySegment request = sends.element(sends.producer()).fill((byte) 0);
            request.set(LONG, 0, wrId);
            request.set(INT, 12, operation);
            request.set(INT, 16, flags);
            request.set(INT, 184, length);
            if ((flags & INLINE) != 0) {
                MemorySegment.copy(memory, offset, request, 208, length);
            } else {
                request.set(INT, 196, 1);
                request.set(LONG, 208, memory.address() + offset);
                request.set(INT, 216, length);
                request.set(INT, 220, lkey);
            }
            return request;
        }

        MemorySegment remote(MemorySegment request, long offset) {
            request.set(LONG, 24, memory.address() + offset);
            request.set(INT, 32, rkey);
            return request;
        }

        /** Makes a request a datagram. */
        MemorySegment to(MemorySegment request, Pair peer, int key, int handle) {
            request.set(INT, 24, peer.number);
            request.set(INT, 28, key);
            request.set(INT, 36, handle);
            return request;
        }

        void immediate(MemorySegment request, int immediate) {
            request.set(ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 20, immediate);
        }

        /** Gives it to the card, without a doorbell. */
        void give() {
            sends.producer(sends.next(sends.producer()));
        }

        void post(long wrId, int operation, int flags, long offset, int length) {
            var ignored = fill(wrId, operation, flags, offset, length);
            give();
            assertEquals(DONE, doorbell(this));
        }

        void receive(long wrId, long offset, int length) {
            MemorySegment request = receives.element(receives.producer()).fill((byte) 0);
            request.set(LONG, 0, wrId);
            request.set(INT, 28, 1);
            request.set(LONG, 40, memory.address() + offset);
            request.set(INT, 48, length);
            request.set(INT, 52, lkey);
            receives.producer(receives.next(receives.producer()));
        }
    }
}
