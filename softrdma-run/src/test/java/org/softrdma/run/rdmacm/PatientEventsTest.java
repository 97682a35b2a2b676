package org.softrdma.run.rdmacm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.roce.cm.CmEvents;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.PrivateData;

/** A heap that is full for a moment: whoever waits for an event gets it. */
class PatientEventsTest {
    private final List<String> told = new ArrayList<>();

    /** Finds no memory each time for the first time. */
    private final class Unlucky implements CmEvents {
        private String last = "";

        private void tell(String what) {
            if (!last.equals(what)) {
                last = what;
                throw new OutOfMemoryError("of a test");
            }
            told.add(what);
        }

        @Override
        public void replied(ConnectReply reply) {
            tell("replied");
        }

        @Override
        public void established() {
            tell("established");
        }

        @Override
        public void failed(int reason, PrivateData data) {
            tell("failed " + reason);
        }

        @Override
        public void disconnected() {
            tell("disconnected");
        }

        @Override
        public void released() {
            tell("released");
        }
    }

    @Test
    void shouldTellAgainWhatHasFoundNoMemory() {
        PatientEvents events = new PatientEvents(new Unlucky());
        CmEndpoint endpoint = new CmEndpoint(0, 0, 17, 0, 1, 1, false, 7, false, 0, false);
        events.replied(new ConnectReply(endpoint, 0, 15, 0, PrivateData.NONE));
        events.established();
        events.failed(8, PrivateData.NONE);
        events.disconnected();
        events.released();
        assertEquals(List.of("replied", "established", "failed 8", "disconnected", "released"), told);
    }
}
