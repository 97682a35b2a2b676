package org.softrdma.kv.client;

import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.client.network.ClientNetwork;
import org.softrdma.kv.client.place.KnownItems;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.Refusal;
import org.softrdma.kv.message.TokenPlace;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRejectedException;

/**
 * A client's connection to a server, from connecting to the first failure: the memcached connection with the requests
 * that wait for answers on it, and unless the server is a plain one the queue pair. Requests are sent without waiting
 * for the answers of others; whoever waits calls {@link #turn} and {@link #await}. Owned by the thread of its client.
 */
final class KvConnection implements AutoCloseable {
    private static final long WAIT_SLICE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long MIXED_WAIT_SLICE_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long LAST_TOUCHES_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final byte[] HELLO = TextProtocol.line("rdma hello " + HelloDescriptor.VERSION);
    private static final byte[] VERSION = TextProtocol.line("version");
    private static final byte[] META_NOOP = TextProtocol.line("mn");

    private static final int TURNS_PER_LOOK = 64;

    /** As much may wait to be sent before further requests wait themselves. */
    private static final int MAX_QUEUED_BYTES = 1 << 20;

    private final @Nullable CompletionLoop loop;
    private final KvClientContext context;
    private final NanoClock clock;
    private final KvClientCounters counters;
    private final CloseStack owned = new CloseStack();
    private final MemcachedLink link;
    private final Dialogue dialogue;
    private final ItemPlaces places;
    private final @Nullable RemoteReader reader;
    private final ArrayDeque<Parked> parked = new ArrayDeque<>();
    private final String bootId;
    private final String plainReason;
    private long nextCheckNs = Long.MAX_VALUE;
    private int turns;

    /** A get that waits for a slot, and how it is sent then. */
    private record Parked(Pending request, Runnable again) {}

