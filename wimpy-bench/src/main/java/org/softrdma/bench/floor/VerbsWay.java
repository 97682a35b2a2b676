package org.softrdma.bench.floor;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.bench.message.PolledLoad;
import org.softrdma.bench.message.SendLoad;
import org.softrdma.bench.read.ReadLoad;
import org.softrdma.bench.read.ReadTargets;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.device.VerbsDevice;

/** A way to get so many bytes of another process: which responder has them, and how they are asked for. No responder ever sleeps. */
public enum VerbsWay {
    /** A READ, served by the device alone. */
    READ("READ", false),
    /** A SEND of 8 bytes that a SEND answers, as Pilaf's PUTs. */
    SEND("SEND/SEND", true) {
        @Override
        RequestLoad connect(VerbsDevice device, ResponderProcess responder, int connections, int window, long size) {
            return SendLoad.asking(device, responder.address(), connections, window, size);
        }
    },
    /** A WRITE of 8 bytes that a WRITE answers, both ends polling memory, as Nessie's comparison, HERD's ECHO and FaRM's messages. */
    WRITE("WRITE/WRITE", true) {
        @Override
        RequestLoad connect(VerbsDevice device, ResponderProcess responder, int connections, int window, long size) {
            return PolledLoad.connect(device, responder.address(), connections, window, size);
        }
    },
    /** The bytes of a READ and of its response over TCP, served by the C program that does nothing else. */
    TCP("TCP, C", false) {
        @Override
        ResponderProcess start(FloorSetup setup, List<String> pinning) {
            return ResponderProcess.yardstick(
                    setup.programs().readResponder(setup.hosts()), pinning, MEMORY_BYTES, true);
        }
    };

    /** A READ takes one of so many places. */
    private static final int PLACES = 64;

    private static final long MEMORY_BYTES = 1L << 26;

    private final String title;
    /** Its requests go to the responder, not to its device alone. */
    private final boolean answered;

    VerbsWay(String title, boolean answered) {
        this.title = title;
        this.answered = answered;
    }

    /** Its name in tables. */
    public String title() {
        return title;
    }

    /** Starts a responder, which drives its device without rest. */
    ResponderProcess start(FloorSetup setup, List<String> pinning) {
        return setup.startResponder(pinning, arguments());
    }

    /** What its responder on a software RNIC is told. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of("--progress", "manual"));
        arguments.addAll(answered ? List.of("--echo", "--spin") : List.of("--memory", Long.toString(MEMORY_BYTES)));
        return arguments;
    }

    /**
     * Connects a load: of READs, where a way has no other.
     *
     * @param device of the client
     * @param responder of this way, running
     * @param window requests outstanding on each
     * @param size bytes of an answer
     */
    RequestLoad connect(VerbsDevice device, ResponderProcess responder, int connections, int window, long size) {
        // From no more memory than that of the other ways' answers, which are never far from the core.
        ReadTargets targets = ReadTargets.ofRegion(
                responder.memory().address(), PLACES * size, responder.memory().rkey(), size);
        return ReadLoad.connect(device, responder.address(), connections, window, size, targets);
    }
}
