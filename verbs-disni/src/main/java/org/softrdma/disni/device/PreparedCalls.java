package org.softrdma.disni.device;

import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendOpcode;

/**
 * The prepared calls of a queue pair: one per opcode and number of local entries, created when first needed and reused
 * from then on. Sends under the send lock, RECVs under the receive lock.
 */
final class PreparedCalls {
    private final DisniLibrary.Pair pair;
    private final int mostEntries;
    private final DisniLibrary.@Nullable PreparedSend[] sends;
    private final DisniLibrary.@Nullable PreparedReceive[] receives;
    private DisniLibrary.@Nullable PreparedSend send;

    /**
     * None prepared yet.
     *
     * @param pair native queue pair
     * @param mostEntries local entries of a request
     */
    PreparedCalls(DisniLibrary.Pair pair, int mostEntries) {
        this.pair = pair;
        this.mostEntries = mostEntries;
        sends = new DisniLibrary.PreparedSend[SendOpcode.values().length * (mostEntries + 1)];
        receives = new DisniLibrary.PreparedReceive[mostEntries + 1];
    }

    /** The call for an opcode, which {@link #send()} returns from then on. */
    DisniLibrary.PreparedSend send(SendOpcode opcode, int entries) throws IOException {
        int index = opcode.ordinal() * (mostEntries + 1) + entries;
        DisniLibrary.PreparedSend call = sends[index];
        if (call == null) {
            call = pair.prepareSend(nativeOpcode(opcode), entries);
            sends[index] = call;
        }
        send = call;
        return call;
    }

    /** The send call that was requested last. */
    DisniLibrary.PreparedSend send() {
        return Objects.requireNonNull(send, "no send was written yet");
    }

    /** The call for a RECV. */
    DisniLibrary.PreparedReceive receive(int entries) throws IOException {
        DisniLibrary.PreparedReceive call = receives[entries];
        if (call == null) {
            call = pair.prepareReceive(entries);
            receives[entries] = call;
        }
        return call;
    }

    /** {@code enum ibv_wr_opcode}. */
    private static int nativeOpcode(SendOpcode opcode) {
        return switch (opcode) {
            case WRITE -> 0;
            case SEND -> 2;
            case READ -> 4;
            case SEND_IMMEDIATE,
                    SEND_INVALIDATE,
                    WRITE_IMMEDIATE,
                    COMPARE_AND_SWAP,
                    FETCH_AND_ADD,
                    INVALIDATE,
                    BIND_WINDOW -> throw new IllegalStateException(opcode + " on DiSNI, which has no feature for it");
        };
    }

    /** Fills in the entries of a post. */
    static void fill(DisniLibrary.PreparedPost call, ScatterGatherList local) {
        for (int i = 0; i < local.size(); i++) {
            call.entry(i, local.address(i), (int) local.length(i), local.lkey(i));
        }
    }

    /** Frees all memory; once, when the native queue pair is gone. */
    void free() {
        free(sends);
        free(receives);
    }

    private static void free(DisniLibrary.@Nullable Prepared[] calls) {
        for (DisniLibrary.Prepared call : calls) {
            if (call != null) {
                call.free();
            }
        }
    }
}
