package org.softrdma.disni.library;

import com.ibm.disni.util.MemBuf;
import com.ibm.disni.util.MemoryAllocation;
import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.CmEventType;
import org.softrdma.ibverbs.LibraryUnavailableException;

/**
 * The jar of DiSNI 2.1 and the libdisni.so of this machine. Adds only what makes DiSNI's objects safe to use: an id per
 * event by identity, both retry counts, memory freed once.
 */
public final class InstalledDisni implements DisniLibrary {
    /** Local entries of a request, each way; a constant of libdisni.so. */
    public static final int ENTRIES = 4;

    /** Upstream's own procedure; this project has none. */
    private static final String BUILD = "https://github.com/zrlio/disni#building-disni";
    /**
     * How often InfiniBand and RoCE retry to reach a silent peer. DiSNI cannot set the time between retries, which is
     * 2.1 s on RoCE by the kernel's connection manager. So a peer is given up after 9 s. 7 means for ever on rxe.
     */
    private static final byte RETRIES = 3;
    /** For ever: a SEND waits for its RECV. DiSNI's own default is none; rdma_connect(3). */
    private static final byte RNR_RETRIES = 7;

    private static final int LEAST_BLOCK = 1;

    /** The result of loading. A failed class initialiser is not run again, and its second failure says less. */
    private static final AtomicReference<@Nullable Loaded> LOADED = new AtomicReference<>();

    private record Loaded(
            @Nullable InstalledDisni library, @Nullable LibraryUnavailableException problem) {}

    private InstalledDisni() {}

    /**
     * Loads libdisni.so, once in a process.
     *
     * @throws LibraryUnavailableException if it is missing or not usable: why, and what to do
     */
    public static InstalledDisni load() throws LibraryUnavailableException {
        Loaded loaded = LOADED.updateAndGet(before -> before == null ? attempt() : before);
        if (loaded.library != null) {
            return loaded.library;
        }
        throw loaded.problem;
    }

    private static Loaded attempt() {
        try {
            RdmaProvider.provider().getVersion();
            MemBuf block = MemoryAllocation.getInstance().allocate(LEAST_BLOCK);
            block.free();
            return new Loaded(new InstalledDisni(), null);
        } catch (LinkageError | IllegalCallerException | IOException e) {
            return new Loaded(null, explain(e));
        }
    }

    /** Explains a failure to load, and what to do; the package's tests show each. */
    static LibraryUnavailableException explain(Throwable thrown) {
        Throwable wrapped = thrown instanceof ExceptionInInitializerError ? thrown.getCause() : null;
        Throwable failure = wrapped == null ? thrown : wrapped;
        String text = String.valueOf(failure.getMessage());
        if (failure instanceof UnsatisfiedLinkError && text.startsWith("no disni in java.library.path")) {
            return new LibraryUnavailableException(
                    "there is no libdisni.so in java.library.path; no distribution packages it",
                    "build it (see " + BUILD + "), then name its folder: java -Djava.library.path=FOLDER"
                            + " (./softrdma: SOFTRDMA_JAVA_OPTS=-Djava.library.path=FOLDER); or use the"
                            + " provider rdmacore, which needs none",
                    failure);
        }
        if (failure instanceof UnsatisfiedLinkError && text.contains("cannot open shared object file")) {
            return new LibraryUnavailableException(
                    "libdisni.so cannot be loaded: " + text,
                    "install the missing library (Debian: apt-get install libibverbs1 librdmacm1 ibverbs-providers)",
                    failure);
        }
        if (failure instanceof IllegalAccessError) {
            return new LibraryUnavailableException(
                    "DiSNI uses sun.nio.ch.DirectBuffer, which this JVM does not export",
                    "start java with --add-exports java.base/sun.nio.ch=ALL-UNNAMED (the executable jar's manifest"
                            + " says so already)",
                    failure);
        }
        if (failure instanceof IllegalCallerException) {
            return new LibraryUnavailableException(
                    "this JVM does not let DiSNI load native code",
                    "start java with --enable-native-access=ALL-UNNAMED (the executable jar's manifest says so"
                            + " already)",
                    failure);
        }
        return new LibraryUnavailableException(
                "libdisni.so cannot be used: " + text.strip(),
                "it must be DiSNI 2.1's, built for this machine's architecture; see " + BUILD,
                failure);
    }

    @Override
    public EventChannel createEventChannel() throws IOException {
        return new JniEventChannel(RdmaEventChannel.createEventChannel());
    }

    /** An event channel, and the ids whose events come to it. */
    private static final class JniEventChannel implements EventChannel {
        private final RdmaEventChannel channel;
        private final Map<RdmaCmId, JniId> ids = new ConcurrentHashMap<>();

        JniEventChannel(RdmaEventChannel channel) {
            this.channel = channel;
        }

        @Override
        public Id createId() throws IOException {
            return adopt(channel.createId(RdmaCm.RDMA_PS_TCP));
        }

        private JniId adopt(RdmaCmId id) {
            JniId adopted = new JniId(this, id);
            ids.put(id, adopted);
            return adopted;
        }

        @Override
        public @Nullable Event next(int timeoutMs) throws IOException {
            RdmaCmEvent event = channel.getCmEvent(timeoutMs);
            if (event == null) {
                return null;
            }
            CmEventType type = CmEventType.ofCode(event.getEvent());
            RdmaCmId id = event.getConnIdPriv();
            JniId mine = id == null ? null : type == CmEventType.CONNECT_REQUEST ? adopt(id) : ids.get(id);
            RdmaCmId listener = event.getListenIdPriv();
            return new Event(type, mine, listener == null ? null : ids.get(listener));
        }

        @Override
        public void destroy() throws IOException {
            requireDone("rdma_destroy_event_channel", channel.destroyEventChannel());
        }
    }