    /**
     * Connects.
     *
     * @param loop needed for READs
     * @param context concluded
     * @param network for the memcached connection
     * @param known of the server, from earlier connections and other clients of the loop
     * @throws KvException if there is no such server
     */
    KvConnection(
            @Nullable CompletionLoop loop,
            KvClientContext context,
            ClientNetwork network,
            KvClientCounters counters,
            KnownItems known) {
        this.loop = loop;
        this.context = context;
        this.clock = context.nanoClock();
        this.counters = counters;
        try {
            link = owned.add(new MemcachedLink(context.server(), network, clock, context.connectTimeoutNs()));
            dialogue = new Dialogue(link);
            places = new ItemPlaces(link, dialogue, known);
            logIn();
            ServerHello hello = greet();
            known.reached(hello.bootId());
            this.bootId = hello.bootId();
            @Nullable RemoteReader made = null;
            String reason = hello.plainReason();
            if (loop != null && !hello.isPlain()) {
                try {
                    made = owned.add(new RemoteReader(loop, context, hello, places, counters));
                } catch (VerbsException e) {
                    reason = "answers on its memcached port, but no queue pair could be connected to port "
                            + hello.port() + ": " + e.getMessage() + refusal(e);
                    if (context.protocol() == KvProtocol.RDMA) {
                        throw new KvException(link.name() + " " + reason, e);
                    }
                }
            }
            if (loop != null && made != null) {
                bind(made, loop, hello.token());
            }
            this.reader = made;
            this.plainReason = reason;
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
        counters.connections++;
    }

    /** Logs in if there is somebody to, and the server asks who it is: another one would store the password. */
    private void logIn() {
        ClientLogin login = context.login();
        if (login == null) {
            return;
        }
        long deadlineNs = clock.nanoTime() + context.connectTimeoutNs();
        link.write(VERSION);
        if (!answer(deadlineNs).equals(ServerHello.LOGIN_WANTED)) {
            return;
        }
        login.send(link);
        String answer = answer(deadlineNs);
        if (!answer.equals("STORED")) {
            throw new KvException(link.name() + " refused the login of " + login + ": '" + answer
                    + "'; expected a user and a password that it knows (-Y)");
        }
    }

    /** The answer to what was written to the link, one line. */
    private String answer(long deadlineNs) {
        @Nullable String[] answer = new String[1];
        dialogue.expect(new Exchange(null) {
            @Override
            Next line(String line) {
                answer[0] = line;
                return Next.NOTHING;
            }
        });
        connectUntil(() -> answer[0] != null, deadlineNs);
        return Objects.requireNonNull(answer[0]);
    }

    private ServerHello greet() {
        if (context.protocol() == KvProtocol.PLAIN) {
            return ServerHello.plain("asked for");
        }
        if (loop == null) {
            return ServerHello.plain("is not asked for its items: this client has no device");
        }
        if (!context.mayRead()) {
            return ServerHello.plain("is not asked for its items: READs are not encrypted, and with TLS they have to be"
                    + " allowed (KvClientContext.clearReads, or --clear-reads of kv)");
        }
        long deadlineNs = clock.nanoTime() + context.connectTimeoutNs();
        ServerHello hello = askHello(deadlineNs);
        if (!hello.isPlain() && !canShow(hello, loop)) {
            hello = hello.butPlain(
                    "wants to see the token in the private data of the connect, and this client's device has none:"
                            + " use a device, or a provider for it, that has");
        }
        if (hello.isPlain() && context.protocol() == KvProtocol.RDMA) {
            throw new KvException(link.name() + " " + hello.plainReason());
        }
        if (!hello.isPlain()) {
            places.registration(hello.registration());
            connectUntil(() -> !places.isLoading(), deadlineNs);
        }
        return hello;
    }

    private ServerHello askHello(long deadlineNs) {
        link.write(HELLO);
        return ServerHello.parse(answer(deadlineNs), link.name());
    }

    private static boolean canShow(ServerHello hello, CompletionLoop itsLoop) {
        return hello.tokenPlace() == TokenPlace.SEND
                || TokenPlace.on(itsLoop.members().device().capabilities().maxPrivateData()) == TokenPlace.PRIVATE_DATA;
    }

    /** Says on the queue pair whose it is, and waits for the answer. */
    private void bind(RemoteReader made, CompletionLoop itsLoop, String token) {
        made.talk().sendHello(token);
        long deadlineNs = clock.nanoTime() + context.connectTimeoutNs();
        while (!made.talk().isBound()) {
            requireTime(deadlineNs);
            itsLoop.await(WAIT_SLICE_NS);
            dialogue.takeAnswers();
            requireAlive(made);
        }
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

    /** Where items are. */
    ItemPlaces places() {
        return places;
    }

    KvClientCounters counters() {
        return counters;
    }

    /** A number that changes when the server restarts; empty if the server is a plain one. */
    String bootId() {
        return bootId;
    }

    /** Why there is no queue pair, following the name of the server. */
    String plainReason() {
        return plainReason;
    }

    /** A request that has begun is about to be sent. */
    void begin(Pending request) {
        request.limit(clock.nanoTime(), context.requestTimeoutNs());
        nextCheckNs = Math.min(nextCheckNs, request.deadlineNs());
    }

    /** Takes what was written to the link as a request whose answer is the next one. */
    void expect(Exchange exchange) {
        dialogue.expect(exchange);
    }

    /**
     * What was written to the link is a request without an answer. It counts as a write on its way until the server has
     * answered something that was sent behind it, which is asked for here if there are READs that could overtake it.
     *
     * @param hash of the key, or {@link ItemPlaces#ALL_KEYS}
     */
    void sentNoreply(long hash) {
        dialogue.expectNothing();
        if (reader == null) {
            return;
        }
        places.beginWrite(hash);
        link.write(META_NOOP);
        dialogue.expect(new Exchange(null) {
            @Override
            Next line(String line) {
                if (!line.equals("MN")) {
                    throw unexpected(line, "mn");
                }
                places.endWrite(hash);
                return Next.NOTHING;
            }
        });
    }

    /** Keeps a get until there is a slot for it. */
    void park(Pending request, Runnable again) {
        parked.add(new Parked(request, again));
    }

    /** True if further requests may be sent; otherwise there is enough that the server does not take. */
    boolean hasRoom() {
        return link.queued() < MAX_QUEUED_BYTES && parked.isEmpty();
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
            dialogue.takeAnswers();
        }
        while (!parked.isEmpty() && reader != null && reader.hasFreeSlot()) {
            Parked next = parked.remove();
            if (!next.request.isDone()) {
                next.again.run();
            }
        }
        sendQueued();
        long nowNs = clock.nanoTime();
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
        return dialogue.isWaiting()
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
        long leftNs = Math.max(0, Math.min(deadlineNs, nextCheckNs) - clock.nanoTime());
        boolean tcp = dialogue.isWaiting() || link.queued() > 0;
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
        return reader == null ? leftNs : Math.min(leftNs, reader.talk().nextReportNs(nowNs));
    }

    private void checkDeadlines(long nowNs) {
        DeadlineCheck check = new DeadlineCheck(nowNs);
        dialogue.check(check);
        parked.removeIf(waiting -> check.isOver(waiting.request));
        if (reader != null) {
            reader.check(check);
        }
        nextCheckNs = check.nextNs();
        if (!check.isAlive()) {
            throw new KvTimeoutException(link.name() + " did not answer in time");
        }
    }

    private void connectUntil(BooleanSupplier condition, long deadlineNs) {
        while (!condition.getAsBoolean()) {
            requireTime(deadlineNs);
            link.flush();
            link.await(Math.min(deadlineNs - clock.nanoTime(), WAIT_SLICE_NS));
            dialogue.takeAnswers();
        }
    }

    private void requireTime(long deadlineNs) {
        if (clock.nanoTime() - deadlineNs >= 0) {
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
        dialogue.fail(reason);
        for (Parked waiting : parked) {
            waiting.request.fail(reason);
        }
        if (reader != null) {
            reader.fail(reason);
        }
    }

    /** For an answer that is not in the protocol. */
    KvException unexpected(String line, String command) {
        return dialogue.unexpected(line, command);
    }

    /** Tells the server of the last READs, within a short time; before a close that is not due to a failure. */
    void finishTouches() {
        if (reader != null) {
            reader.finishTouches(clock.nanoTime() + LAST_TOUCHES_NS);
        }
    }

    @Override
    public void close() {
        owned.close();
    }
}
