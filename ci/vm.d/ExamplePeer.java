import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.DatagramListener;
import org.softrdma.verbs.cm.DatagramService;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/**
 * The other end of the examples of rdma-core, by the soft RNIC with wire=roce.
 *
 * <pre>
 *   ExamplePeer pingpong connect|listen OWN PEER rc|uc|ud HOST PORT TRANSFER_UNIT ROUNDS SIZE...
 *   ExamplePeer ucmatose connect|listen OWN PEER PORT CONNECTIONS MESSAGES SIZE
 *   ExamplePeer udaddy connect|listen OWN PEER PORT CONNECTIONS MESSAGES SIZE
 * </pre>
 *
 * OWN and PEER are addresses of RoCE. Every byte that comes back is checked: the examples send what they have received. Ends with 1 and a
 * reason if anything is wrong.
 *
 * <p>ibv_*_pingpong exchanges addresses over TCP at HOST and PORT, one connection for each size. Before it has received anything it sends
 * 0x7b; of each page the first byte is 0.
 */
public final class ExamplePeer {
    private static final long SEED = 4711;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int PAGE = 4096;
    private static final byte FILLED = 0x7b;
    private static final int PINGPONG_QUEUE_KEY = 0x11111111;
    /** "lid:number:sequence:gid" in hexadecimal, and a zero byte. */
    private static final int ADDRESS_LENGTH = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1;

    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final Random random = new Random(SEED);

    private ExamplePeer(VerbsDevice device, ProtectionDomain domain) {
        this.device = device;
        this.domain = domain;
    }