    private record JniId(JniEventChannel channel, RdmaCmId id) implements Id {
        @Override
        public void bind(InetSocketAddress local) throws IOException {
            id.bindAddr(local);
        }

        @Override
        public void listen(int backlog) throws IOException {
            id.listen(backlog);
        }

        @Override
        public void resolveAddress(InetSocketAddress remote, int timeoutMs) throws IOException {
            id.resolveAddr(new InetSocketAddress(0), remote, timeoutMs);
        }

        @Override
        public void resolveRoute(int timeoutMs) throws IOException {
            id.resolveRoute(timeoutMs);
        }

        @Override
        public @Nullable Context context() throws IOException {
            IbvContext context = id.getVerbs();
            return context == null ? null : new JniContext(context);
        }

        @Override
        public Pair createQueuePair(
                Domain domain, Queue sends, Queue receives, int maxSend, int maxReceive, int maxInline)
                throws IOException {
            IbvQPInitAttr attributes = new IbvQPInitAttr();
            attributes.setQp_type(IbvQP.IBV_QPT_RC);
            attributes.setSend_cq(((JniQueue) sends).queue);
            attributes.setRecv_cq(((JniQueue) receives).queue);
            attributes.cap().setMax_send_wr(maxSend);
            attributes.cap().setMax_recv_wr(maxReceive);
            attributes.cap().setMax_inline_data(maxInline);
            return new JniPair(id.createQP(((JniDomain) domain).domain, attributes));
        }

        @Override
        public void connect() throws IOException {
            id.connect(retries());
        }

        @Override
        public void accept() throws IOException {
            id.accept(retries());
        }

        private static RdmaConnParam retries() throws IOException {
            RdmaConnParam parameters = new RdmaConnParam();
            parameters.setRetry_count(RETRIES);
            parameters.setRnr_retry_count(RNR_RETRIES);
            return parameters;
        }

        @Override
        public void disconnect() throws IOException {
            requireDone("rdma_disconnect", id.disconnect());
        }

        @Override
        public void destroyQueuePair() throws IOException {
            requireDone("rdma_destroy_qp", id.destroyQP());
        }

        @Override
        public void destroy() throws IOException {
            channel.ids.remove(id);
            requireDone("rdma_destroy_id", id.destroyId());
        }

        @Override
        public InetSocketAddress source() throws IOException {
            return (InetSocketAddress) id.getSource();
        }

        @Override
        public InetSocketAddress destination() throws IOException {
            return (InetSocketAddress) id.getDestination();
        }
    }

    private record JniContext(IbvContext context) implements Context {
        @Override
        public int commandDescriptor() throws IOException {
            return context.getCmd_fd();
        }

        @Override
        public int completionVectors() throws IOException {
            return context.getNumCompVectors();
        }

        @Override
        public Domain allocateDomain() throws IOException {
            return new JniDomain(context.allocPd());
        }

        @Override
        public Queue createQueue(int entries, int vector) throws IOException {
            IbvCompChannel channel = context.createCompChannel();
            try {
                IbvCQ queue = context.createCQ(channel, entries, vector);
                return new JniQueue(channel, queue, queue.reqNotification(false), queue.reqNotification(true));
            } catch (IOException e) {
                channel.destroyCompChannel();
                throw e;
            }
        }
    }

    private record JniDomain(IbvPd domain) implements Domain {
        @Override
        public Region register(long address, int length, int access) throws IOException {
            SVCRegMr call = domain.regMr(address, length, access);
            try {
                return new JniRegion(call.execute().getMr());
            } finally {
                call.free();
            }
        }

        @Override
        public void deallocate() throws IOException {
            try {
                requireDone("ibv_dealloc_pd", domain.deallocPd());
            } catch (IOException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IOException("ibv_dealloc_pd: " + e.getMessage(), e);
            }
        }
    }

    private record JniRegion(IbvMr region) implements Region {
        @Override
        public int lkey() {
            return region.getLkey();
        }

        @Override
        public int rkey() {
            return region.getRkey();
        }

        @Override
        public void deregister() throws IOException {
            region.deregMr().execute().free();
        }
    }

    private record JniQueue(IbvCompChannel channel, IbvCQ queue, SVCReqNotify any, SVCReqNotify solicited)
            implements Queue {
        @Override
        public PreparedPoll preparePoll(int entries) throws IOException {
            return new JniPoll(queue, entries);
        }

        @Override
        public void requestNotification(boolean solicitedOnly) throws IOException {
            (solicitedOnly ? solicited : any).execute();
        }

        @Override
        public boolean takeEvent(int timeoutMs) throws IOException {
            if (!channel.getCqEvent(queue, timeoutMs)) {
                return false;
            }
            queue.ackEvents(1);
            return true;
        }

        @Override
        public void destroy() throws IOException {
            any.free();
            solicited.free();
            try {
                requireDone("ibv_destroy_cq", queue.destroyCQ());
            } finally {
                requireDone("ibv_destroy_comp_channel", channel.destroyCompChannel());
            }
        }
    }

    private record JniPair(IbvQP queuePair) implements Pair {
        @Override
        public int number() throws IOException {
            return queuePair.getQp_num();
        }

        @Override
        public PreparedSend prepareSend(int opcode, int entries) throws IOException {
            return new JniSend(queuePair, opcode, entries);
        }

        @Override
        public PreparedReceive prepareReceive(int entries) throws IOException {
            return new JniReceive(queuePair, entries);
        }
    }

    /** Some functions return an errno or -1 and throw nothing. */
    private static void requireDone(String function, int code) throws IOException {
        if (code != 0) {
            throw new IOException(function + " failed with " + code);
        }
    }
}
