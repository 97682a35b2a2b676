package org.softrdma.kv.client;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.memcached.AnswerDescriptor;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.store.KeyHash;
import org.softrdma.kv.store.Locator;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.VerbsDevice;
import org.softrdma.verbs.VerbsException;

/**
 * A client of one {@code KvServer}: a memcached connection and a queue pair. It remembers where items are; a GET of such an
 * item is one READ, which the server's store does not notice. If it is not known or the READ finds the item dead, replaced
 * twice or half overwritten, the server is asked to write the item here and to say where it is.
 *
 * <p>Blocking: {@link #get}, {@link #set}, {@link #delete}. Pipelined: {@link #start} as many READs as the window allows,
 * {@link CompletionLoop#poll}, {@link #deliver}; this allocates nothing. Once the server is gone every call throws {@link
 * KvException}. Owned by the thread of its loop.
 */
public final class KvClient implements AutoCloseable {
    private static final long WAIT_SLICE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int MAX_REGET = 3;

    private final CompletionLoop loop;
    private final KvClientContext context;
    private final CloseStack owned = new CloseStack();
    private final MemcachedLink link;
    private final RemoteReader reader;
    private final StagCache stags;
    private final ArenaTable arenas = new ArenaTable();
    private final KvClientCounters counters = new KvClientCounters();
    private final RemoteItem view = new RemoteItem();
    private final long hashSeed = new SecureRandom().nextLong();
    private final String bootId;
    private ByteBuffer request = ByteBuffer.allocateDirect(1024);
    private boolean ownsLoop;
    private long lastOpaque;
    private @Nullable KvException failure;

    /**
     * Connects a client of its own loop; both are closed by closing the client.
     *
     * @param device stays open until after the client is closed
     * @param context concluded
     * @throws KvException if there is no such server, or it is a memcached of another kind
     */
    public static KvClient connect(VerbsDevice device, KvClientContext context) {
        CompletionLoop loop = new CompletionLoop(device, 1, context.window());
        try {
            KvClient client = new KvClient(loop, context);
            client.ownsLoop = true;
            return client;
        } catch (RuntimeException e) {
            loop.close();
            throw e;
        }
    }

