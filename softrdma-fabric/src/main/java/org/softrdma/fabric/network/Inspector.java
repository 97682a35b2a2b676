package org.softrdma.fabric.network;

import java.net.InetAddress;
import java.util.Optional;
import java.util.OptionalLong;
import org.softrdma.sim.roce.wire.PacketKind;
import org.softrdma.sim.wire.MessageKind;

/** Sees what is sent and may interfere. Called by the running thread, in the middle of a send. */
public interface Inspector {
    /** Lets everything pass. */
    Inspector NONE = new Inspector() {
        @Override
        public long next(Passage passage, long from) {
            return Long.MAX_VALUE;
        }

        @Override
        public void sent(Passage passage) {
            // It does not look.
        }

        @Override
        public boolean awaits(Passage passage, Message message) {
            return false;
        }

        @Override
        public void begun(Passage passage, Message message) {
            // It does not look.
        }

        @Override
        public void sent(DatagramPassage passage, int number) {
            // It does not look.
        }
    };

    /**
     * A message.
     *
     * @param kind what it is
     * @param number which of its kind in its direction, from 1
     * @param wrId of the work request that it was sent for, if there is one
     */
    record Message(MessageKind kind, int number, OptionalLong wrId) {}

    /**
     * A packet of RoCEv2.
     *
     * @param kind what it is
     * @param number which of its kind from its host to the other one, from 1
     */
    record Packet(PacketKind kind, int number) {}

    /** A datagram that is sent, and what can be done to it. */
    interface DatagramPassage {
        /** The packet that it is; nothing if it is none of RoCEv2. */
        Optional<Packet> packet();

        /** The sender's host. */
        InetAddress from();

        /** The receiver's host. */
        InetAddress to();

        /** It does not arrive. */
        void lose();

        /** It arrives once more. */
        void repeat();

        /** It arrives so much later. */
        void delay(long ns);
    }

    /** One direction of a connection, and what can be done to it. */
    interface Passage {
        /** The sender's host. */
        InetAddress from();

        /** The receiver's host. */
        InetAddress to();

        /** Which connection between the two hosts, from 1. */
        int connection();

        /** Bytes sent so far. */
        long sentBytes();

        /** Resets the connection: both ends learn it at once. */
        void reset();

        /** Ends the stream behind what was sent so far, by a reset that arrives behind it. */
        void cut();

        /** Nothing arrives for a time. */
        void stall(long ns);

        /** At most so many bytes arrive in a piece, and no piece sooner after the one before. */
        void slow(int bytes, long perNs);

        /** What is under way, and what is sent from now on, arrives so much later. */
        void delay(long ns);

        /** Changes a bit of the next byte. */
        void corruptNext(int bit);
    }

    /**
     * After how many bytes, from the beginning of the passage, it wants to be told next.
     *
     * @param passage where
     * @param from the least answer: it has been told of all before
     * @return {@link Long#MAX_VALUE} if it does not want to be told
     */
    long next(Passage passage, long from);

    /** As many bytes have been sent as {@link #next} said. Once for each number. */
    void sent(Passage passage);

    /** True if it wants to be told of a message that begins. */
    boolean awaits(Passage passage, Message message);

    /**
     * The first bytes of a message's header have been sent.
     *
     * @param passage where
     * @param message which
     */
    void begun(Passage passage, Message message);

    /**
     * A datagram is sent.
     *
     * @param passage where
     * @param number which from its host to the other one, from 1
     */
    void sent(DatagramPassage passage, int number);
}