    public static void main(String[] arguments) throws Exception {
        List<String> rest = new ArrayList<>(List.of(arguments));
        String program = rest.removeFirst();
        boolean listens = rest.removeFirst().equals("listen");
        String own = rest.removeFirst();
        InetAddress peer = InetAddress.getByName(rest.removeFirst());
        try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of("wire", "roce", "roce-address", own));
                ProtectionDomain domain = device.allocateProtectionDomain()) {
            ExamplePeer end = new ExamplePeer(device, domain);
            if (program.equals("pingpong")) {
                QueuePairType type = type(rest.removeFirst());
                InetAddress host = InetAddress.getByName(rest.removeFirst());
                int[] numbers = numbers(rest);
                end.pingPong(listens, type, peer, new InetSocketAddress(host, numbers[0]), numbers);
            } else {
                int[] numbers = numbers(rest);
                InetSocketAddress service =
                        new InetSocketAddress(listens ? InetAddress.getByName(own) : peer, numbers[0]);
                switch (program) {
                    case "ucmatose" -> end.connections(listens, service, numbers[1], numbers[2], numbers[3]);
                    case "udaddy" -> end.datagrams(listens, service, numbers[1], numbers[2], numbers[3]);
                    default -> throw new IllegalArgumentException(program);
                }
            }
        } catch (Throwable wrong) {
            wrong.printStackTrace(System.out);
            System.out.println("WRONG: " + wrong);
            System.exit(1);
        }
    }

    private static int[] numbers(List<String> words) {
        return words.stream().mapToInt(Integer::parseInt).toArray();
    }

    private static QueuePairType type(String name) {
        return switch (name) {
            case "rc" -> QueuePairType.RELIABLE_CONNECTION;
            case "uc" -> QueuePairType.UNRELIABLE_CONNECTION;
            case "ud" -> QueuePairType.UNRELIABLE_DATAGRAM;
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void require(boolean right, String what) {
        if (!right) {
            throw new AssertionError(what);
        }
    }

    private static void accepted(PostStatus status) {
        require(status == PostStatus.ACCEPTED, "a post gave " + status);
    }

    /** Registered memory and a completion queue of a queue pair. */
    private final class Place implements AutoCloseable {
        final HostMemory memory;
        final MemoryRegion region;
        final CompletionQueue queue;
        private final WorkCompletion[] one = {new WorkCompletion()};

        Place(long length, int completions) {
            memory = device.allocateMemory(length);
            region = domain.register(memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE));
            queue = device.createCompletionQueue(completions);
        }

        /** The next completion, which must be a success. */
        WorkCompletion next(String what) {
            long endNs = System.nanoTime() + DEADLINE_NS;
            while (queue.poll(one, 1) == 0) {
                require(System.nanoTime() - endNs < 0, "waited in vain for " + what);
                LockSupport.parkNanos(20_000);
            }
            require(one[0].isSuccess(), what + " ended with " + one[0].status());
            return one[0];
        }

        void put(long at, byte[] bytes) {
            MemorySegment.copy(bytes, 0, memory.segment(), ValueLayout.JAVA_BYTE, at, bytes.length);
        }

        byte[] get(long at, int length) {
            return memory.segment().asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
        }

        @Override
        public void close() {
            queue.close();
            region.close();
            memory.close();
        }
    }

    // ---- ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong

    private void pingPong(
            boolean listens, QueuePairType type, InetAddress peer, InetSocketAddress exchange, int[] settings)
            throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            if (listens) {
                server.bind(exchange);
            }
            say(listens ? "listening" : "connecting");
            for (int i = 3; i < settings.length; i++) {
                PingPong one = new PingPong(type, peer, settings[1], settings[2], settings[i]);
                if (listens) {
                    one.listen(server);
                } else {
                    one.connect(exchange);
                }
                say(settings[i] + " bytes: " + settings[2] + " rounds");
            }
        }
    }

    /** What both ends of a queue pair do for one size. */
    private final class PingPong {
        private final QueuePairType type;
        private final InetAddress peerHost;
        private final int transferUnit;
        private final int rounds;
        private final int size;
        private final int header;
        private byte[] sent = {};

        PingPong(QueuePairType type, InetAddress peerHost, int transferUnit, int rounds, int size) {
            this.type = type;
            this.peerHost = peerHost;
            this.transferUnit = transferUnit;
            this.rounds = rounds;
            this.size = size;
            header = type == QueuePairType.UNRELIABLE_DATAGRAM ? RoutingHeader.LENGTH : 0;
        }

        void connect(InetSocketAddress exchange) throws IOException {
            try (Place place = new Place(2L * size + header, 8);
                    UnconnectedQueuePair pair = queuePair(place);
                    Socket socket = connected(exchange)) {
                receive(pair, place);
                tell(socket, pair);
                QueuePairAddress peer = ask(socket);
                receiveFrom(pair, peer);
                send(pair);
                socket.getOutputStream().write(DONE);
                connecting(pair, place, peer);
            }
        }

        void listen(ServerSocket server) throws IOException {
            try (Place place = new Place(2L * size + header, 8);
                    UnconnectedQueuePair pair = queuePair(place);
                    Socket socket = server.accept()) {
                receive(pair, place);
                QueuePairAddress peer = ask(socket);
                receiveFrom(pair, peer); // before the peer knows of it, and sends
                tell(socket, pair);
                require(Arrays.equals(DONE, socket.getInputStream().readNBytes(DONE.length)), "expected 'done'");
                send(pair);
                listening(pair, place, peer);
            }
        }

        private UnconnectedQueuePair queuePair(Place place) {
            return domain.createQueuePair(QueuePairAttributes.of(place.queue, QueuePairLimits.of(2, 2))
                    .withDatagrams(PINGPONG_QUEUE_KEY)
                    .withType(type));
        }

        /** The peer listens for one connection, then for that of the next size. */
        private Socket connected(InetSocketAddress there) throws IOException {
            long endNs = System.nanoTime() + DEADLINE_NS;
            while (true) {
                try {
                    return new Socket(there.getAddress(), there.getPort());
                } catch (ConnectException e) {
                    if (System.nanoTime() - endNs > 0) {
                        throw e;
                    }
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
                }
            }
        }

        private void tell(Socket socket, UnconnectedQueuePair pair) throws IOException {
            QueuePairAddress own = pair.address();
            byte[] text = String.format(
                            "%04x:%06x:%06x:%s\0",
                            0, own.number(), own.sequence(), gid(own.host().getAddress()))
                    .getBytes(StandardCharsets.US_ASCII);
            require(text.length == ADDRESS_LENGTH, "an address of " + text.length + " bytes");
            OutputStream out = socket.getOutputStream();
            out.write(text);
            out.flush();
        }

        private String gid(InetAddress address) {
            byte[] bytes = address.getAddress();
            String hex = HexFormat.of().formatHex(bytes);
            return bytes.length == 4 ? "00000000000000000000ffff" + hex : hex;
        }

        private QueuePairAddress ask(Socket socket) throws IOException {
            byte[] text = new byte[ADDRESS_LENGTH];
            new DataInputStream(socket.getInputStream()).readFully(text);
            String[] fields = new String(text, StandardCharsets.US_ASCII).trim().split(":");
            require(fields[3].equals(gid(peerHost)), "the peer's GID is " + fields[3] + ", not " + gid(peerHost));
            return new QueuePairAddress(
                    new InetSocketAddress(peerHost, QueuePairAddress.PORT),
                    Integer.parseInt(fields[1], 16),
                    Integer.parseInt(fields[2], 16),
                    transferUnit);
        }

        private void receiveFrom(UnconnectedQueuePair pair, QueuePairAddress peer) {
            if (type != QueuePairType.UNRELIABLE_DATAGRAM) {
                pair.readyToReceive(ReceiveAttributes.of(peer, 1).withReceiverNotReadyTimer(12));
            }
        }

        private void send(UnconnectedQueuePair pair) {
            if (type != QueuePairType.UNRELIABLE_DATAGRAM) {
                pair.readyToSend(
                        SendAttributes.ofReads(1).withTimeout(14, 7).withReceiverNotReadyRetries(7));
            }
        }

        private void receive(QueuePair pair, Place place) {
            accepted(pair.postReceive(1, place.region, size, (long) header + size));
        }

        private void connecting(QueuePair pair, Place place, QueuePairAddress peer) {
            try (AddressHandle host = domain.createAddressHandle(peer.host())) {
                for (int i = 0; i < rounds; i++) {
                    ping(pair, place, peer, host);
                    completed(place, i, 2);
                    check(place, i);
                    if (i < rounds - 1) {
                        receive(pair, place);
                    }
                }
            }
        }

        private void listening(QueuePair pair, Place place, QueuePairAddress peer) {
            try (AddressHandle host = domain.createAddressHandle(peer.host())) {
                sent = new byte[size];
                Arrays.fill(sent, FILLED);
                zeroPages(sent);
                for (int i = 0; i < rounds; i++) {
                    completed(place, i, i == 0 ? 1 : 2);
                    check(place, i);
                    if (i < rounds - 1) {
                        receive(pair, place);
                    }
                    ping(pair, place, peer, host);
                }
                completed(place, rounds, 1);
            }
        }

        private void completed(Place place, int round, int count) {
            for (int i = 0; i < count; i++) {
                place.next("round " + round + " of " + size + " bytes");
            }
        }

        private void ping(QueuePair pair, Place place, QueuePairAddress peer, AddressHandle host) {
            sent = new byte[size];
            random.nextBytes(sent);
            zeroPages(sent);
            place.put(0, sent);
            accepted(
                    type == QueuePairType.UNRELIABLE_DATAGRAM
                            ? pair.postSendTo(
                                    2, place.region, 0, size, host, peer.number(), PINGPONG_QUEUE_KEY, SendFlags.SIGNALLED)
                            : pair.postSend(2, place.region, 0, size, SendFlags.SIGNALLED));
        }

        /** What the peer checks. */
        private void zeroPages(byte[] bytes) {
            for (int i = 0; i < bytes.length; i += PAGE) {
                bytes[i] = 0;
            }
        }

        private void check(Place place, int round) {
            int wrong = Arrays.mismatch(sent, place.get((long) size + header, size));
            require(wrong < 0, "round " + round + " of " + size + " bytes: byte " + wrong + " is wrong");
        }
    }

    // ---- ucmatose: so many connections, on each so many messages of the listener, then as many of the other end

    private void connections(
            boolean listens, InetSocketAddress service, int connections, int messages, int size)
            throws InterruptedException {
        List<Messages> all = new ArrayList<>();
        try (Listener listener = listens ? device.listen(service, connections) : null) {
            if (listens) {
                say("listening");
            }
            for (int i = 0; i < connections; i++) {
                all.add(listens ? accept(listener, messages, size) : connect(service, messages, size));
            }
            if (listens) {
                all.forEach(Messages::send);
                all.forEach(Messages::receive);
                all.forEach(each -> each.pair.disconnect());
            } else {
                all.forEach(Messages::receive);
                all.forEach(Messages::send);
            }
            for (Messages each : all) {
                each.awaitEnd();
                each.close();
            }
        }
        say(connections + " connections of " + messages + " messages of " + size + " bytes");
    }

    private Messages accept(Listener listener, int messages, int size) {
        try (ConnectionRequest request = listener.next(DEADLINE_NS).orElseThrow()) {
            Place place = new Place(2L * size, 4 * messages);
            QueuePair pair = request.createQueuePair(domain, attributes(place, messages));
            Messages made = new Messages(pair, place, messages, size, true);
            request.accept(ConnectionParameters.ofReads(1));
            return made;
        }
    }

    private Messages connect(InetSocketAddress there, int messages, int size) {
        try (Connector connector = device.resolve(there, DEADLINE_NS)) {
            Place place = new Place(2L * size, 4 * messages);
            QueuePair pair = connector.createQueuePair(domain, attributes(place, messages));
            Messages made = new Messages(pair, place, messages, size, false);
            connector.connect(ConnectionParameters.ofReads(1), DEADLINE_NS);
            return made;
        }
    }

    private static QueuePairAttributes attributes(Place place, int messages) {
        return QueuePairAttributes.of(place.queue, QueuePairLimits.of(messages, messages));
    }

    /** A connection: ucmatose has one buffer for all its messages, so that what it sends is what it has received. */
    private final class Messages {
        final QueuePair pair;
        private final Place place;
        private final int messages;
        private final int size;
        private final boolean begins;
        private final byte[] pattern;

        Messages(QueuePair pair, Place place, int messages, int size, boolean begins) {
            this.pair = pair;
            this.place = place;
            this.messages = messages;
            this.size = size;
            this.begins = begins;
            pattern = new byte[size];
            random.nextBytes(pattern);
            place.put(0, pattern);
            for (int i = 0; i < messages; i++) {
                accepted(pair.postReceive(1, place.region, size, size));
            }
        }

        void send() {
            for (int i = 0; i < messages; i++) {
                accepted(pair.postSend(2, place.region, 0, size, SendFlags.SIGNALLED));
            }
            for (int i = 0; i < messages; i++) {
                place.next("a SEND");
            }
        }

        void receive() {
            for (int i = 0; i < messages; i++) {
                require(place.next("a RECV").byteLength() == size, "a message of another length");
            }
            require(!begins || Arrays.equals(pattern, place.get(size, size)), "the peer sent other bytes than it got");
        }

        void awaitEnd() throws InterruptedException {
            try {
                say("ended: " + pair.disconnected().toCompletableFuture().get(DEADLINE_NS, TimeUnit.NANOSECONDS));
            } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
                throw new AssertionError("the connection did not end", e);
            }
        }

        void close() {
            pair.close();
            place.close();
        }
    }

    // ---- udaddy: the connecting end sends so many datagrams to each service, then the other answers with as many

    private void datagrams(boolean listens, InetSocketAddress service, int connections, int messages, int size) {
        int header = RoutingHeader.LENGTH;
        int all = connections * messages;
        long inbox = (long) header + size;
        QueuePairLimits limits = QueuePairLimits.of(messages, all);
        try (Place place = new Place(size + all * inbox, 2 * all);
                UnconnectedQueuePair pair = domain.createQueuePair(QueuePairAttributes.of(place.queue, limits)
                        .withDatagrams(DatagramService.QUEUE_KEY))) {
            byte[] pattern = new byte[size];
            random.nextBytes(pattern);
            place.put(0, pattern);
            for (int i = 0; i < all; i++) {
                accepted(pair.postReceive(i, place.region, size + i * inbox, inbox));
            }
            if (!listens) {
                for (int i = 0; i < connections; i++) {
                    DatagramService found = device.resolveDatagrams(service, new byte[0], DEADLINE_NS);
                    datagrams(pair, place, found.host(), found.number(), found.queueKey(), messages, size);
                }
                Map<Integer, Integer> from = arrived(place, all, size, new HashMap<>());
                require(from.size() == connections, "answers of " + from);
                for (int i = 0; i < all; i++) {
                    byte[] answer = place.get(size + i * inbox + header, size);
                    // udaddy sends the buffer in which it has received, with the header before the data.
                    boolean same = Arrays.equals(
                            Arrays.copyOfRange(answer, header, size), Arrays.copyOf(pattern, size - header));
                    require(same, "answer " + i + " has other bytes than were sent");
                }
            } else {
                DatagramService offered = new DatagramService(
                        pair.address().host(), pair.number(), DatagramService.QUEUE_KEY, new byte[0]);
                try (DatagramListener listener = device.listenForDatagrams(service, offered)) {
                    say("listening");
                    Map<Integer, InetAddress> hosts = new HashMap<>();
                    Map<Integer, Integer> from = arrived(place, all, size, hosts);
                    require(from.size() == connections, "datagrams of " + from);
                    hosts.forEach((number, host) -> datagrams(
                            pair,
                            place,
                            new InetSocketAddress(host, QueuePairAddress.PORT),
                            number,
                            DatagramService.QUEUE_KEY,
                            messages,
                            size));
                }
            }
        }
        say(connections + " services of " + messages + " datagrams of " + size + " bytes");
    }

    private void datagrams(
            QueuePair pair, Place place, InetSocketAddress to, int number, int key, int messages, int size) {
        try (AddressHandle host = domain.createAddressHandle(to)) {
            for (int i = 0; i < messages; i++) {
                accepted(pair.postSendImmediateTo(
                        -1, place.region, 0, size, host, number, key, pair.number(), SendFlags.SIGNALLED));
            }
            for (int i = 0; i < messages; i++) {
                require(place.next("a datagram").wrId() == -1, "a datagram came before all had left");
            }
        }
    }

    /** Takes so many datagrams: how many of each queue pair, and where those are. */
    private Map<Integer, Integer> arrived(Place place, int all, int size, Map<Integer, InetAddress> hosts) {
        Map<Integer, Integer> from = new HashMap<>();
        for (int i = 0; i < all; i++) {
            WorkCompletion one = place.next("datagram " + i + " of " + all);
            require(one.byteLength() == RoutingHeader.LENGTH + size, "a datagram of " + one.byteLength() + " bytes");
            require(one.immediate() == one.sourceNumber(), "immediate " + one.immediate() + " of " + one.sourceNumber());
            from.merge(one.sourceNumber(), 1, Integer::sum);
            long at = size + one.wrId() * (RoutingHeader.LENGTH + size);
            hosts.put(
                    one.sourceNumber(),
                    RoutingHeader.source(place.memory.segment().asSlice(at, RoutingHeader.LENGTH)));
        }
        return from;
    }
}
