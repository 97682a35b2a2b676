package org.softrdma.run.rdmacm;

import org.softrdma.run.kernel.MemoryPause;
import org.softrdma.sim.roce.cm.CmEvents;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.PrivateData;

/**
 * Says again what has found no memory, for some seconds. The manager says each thing once, and a program that waits for an event that was
 * lost would do so for good. Nothing is made for it: this is there before.
 */
final class PatientEvents implements CmEvents {
    private final CmEvents events;

    /**
     * Tells somebody.
     *
     * @param events told again from the beginning
     */
    PatientEvents(CmEvents events) {
        this.events = events;
    }

    @Override
    public void replied(ConnectReply reply) {
        for (int i = 0; i < MemoryPause.MOST; i++) {
            try {
                events.replied(reply);
                return;
            } catch (OutOfMemoryError e) {
                MemoryPause.pause();
            }
        }
    }

    @Override
    public void established() {
        for (int i = 0; i < MemoryPause.MOST; i++) {
            try {
                events.established();
                return;
            } catch (OutOfMemoryError e) {
                MemoryPause.pause();
            }
        }
    }

    @Override
    public void failed(int reason, PrivateData data) {
        for (int i = 0; i < MemoryPause.MOST; i++) {
            try {
                events.failed(reason, data);
                return;
            } catch (OutOfMemoryError e) {
                MemoryPause.pause();
            }
        }
    }

    @Override
    public void disconnected() {
        for (int i = 0; i < MemoryPause.MOST; i++) {
            try {
                events.disconnected();
                return;
            } catch (OutOfMemoryError e) {
                MemoryPause.pause();
            }
        }
    }

    @Override
    public void released() {
        for (int i = 0; i < MemoryPause.MOST; i++) {
            try {
                events.released();
                return;
            } catch (OutOfMemoryError e) {
                MemoryPause.pause();
            }
        }
    }
}
