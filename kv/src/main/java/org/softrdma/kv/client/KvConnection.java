package org.softrdma.kv.client;

import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.agrona.collections.Long2LongCounterMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.item.KeyHash;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.Refusal;
import org.softrdma.kv.message.TokenPlace;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRejectedException;

/**
 * A client's connection to a server, from connecting to the first failure: the memcached connection with the requests that
 * wait for answers on it, and unless the server is a plain one the queue pair. Requests are sent without waiting for the
 * answers of others; whoever waits calls {@link #turn} and {@link #await}. Owned by the thread of its client.
 */
final class KvConnection implements AutoCloseable {
    private static final long WAIT_SLICE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long MIXED_WAIT_SLICE_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long LAST_TOUCHES_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int HELLO_WORDS = 7;
    private static final Pattern OTHER_VERSION =
            Pattern.compile("CLIENT_ERROR rdma version (?:[0-9]+ )?not supported, expected ([0-9]{1,9})");
    private static final String REFUSED = "CLIENT_ERROR rdma refused";
    private static final byte[] META_NOOP = TextProtocol.line("mn");

    private static final int TURNS_PER_LOOK = 64;
    private static final int READS_PER_TURN = 64;

    /** What is allocated for a value before any of it has come; more only as it comes, whatever the server announces. */
    private static final int FIRST_VALUE_BYTES = 1 << 20;

    /** In place of a hash, which never is this. */
    static final long ALL_KEYS = 0;

    /** As much may wait to be sent before further requests wait themselves. */
    private static final int MAX_QUEUED_BYTES = 1 << 20;

    private final @Nullable CompletionLoop loop;
    private final KvClientContext context;
    private final KvClientCounters counters;
    private final KnownItems known;
    private final CloseStack owned = new CloseStack();
    private final MemcachedLink link;
    private final @Nullable RemoteReader reader;
    private final ArrayDeque<Exchange> exchanges = new ArrayDeque<>();
    private final ArrayDeque<GetRequest> parked = new ArrayDeque<>();
    private final Long2LongCounterMap writes = new Long2LongCounterMap(0);
    private final String bootId;
    private final String plainReason;
    private Registration registration = new ArenaTable();
    private boolean noreplySent;
    private boolean loadingArenas;
    private long nextCheckNs = Long.MAX_VALUE;
    private int turns;

    private byte @Nullable [] value;
    private int valueLength;
    private int valueFilled;
    private boolean valueEnds;

