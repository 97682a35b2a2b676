package org.softrdma.kv.server.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.StreamSocket;

/** A socket that gives and takes what a test says, and notes what is asked of it. */
final class ScriptedSocket implements StreamSocket {
    private final ArrayDeque<byte[]> input = new ArrayDeque<>();
    private final StringBuilder output = new StringBuilder();

    /** What was asked, in order, without receives. */
    final List<String> calls = new ArrayList<>();

    /** Receives that found nothing, or the end. */
    int idleReceives;

    /** Bytes that the network takes. */
    long room = Long.MAX_VALUE;

    /** True in an event of the loop. */
    boolean inTurn;

    private boolean ended;
    private boolean broken;
    private boolean failsLater;

    /** What goes at the end of the turn: it is read then, or when the socket is closed. */
    private @Nullable IoVectors offered;

    private int offeredCount;

    /** What comes next. */
    void comes(String bytes) {
        input.add(bytes.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** The client sends no more. */
    void ends() {
        ended = true;
    }

    /** The connection breaks. */
    void breaks() {
        broken = true;
    }

    /** The connection breaks at the end of the turn. */
    void breaksLater() {
        failsLater = true;
    }

    /** What the client got. */
    String output() {
        return output.toString();
    }

    private void check() throws IOException {
        if (broken) {
            throw new IOException("broken");
        }
    }

    @Override
    public int receive(long address, int length) throws IOException {
        check();
        byte[] next = input.poll();
        if (next == null) {
            idleReceives++;
            return ended ? END_OF_STREAM : 0;
        }
        int count = Math.min(length, next.length);
        for (int i = 0; i < count; i++) {
            NativeMemory.putByte(address + i, next[i]);
        }
        if (count < next.length) {
            input.addFirst(Arrays.copyOfRange(next, count, next.length));
        }
        return count;
    }

    @Override
    public int scatter(IoVectors vectors, int count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean hasMore() {
        return ended || !input.isEmpty();
    }

    @Override
    public void receiveAhead(boolean wanted) {
        calls.add("ahead " + wanted);
    }

    @Override
    public void rearm() {
        calls.add("rearm");
    }

    @Override
    public void pause() {
        calls.add("pause");
    }

    private String bytes(IoVectors vectors, int from, int count) {
        StringBuilder all = new StringBuilder();
        for (int i = from; i < from + count; i++) {
            for (long j = 0; j < vectors.length(i); j++) {
                all.append((char) (NativeMemory.getByte(vectors.base(i) + j) & 0xff));
            }
        }
        return all.toString();
    }

    private long take(String offered) {
        int taken = (int) Math.min(room, offered.length());
        output.append(offered, 0, taken);
        room -= taken;
        return taken;
    }

    @Override
    public long gather(IoVectors vectors, int from, int count) throws IOException {
        check();
        calls.add("gather");
        return take(bytes(vectors, from, count));
    }

    @Override
    public boolean gatherLater(IoVectors vectors, int count) {
        if (inTurn) {
            calls.add("later");
            offered = vectors;
            offeredCount = count;
        }
        return inTurn;
    }

    @Override
    public long gathered() throws IOException {
        check();
        if (failsLater) {
            throw new IOException("broken later");
        }
        return takeOffered();
    }

    private long takeOffered() {
        IoVectors vectors = offered;
        offered = null;
        return vectors == null ? 0 : take(bytes(vectors, 0, offeredCount));
    }

    @Override
    public void awaitRoom() {
        calls.add("await room");
    }

    @Override
    public boolean finishConnect() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isHostSilent() {
        return false;
    }

    @Override
    public InetSocketAddress localAddress() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 2);
    }

    @Override
    public void shutdownOutput() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        calls.add("close");
        long ignored = takeOffered();
    }

    @Override
    public void abort() {
        throw new UnsupportedOperationException();
    }
}