    /**
     * Connects a client of a loop that others may share.
     *
     * @param loop stays open until after this is closed
     * @param context concluded
     * @throws KvException if there is no such server, or it is a memcached of another kind
     */
    public KvClient(CompletionLoop loop, KvClientContext context) {
        this.loop = loop;
        this.context = context;
        this.stags = new StagCache(context.stagCapacity());
        try {
            link = owned.add(new MemcachedLink(context.server(), context.connectTimeoutNs()));
            long deadlineNs = System.nanoTime() + context.connectTimeoutNs();
            send(deadlineNs, MemcachedLink.ascii("rdma hello " + HelloDescriptor.VERSION), TextProtocol.CRLF);
            String[] hello = parseHello(link.readLine(deadlineNs));
            bootId = hello[4];
            loadArenas(deadlineNs);
            InetSocketAddress rdmaAddress =
                    new InetSocketAddress(context.server().getAddress(), Integer.parseInt(hello[2]));
            try {
                reader = owned.add(new RemoteReader(loop, context, rdmaAddress, stags, arenas, counters));
            } catch (VerbsException e) {
                throw new KvException(
                        link.name() + " answers on its memcached port, but no queue pair could be connected to port "
                                + rdmaAddress.getPort() + ": " + e.getMessage(),
                        e);
            }
            reader.sendHello(hello[3]);
            awaitAnswer(0, deadlineNs);
            if (reader.answerStatus() != AnswerDescriptor.BOUND) {
                throw new KvException(link.name() + " answered the hello with status " + reader.answerStatus());
            }
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    /** A number that is another one after the server was restarted. */
    public String bootId() {
        return bootId;
    }

    /** The server's memcached port. */
    public InetSocketAddress serverAddress() {
        return context.server();
    }

    /** What this client counts. */
    public KvClientCounters counters() {
        return counters;
    }

    /** Items whose place is known. */
    public int knownItems() {
        return stags.size();
    }

    /**
     * Gets a value.
     *
     * @param key 1 to 250 bytes without blanks and control characters
     * @throws KvException if the server is gone
     */
    public Optional<KvItem> get(byte[] key) {
        requireKey(key);
        requireUsable();
        try {
            long hash = hash(key);
            if (reader.startBlocking(hash, key)) {
                long deadlineNs = System.nanoTime() + context.requestTimeoutNs();
                while (!reader.isBlockingDone()) {
                    await(deadlineNs);
                }
                if (reader.blockingOutcome() == ReadOutcome.HIT) {
                    return Optional.of(reader.copyBlocking(view));
                }
            }
            return getFromServer(hash, key);
        } catch (KvException e) {
            throw failed(e);
        }
    }

    /**
     * Stores a value.
     *
     * @param key 1 to 250 bytes without blanks and control characters
     * @param flags kept with the value
     * @param exptime memcached's: 0 never, up to 30 days from now, above that since 1970
     * @param value the value
     * @return whether it was stored
     * @throws KvException if the server is gone
     */
    public SetStatus set(byte[] key, int flags, int exptime, byte[] value) {
        requireKey(key);
        requireUsable();
        try {
            long deadlineNs = System.nanoTime() + context.requestTimeoutNs();
            String numbers = " " + Integer.toUnsignedString(flags) + " " + exptime + " " + value.length + "\r\n";
            send(deadlineNs, MemcachedLink.ascii("set "), key, MemcachedLink.ascii(numbers), value, TextProtocol.CRLF);
            return stored(hash(key), link.readLine(deadlineNs), deadlineNs);
        } catch (KvException e) {
            throw failed(e);
        }
    }

    /**
     * Removes a value.
     *
     * @param key 1 to 250 bytes without blanks and control characters
     * @return true if there was one
     * @throws KvException if the server is gone
     */
    public boolean delete(byte[] key) {
        requireKey(key);
        requireUsable();
        try {
            long deadlineNs = System.nanoTime() + context.requestTimeoutNs();
            send(deadlineNs, MemcachedLink.ascii("delete "), key, TextProtocol.CRLF);
            String answer = link.readLine(deadlineNs);
            stags.remove(hash(key));
            return switch (answer) {
                case "DELETED" -> true;
                case "NOT_FOUND" -> false;
                default -> throw unexpected(answer, "delete");
            };
        } catch (KvException e) {
            throw failed(e);
        }
    }

    /**
     * Starts a READ of an item whose place is known. Allocates nothing.
     *
     * @param key the key; must not change until the result was delivered
     * @param tag given back with the result
     * @throws KvException if the server is gone
     */
    public StartStatus start(byte[] key, long tag) {
        requireUsable();
        return reader.start(hash(key), key, tag);
    }

    /**
     * Hands over the results of READs that were completed; does not wait, see {@link CompletionLoop#poll}. Allocates nothing.
     *
     * @param handler called once per result
     * @return the number of results
     * @throws KvException if the server is gone
     */
    public int deliver(ReadHandler handler) {
        int delivered = reader.deliver(handler, view);
        if (delivered == 0) {
            requireUsable();
        }
        return delivered;
    }

    /** READs that were started and not delivered. */
    public int outstanding() {
        return reader.outstanding();
    }

    /** Asks the server to write the item here; if even that cannot be, it is sent over the memcached connection. */
    private Optional<KvItem> getFromServer(long hash, byte[] key) {
        for (int attempt = 0; attempt < MAX_REGET; attempt++) {
            long deadlineNs = System.nanoTime() + context.requestTimeoutNs();
            counters.rgets++;
            lastOpaque++;
            send(
                    deadlineNs,
                    MemcachedLink.ascii("rget "),
                    key,
                    MemcachedLink.ascii(" " + Integer.toUnsignedString(reader.writeRkey()) + " "
                            + Long.toUnsignedString(reader.writeAddress()) + " " + reader.maxItemLength() + " "
                            + lastOpaque + "\r\n"));
            awaitAnswer(lastOpaque, deadlineNs);
            switch (reader.answerStatus()) {
                case AnswerDescriptor.NOT_FOUND -> {
                    return Optional.empty();
                }
                case AnswerDescriptor.FOUND -> {
                    requireArena(Locator.rkey(reader.answerFirst()), deadlineNs);
                    if (reader.checkWritten(hash, key) == ReadOutcome.HIT) {
                        return Optional.of(reader.copyBlocking(view));
                    }
                }
                case AnswerDescriptor.BUFFER_TOO_SMALL -> attempt = MAX_REGET;
                default ->
                    throw new KvException(link.name() + " answered an rget with status " + reader.answerStatus());
            }
        }
        return getOverTcp(key);
    }

    private Optional<KvItem> getOverTcp(byte[] key) {
        counters.tcpGets++;
        long deadlineNs = System.nanoTime() + context.requestTimeoutNs();
        send(deadlineNs, MemcachedLink.ascii("gets "), key, TextProtocol.CRLF);
        String answer = link.readLine(deadlineNs);
        if (answer.equals("END")) {
            return Optional.empty();
        }
        String[] words = answer.split(" ", -1);
        if (words.length != 5 || !words[0].equals("VALUE")) {
            throw unexpected(answer, "gets");
        }
        try {
            byte[] value = new byte[valueLength(words[3])];
            link.readFully(value, deadlineNs);
            byte[] rest = new byte[TextProtocol.CRLF.length + TextProtocol.END.length];
            link.readFully(rest, deadlineNs);
            return Optional.of(new KvItem(value, Integer.parseUnsignedInt(words[2]), Long.parseUnsignedLong(words[4])));
        } catch (NumberFormatException e) {
            throw unexpected(answer, "gets");
        }
    }

    /** Never allocate by a length that a peer sent, beyond what a server can have. */
    private int valueLength(String word) {
        int length = Integer.parseInt(word);
        if (length < 0 || length > Locator.MAX_ITEM_LENGTH) {
            throw new KvException(link.name() + " answered a value of " + word + " bytes");
        }
        return length;
    }

    private SetStatus stored(long hash, String answer, long deadlineNs) {
        String prefix = "STORED ";
        if (answer.startsWith(prefix)) {
            Locator locator;
            try {
                locator = Locator.ofHex(answer.substring(prefix.length()));
            } catch (IllegalArgumentException e) {
                throw new KvException(link.name() + " answered set with a bad locator: " + answer, e);
            }
            requireArena(locator.rkey(), deadlineNs);
            stags.put(hash, locator.first(), locator.second());
            return SetStatus.STORED;
        }
        stags.remove(hash);
        return switch (answer) {
            case "SERVER_ERROR out of memory storing object" -> SetStatus.OUT_OF_MEMORY;
            case "SERVER_ERROR object too large for cache" -> SetStatus.TOO_LARGE;
            default -> throw unexpected(answer, "set");
        };
    }

    private void requireArena(int rkey, long deadlineNs) {
        if (!arenas.knows(rkey)) {
            loadArenas(deadlineNs);
        }
    }

    private void loadArenas(long deadlineNs) {
        send(deadlineNs, MemcachedLink.ascii("rdma arenas"), TextProtocol.CRLF);
        for (String answer = link.readLine(deadlineNs); !answer.equals("END"); answer = link.readLine(deadlineNs)) {
            String[] words = answer.split(" ", -1);
            if (words.length != 4 || !words[0].equals("ARENA")) {
                throw unexpected(answer, "rdma arenas");
            }
            try {
                arenas.put(new RemoteRegion(
                        Long.parseUnsignedLong(words[2]),
                        Long.parseLong(words[3]),
                        Integer.parseUnsignedInt(words[1])));
            } catch (NumberFormatException e) {
                throw unexpected(answer, "rdma arenas");
            }
        }
    }

    private String[] parseHello(String answer) {
        String[] words = answer.split(" ", -1);
        if (answer.equals("ERROR")) {
            throw new KvException(link.name() + " is a memcached without RDMA: it does not know 'rdma hello'");
        }
        if (words.length != 6
                || !words[0].equals("RDMA")
                || !words[2].matches("[0-9]{1,5}")
                || !words[3].matches("[0-9a-f]{" + 2 * HelloDescriptor.TOKEN_LENGTH + "}")) {
            throw unexpected(answer, "rdma hello");
        }
        if (!words[5].equals("arena")) {
            throw new KvException(link.name() + " registers memory by " + words[5] + ", this client knows arena only");
        }
        return words;
    }

    private void awaitAnswer(long opaque, long deadlineNs) {
        long before = reader.answers();
        while (reader.answers() == before) {
            if (link.hasInput()) {
                throw unexpected(link.readLine(deadlineNs), "rget");
            }
            await(deadlineNs);
        }
        if (reader.answerOpaque() != opaque) {
            throw new KvException(link.name() + " answered request " + reader.answerOpaque() + " instead of " + opaque);
        }
    }

    private void await(long deadlineNs) {
        long leftNs = deadlineNs - System.nanoTime();
        if (leftNs <= 0) {
            throw new KvException(link.name() + " did not answer in time");
        }
        loop.await(Math.min(leftNs, WAIT_SLICE_NS));
        String reason = reader.failure();
        if (reason != null) {
            throw new KvException(link.name() + " is gone: " + reason);
        }
    }

    private void send(long deadlineNs, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        if (request.capacity() < length) {
            request = ByteBuffer.allocateDirect(length);
        }
        request.clear();
        for (byte[] part : parts) {
            request.put(part);
        }
        link.send(request.flip(), deadlineNs);
    }

    private void requireUsable() {
        if (failure == null) {
            String reason = reader.failure();
            if (reason == null) {
                return;
            }
            failure = new KvException(link.name() + " is gone: " + reason);
        }
        throw failure;
    }

    /** Remembers the first failure: the connection may be in the middle of an answer, so nothing can follow. */
    private KvException failed(KvException e) {
        if (failure == null) {
            failure = e;
        }
        return e;
    }

    private KvException unexpected(String answer, String command) {
        return new KvException(link.name() + " answered " + command + " with '" + answer + "'");
    }

    private long hash(byte[] key) {
        return KeyHash.hash(key, 0, key.length, hashSeed);
    }

    private static void requireKey(byte[] key) {
        if (key.length < 1 || key.length > TextProtocol.MAX_KEY_LENGTH) {
            throw new IllegalArgumentException("key of " + key.length + " bytes, expected 1 to 250");
        }
        for (byte b : key) {
            if ((b >= 0 && b <= ' ') || b == 0x7F) {
                throw new IllegalArgumentException("key with a blank or control character: byte " + b);
            }
        }
    }

    @Override
    public void close() {
        owned.close();
        if (ownsLoop) {
            loop.close();
        }
    }
}