    /**
     * Connects.
     *
     * @param loop needed unless the protocol is PLAIN
     * @param context concluded
     * @param selector for the memcached connection
     * @param known of the server, from earlier connections and other clients of the loop
     * @throws KvException if there is no such server
     */
    KvConnection(
            @Nullable CompletionLoop loop,
            KvClientContext context,
            Selector selector,
            KvClientCounters counters,
            KnownItems known) {
        this.loop = loop;
        this.context = context;
        this.counters = counters;
        this.known = known;
        try {
            link = owned.add(new MemcachedLink(context.server(), selector, context.connectTimeoutNs()));
            Hello hello = new Hello();
            if (loop != null && context.protocol() != KvProtocol.PLAIN) {
                greet(hello, System.nanoTime() + context.connectTimeoutNs());
            }
            known.reached(hello.bootId);
            this.bootId = hello.bootId;
            this.reader = hello.token.isEmpty() || loop == null ? null : connectReader(loop, hello);
            this.plainReason = hello.plainReason;
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
        counters.connections++;
    }

    /** What the server said to {@code rdma hello}. */
    private static final class Hello {
        private String bootId = "";
        private String token = "";
        private int port;
        private TokenPlace tokenPlace = TokenPlace.PRIVATE_DATA;
        private String plainReason = "asked for";
        private boolean answered;
    }

    private void greet(Hello hello, long deadlineNs) {
        link.write(KvRequest.ascii("rdma hello " + HelloDescriptor.VERSION));
        link.write(TextProtocol.CRLF);
        expect(new Exchange(null) {
            @Override
            Next line(String line) {
                parseHello(hello, line);
                return Next.NOTHING;
            }
        });
        connectUntil(() -> hello.answered, deadlineNs);
        if (!hello.token.isEmpty() && !canShow(hello)) {
            hello.token = "";
            hello.plainReason =
                    "wants to see the token in the private data of the connect, and this client's device has none:"
                            + " use a device, or a provider for it, that has";
        }
        if (hello.token.isEmpty() && context.protocol() == KvProtocol.RDMA) {
            throw new KvException(link.name() + " " + hello.plainReason);
        }
        if (!hello.token.isEmpty()) {
            loadArenas();
            connectUntil(() -> !loadingArenas, deadlineNs);
        }
    }

    private boolean canShow(Hello hello) {
        return hello.tokenPlace == TokenPlace.SEND
                || (loop != null
                        && TokenPlace.on(loop.device().capabilities().maxPrivateData()) == TokenPlace.PRIVATE_DATA);
    }

    private @Nullable RemoteReader connectReader(CompletionLoop itsLoop, Hello hello) {
        InetSocketAddress address = new InetSocketAddress(context.server().getAddress(), hello.port);
        byte[] shown =
                hello.tokenPlace == TokenPlace.PRIVATE_DATA ? HelloDescriptor.privateData(hello.token) : new byte[0];
        RemoteReader made;
        try {
            made = new RemoteReader(this, itsLoop, context, address, shown, known, registration, counters);
        } catch (VerbsException e) {
            String reason = "answers on its memcached port, but no queue pair could be connected to port " + hello.port
                    + ": " + e.getMessage() + refusal(e);
            if (context.protocol() == KvProtocol.RDMA) {
                throw new KvException(link.name() + " " + reason, e);
            }
            hello.plainReason = reason;
            return null;
        }
        owned.add(made);
        made.sendHello(hello.token);
        long deadlineNs = System.nanoTime() + context.connectTimeoutNs();
        while (!made.isBound()) {
            requireTime(deadlineNs);
            itsLoop.await(WAIT_SLICE_NS);
            takeAnswers();
            requireAlive(made);
        }
        return made;
    }

    /** What the server says about a rejection, to follow what the device says. */
    private static String refusal(VerbsException e) {
        String text = e instanceof ConnectionRejectedException rejected ? Refusal.textOf(rejected.privateData()) : "";
        return text.isEmpty() ? "" : ": " + text;
    }

    /** The server, for messages. */
    String name() {
        return link.name();
    }

    MemcachedLink link() {
        return link;
    }

    /** The queue pair, or null if the server is used as a plain one. */
    @Nullable
    RemoteReader reader() {
        return reader;
    }

    KvClientCounters counters() {
        return counters;
    }

    /** A number that is another one after the server was restarted; empty if the server is a plain one. */
    String bootId() {
        return bootId;
    }

    /** Why there is no queue pair, following the name of the server. */
    String plainReason() {
        return plainReason;
    }

    long hash(byte[] key) {
        return KeyHash.hash(key, 0, key.length, known.hashSeed());
    }

    /** Sends a request that has begun. */
    void send(KvRequest<?> request, long nowNs) {
        request.limit(nowNs, context.requestTimeoutNs());
        nextCheckNs = Math.min(nextCheckNs, request.deadlineNs());
        request.send(this);
    }

    /** Sends a part of a request. */
    void sendPart(GetRequest part, KvRequest<?> whole) {
        part.limitLike(whole);
        part.send(this);
    }

    /** Takes what was written to the link as a request whose answer is the next one. */
    void expect(Exchange exchange) {
        exchange.setBehindNoreply(noreplySent);
        noreplySent = false;
        exchanges.add(exchange);
    }

    /**
     * What was written to the link is a request without an answer. It counts as a write on its way until the server has
     * answered something that was sent behind it, which is asked for here if there are READs that could overtake it.
     *
     * @param hash of the key, or {@link #ALL_KEYS}
     */
    void sentNoreply(long hash) {
        noreplySent = true;
        if (reader == null) {
            return;
        }
        beginWrite(hash);
        link.write(META_NOOP);
        expect(new Exchange(null) {
            @Override
            Next line(String line) {
                if (!line.equals("MN")) {
                    throw unexpected(line, "mn");
                }
                endWrite(hash);
                return Next.NOTHING;
            }
        });
    }

    /** Keeps a get until there is a slot for it. */
    void park(GetRequest request) {
        parked.add(request);
    }

    /** A request that changes a value is on its way, or one that changes all: {@link #ALL_KEYS}. */
    void beginWrite(long hash) {
        writes.incrementAndGet(hash);
    }

    /** It was answered. */
    void endWrite(long hash) {
        writes.decrementAndGet(hash);
    }

    /** True if such a request is on its way: what is known of the place may be out of date behind it. */
    boolean isBeingWritten(long hash) {
        return writes.get(hash) != 0 || writes.get(ALL_KEYS) != 0;
    }

    void forget(long hash) {
        known.locators().remove(hash);
    }

    void forgetAll() {
        known.locators().clear();
    }

    /** Remembers where a stored value is. */
    void learn(long hash, String hex) {
        if (reader == null) {
            return;
        }
        Locator locator;
        try {
            locator = Locator.ofHex(hex);
        } catch (IllegalArgumentException e) {
            throw new KvException(link.name() + " answered with a bad locator: " + hex, e);
        }
        learnArena(locator.rkey());
        if (!isBeingWritten(hash)) {
            known.locators().put(hash, locator.first(), locator.second());
        }
    }

    /** Asks the server about its arenas if it named one that is not known; until then its items count as unknown. */
    void learnArena(int rkey) {
        if (!registration.knows(rkey) && !loadingArenas) {
            loadArenas();
        }
    }

    private void loadArenas() {
        loadingArenas = true;
        link.write(KvRequest.ascii("rdma arenas"));
        link.write(TextProtocol.CRLF);
        expect(new Exchange(null) {
            @Override
            Next line(String line) {
                if (line.equals("END")) {
                    loadingArenas = false;
                    return Next.NOTHING;
                }
                parseArena(line);
                return Next.LINE;
            }
        });
    }

    private void parseArena(String line) {
        boolean known;
        try {
            known = registration.add(line.split(" ", -1));
        } catch (NumberFormatException e) {
            known = false;
        }
        if (!known) {
            throw unexpected(line, "rdma arenas");
        }
    }

    private void parseHello(Hello hello, String line) {
        hello.answered = true;
        String[] words = line.split(" ", -1);
        if (line.equals("ERROR")) {
            hello.plainReason = "is a memcached without RDMA: it does not know 'rdma hello'";
            return;
        }
        Matcher other = OTHER_VERSION.matcher(line);
        if (other.matches()) {
            hello.plainReason = "speaks version " + other.group(1) + " of 'rdma hello', and this client version "
                    + HelloDescriptor.VERSION + ": update the older of the two";
            return;
        }
        if (line.startsWith(REFUSED)) {
            hello.plainReason = "answered 'rdma hello' with '" + line + "'";
            return;
        }
        TokenPlace place = TokenPlace.of(words[words.length - 1]).orElse(null);
        if (words.length != HELLO_WORDS
                || place == null
                || !words[0].equals("RDMA")
                || !words[1].equals(Integer.toString(HelloDescriptor.VERSION))
                || !words[2].matches("[0-9]{1,5}")
                || Integer.parseInt(words[2]) > 0xFFFF
                || !words[3].matches("[0-9a-f]{" + 2 * HelloDescriptor.TOKEN_LENGTH + "}")) {
            throw unexpected(line, "rdma hello");
        }
        @Nullable Registration named = Registration.of(words[5]);
        if (named == null) {
            throw new KvException(
                    link.name() + " registers memory by " + words[5] + ", this client knows arena and chunk only");
        }
        registration = named;
        hello.port = Integer.parseInt(words[2]);
        hello.token = words[3];
        hello.bootId = words[4];
        hello.tokenPlace = place;
    }

    /** True if further requests may be sent; otherwise there is enough that the server does not take. */
    boolean hasRoom() {
        return link.queued() < MAX_QUEUED_BYTES && parked.isEmpty();
    }

    /** True if a request waits for the server. */
    boolean isBusy() {
        return !exchanges.isEmpty() || !parked.isEmpty() || (reader != null && reader.hasRequests());
    }

    /**
     * Sends what is to be sent and takes what has come. Does not wait.
     *
     * @throws KvException if the connection is of no use any more
     */
    void turn() {
        sendQueued();
        if (reader != null && loop != null) {
            loop.poll();
            requireAlive(reader);
        }
        if (mayHaveAnswers()) {
            takeAnswers();
        }
        while (!parked.isEmpty() && reader != null && reader.hasFreeSlot()) {
            GetRequest request = parked.remove();
            if (!request.isDone()) {
                request.send(this);
            }
        }
        sendQueued();
        long nowNs = System.nanoTime();
        if (reader != null) {
            reader.reportTouches(nowNs);
        }
        if (nowNs - nextCheckNs >= 0) {
            checkDeadlines(nowNs);
        }
    }

    /** False while only READs are on their way: looking for answers costs a system call, and now and then is enough. */
    private boolean mayHaveAnswers() {
        turns++;
        return !exchanges.isEmpty()
                || reader == null
                || reader.rgetsOutstanding() > 0
                || link.isReady()
                || turns % TURNS_PER_LOOK == 0;
    }

    private void sendQueued() {
        if (reader != null) {
            reader.flush();
        }
        link.flush();
    }

    /** Waits until there is something to do for {@link #turn}, or somebody else's time is over. */
    void await(long deadlineNs) {
        long leftNs = Math.max(0, Math.min(deadlineNs, nextCheckNs) - System.nanoTime());
        boolean tcp = !exchanges.isEmpty() || link.queued() > 0;
        if (reader == null || loop == null || !reader.hasRequests()) {
            link.await(Math.min(leftNs, WAIT_SLICE_NS));
        } else if (tcp) {
            loop.await(Math.min(leftNs, MIXED_WAIT_SLICE_NS));
        } else {
            loop.await(Math.min(leftNs, WAIT_SLICE_NS));
        }
    }

    /** How long there is nothing to do unless the server or the device has something, at most this. */
    long idleNs(long nowNs, long mostNs) {
        long leftNs = Math.clamp(nextCheckNs - nowNs, 0, mostNs);
        return reader == null ? leftNs : Math.min(leftNs, reader.nextReportNs(nowNs));
    }

    private void takeAnswers() {
        int reads = 0;
        // What the socket has besides is for the next turn: a server that keeps sending must not stop the clock.
        while (link.hasReceived() || (reads++ < READS_PER_TURN && link.receive())) {
            Exchange exchange = exchanges.peek();
            if (value != null && exchange != null) {
                takeValue(exchange, value);
                continue;
            }
            String line = link.line();
            if (line == null) {
                continue;
            }
            if (exchange == null) {
                throw unexpected(line, "nothing");
            }
            if (valueEnds) {
                valueEnds = false;
                if (!line.isEmpty()) {
                    throw unexpected(line, "a value's end");
                }
                continue;
            }
            takeLine(exchange, line);
        }
    }

    private void takeLine(Exchange exchange, String line) {
        if (exchange.isBehindNoreply() && Exchange.isError(line)) {
            throw new KvException(
                    link.name() + " complained about a request that wants no answer, or the one behind it: " + line);
        }
        exchange.setBehindNoreply(false);
        switch (exchange.line(line)) {
            case LINE -> {}
            case VALUE -> {
                valueLength = exchange.valueLength();
                value = new byte[Math.min(valueLength, FIRST_VALUE_BYTES)];
                valueFilled = 0;
            }
            case NOTHING -> exchanges.remove();
        }
    }

    private void takeValue(Exchange exchange, byte[] target) {
        valueFilled = link.take(target, valueFilled);
        if (valueFilled == valueLength) {
            value = null;
            valueEnds = true;
            exchange.value(target);
        } else if (valueFilled == target.length) {
            value = Arrays.copyOf(target, (int) Math.min(valueLength, 2L * target.length));
        }
    }

    private void checkDeadlines(long nowNs) {
        boolean alive = true;
        long next = Long.MAX_VALUE;
        for (Exchange exchange : exchanges) {
            KvRequest<?> request = exchange.request();
            if (request != null) {
                request.checkDeadline(nowNs);
                alive &= nowNs - request.patienceEndNs() < 0;
                next = Math.min(next, request.nextCheckNs());
            }
        }
        for (Iterator<GetRequest> waiting = parked.iterator(); waiting.hasNext(); ) {
            GetRequest request = waiting.next();
            request.checkDeadline(nowNs);
            if (request.isDone()) {
                waiting.remove();
            } else {
                next = Math.min(next, request.nextCheckNs());
            }
        }
        if (reader != null) {
            alive &= reader.checkDeadlines(nowNs);
            next = Math.min(next, reader.nextCheckNs());
        }
        nextCheckNs = next;
        if (!alive) {
            throw new KvTimeoutException(link.name() + " did not answer in time");
        }
    }

    private void connectUntil(BooleanSupplier condition, long deadlineNs) {
        while (!condition.getAsBoolean()) {
            requireTime(deadlineNs);
            link.flush();
            link.await(Math.min(deadlineNs - System.nanoTime(), WAIT_SLICE_NS));
            takeAnswers();
        }
    }

    private void requireTime(long deadlineNs) {
        if (System.nanoTime() - deadlineNs >= 0) {
            throw new KvTimeoutException(link.name() + " did not answer in time");
        }
    }

    private void requireAlive(RemoteReader watched) {
        String reason = watched.failure();
        if (reason != null) {
            throw new KvException(link.name() + " is gone: " + reason);
        }
    }

    /** Fails every request that waits. */
    void fail(KvException reason) {
        failAll(exchanges.stream().map(Exchange::request).toList(), reason);
        failAll(parked, reason);
        if (reader != null) {
            reader.fail(reason);
        }
    }

    private static void failAll(Iterable<? extends @Nullable KvRequest<?>> requests, KvException reason) {
        for (KvRequest<?> request : requests) {
            if (request != null) {
                request.fail(reason);
            }
        }
    }

    /** For an answer that is not in the protocol. */
    KvException unexpected(String line, String command) {
        return new KvException(link.name() + " answered " + command + " with '" + line + "'");
    }

    /** Tells the server of the last READs, within a short time; before a close that is not due to a failure. */
    void finishTouches() {
        if (reader != null) {
            reader.finishTouches(System.nanoTime() + LAST_TOUCHES_NS);
        }
    }

    @Override
    public void close() {
        owned.close();
    }
}
