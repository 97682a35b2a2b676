package org.softrdma.testkit.interop;

import org.softrdma.testkit.interop.ScriptMessage.Command;
import org.softrdma.testkit.interop.ScriptedPeer.Region;
import org.softrdma.verbs.RemoteRegion;

/**
 * Transfers between the start of this end's memory and that of the peer, with new content each time. Both ends compute
 * the CRC-32 of all bytes; this end's memory behind the transfer must not change. One thread.
 */
final class CheckedTransfers {
    private final ScriptedPeer peer;
    private final RemoteRegion open;
    private final RemoteRegion own;

    /** Kind and direction of a transfer. */
    enum Kind {
        /** This side READs. */
        READ,
        /** This side WRITEs. */
        WRITE,
        /** This side SENDs, to one RECV. */
        SEND,
        /** The peer READs. */
        PEER_READ,
        /** The peer WRITEs. */
        PEER_WRITE,
        /** The peer SENDs, to one RECV. */
        PEER_SEND
    }

    CheckedTransfers(ScriptedPeer peer) {
        this.peer = peer;
        open = peer.region(Region.OPEN);
        own = peer.dataForPeer();
    }

    /**
     * Does one transfer, and waits until both ends have seen its content.
     *
     * @param lengthBytes 1 to {@link ScriptedPeer#BUFFER_BYTES}
     * @param pieces number of READs or WRITEs that it consists of, all posted at once; only for {@link Kind#READ} and
     *     {@link Kind#WRITE}
     * @param seed of the content
     * @throws AssertionError if it failed, or a byte is wrong
     */
    void transfer(Kind kind, int lengthBytes, int pieces, long seed) {
        String what = kind + " of " + lengthBytes + " bytes" + (pieces == 1 ? "" : " in " + pieces + " pieces");
        long behind = peer.checksumBehind(lengthBytes);
        switch (kind) {
            case READ -> {
                long theirs = fillPeer(lengthBytes, seed);
                peer.read(open.address(), open.rkey(), lengthBytes, pieces);
                requireSame(theirs, peer.checksum(lengthBytes), what);
            }
            case WRITE -> {
                long mine = peer.fill(lengthBytes, seed);
                peer.write(open.address(), open.rkey(), lengthBytes, pieces);
                long came = peer.ask(ScriptMessage.of(Command.CHECKSUM, lengthBytes))
                        .first();
                requireSame(mine, came, what);
            }
            case SEND -> {
                long mine = peer.fill(lengthBytes, seed);
                peer.tell(ScriptMessage.of(Command.RECEIVE));
                peer.sendData(lengthBytes);
                ScriptMessage received = peer.answer(Command.RECEIVE);
                if (received.second() != lengthBytes) {
                    throw new AssertionError(what + ": " + received.second() + " bytes came");
                }
                requireSame(mine, received.first(), what);
            }
            case PEER_READ -> {
                long mine = peer.fill(lengthBytes, seed);
                ScriptMessage answer =
                        peer.ask(ScriptMessage.access(Command.READ, own.address(), own.rkey(), lengthBytes));
                requireSame(mine, answer.first(), what);
            }
            case PEER_WRITE -> {
                long theirs = fillPeer(lengthBytes, seed);
                peer.ask(ScriptMessage.access(Command.WRITE, own.address(), own.rkey(), lengthBytes));
                requireSame(theirs, peer.checksum(lengthBytes), what);
            }
            case PEER_SEND -> {
                long theirs = fillPeer(lengthBytes, seed);
                peer.tell(ScriptMessage.of(Command.SEND, lengthBytes));
                requireSame(theirs, peer.receiveData(lengthBytes), what);
                peer.answer(Command.SEND);
            }
        }
        requireSame(behind, peer.checksumBehind(lengthBytes), "what lies behind the " + what);
    }

    private long fillPeer(int lengthBytes, long seed) {
        return peer.ask(new ScriptMessage(Command.FILL, lengthBytes, seed, 0)).first();
    }

    /** Fails if a CRC-32 is not the expected one. */
    static void requireSame(long expected, long found, String what) {
        if (expected != found) {
            throw new AssertionError(
                    what + ": CRC-32 " + Long.toHexString(found) + ", expected " + Long.toHexString(expected));
        }
    }
}
