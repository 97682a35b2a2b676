package org.softrdma.run.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * An event that a program has not read yet, {@code struct rdma_ucm_event_resp}. Host byte order; written here.
 *
 * <pre>
 *    0  what the program calls the id   8 bytes
 *    8  id                              4
 *   12  event                           4
 *   16  status                          4
 *   20  {@link ConnectionParameter} (272), or {@link DatagramParameter} (304)
 *  324  reserved                        4
 *  328  vendor's options                8
 *  336
 * </pre>
 *
 * @param counted the id whose events count this one
 * @param made the id of a request that has come; null for other events
 */
record RdmaCmEvent(RdmaCmId counted, @Nullable RdmaCmId made, MemorySegment bytes) {
    static final int LENGTH = 336;
    /** What programs that know no vendor's options have room for. */
    static final int LEAST_ROOM = 324;

    static final int ADDRESS_RESOLVED = 0;
    static final int ADDRESS_ERROR = 1;
    static final int ROUTE_RESOLVED = 2;
    static final int CONNECT_REQUEST = 4;
    static final int CONNECT_RESPONSE = 5;
    static final int UNREACHABLE = 7;
    static final int REJECTED = 8;
    static final int ESTABLISHED = 9;
    static final int DISCONNECTED = 10;
    static final int MULTICAST_JOIN = 12;
    static final int TIMEWAIT_EXIT = 15;

    private static final int ID_OFFSET = Long.BYTES;
    private static final int EVENT_OFFSET = ID_OFFSET + Integer.BYTES;
    private static final int STATUS_OFFSET = EVENT_OFFSET + Integer.BYTES;
    private static final int PARAMETER_OFFSET = STATUS_OFFSET + Integer.BYTES;

    /** What fills the parameter of an event. */
    @FunctionalInterface
    interface Parameter {
        /** None. */
        Parameter NONE = ignored -> {};

        /** Fills it. */
        void write(MemorySegment parameter);
    }

    /** An event of an id. */
    static RdmaCmEvent of(RdmaCmId id, int event, int status, Parameter parameter) {
        return new RdmaCmEvent(id, null, bytes(id.name(), id.handle(), event, status, parameter));
    }

    /**
     * A request that has come.
     *
     * @param listening the id that it has come to, by whose name the program hears of it
     * @param made for it
     */
    static RdmaCmEvent request(RdmaCmId listening, RdmaCmId made, Parameter parameter) {
        return new RdmaCmEvent(
                listening, made, bytes(listening.name(), made.handle(), CONNECT_REQUEST, /* status= */ 0, parameter));
    }

    private static MemorySegment bytes(long name, int handle, int event, int status, Parameter parameter) {
        MemorySegment all = MemorySegment.ofArray(new byte[LENGTH]);
        all.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, name);
        all.set(ValueLayout.JAVA_INT_UNALIGNED, ID_OFFSET, handle);
        all.set(ValueLayout.JAVA_INT_UNALIGNED, EVENT_OFFSET, event);
        all.set(ValueLayout.JAVA_INT_UNALIGNED, STATUS_OFFSET, status);
        parameter.write(all.asSlice(PARAMETER_OFFSET));
        return all;
    }
}
