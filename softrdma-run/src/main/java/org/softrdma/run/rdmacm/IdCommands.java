package org.softrdma.run.rdmacm;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.Optional;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.Notification;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.Gid;

/** Commands on an id before it has a peer: addresses, routes, options. */
final class IdCommands {
    private static final InetAddress ANY_IPV4 = InetAddress.ofLiteral("0.0.0.0");
    private static final int RESOLVE_LENGTH = 2 * ProgramAddresses.LENGTH + 2 * Integer.BYTES;
    private static final int RESOLVE_ID_OFFSET = 2 * ProgramAddresses.LENGTH;
    private static final int BIND_ID_OFFSET = Long.BYTES + ProgramAddresses.LENGTH;
    private static final int BIND_LENGTH = BIND_ID_OFFSET + Integer.BYTES;

    // struct rdma_ucm_query_route_resp
    private static final int PATHS_OFFSET = Long.BYTES;
    private static final int SOURCE_OFFSET = PATHS_OFFSET + 2 * GidPath.RECORD_LENGTH;
    private static final int DESTINATION_OFFSET = SOURCE_OFFSET + ProgramAddresses.LENGTH;
    private static final int PATH_COUNT_OFFSET = DESTINATION_OFFSET + ProgramAddresses.LENGTH;
    private static final int PORT_OFFSET = PATH_COUNT_OFFSET + Integer.BYTES;
    private static final int INDEX_OFFSET = PORT_OFFSET + Integer.BYTES;
    private static final int ROUTE_LENGTH = INDEX_OFFSET + 2 * Integer.BYTES;
    /** Any index: the library has none of ours. */
    private static final int ANY_INDEX = -1;

    private final CmCommand command;
    private final CmEnvironment environment;
    private final BoundPorts ports;

    IdCommands(CmCommand command, CmEnvironment environment) {
        this.command = command;
        this.environment = environment;
        ports = new BoundPorts(environment.ids().all(), environment.random());
    }

    // ---- addresses

    /** address for the answer 0, IP address 8, id 36. */
    void bind(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(BIND_LENGTH, 0);
        InetSocketAddress wanted = ProgramAddresses.read(command.input(), Long.BYTES)
                .orElseThrow(() -> new CallRefusedException(ErrorNumber.EINVAL));
        RdmaCmId id = environment.ids().get(command.inputInt(BIND_ID_OFFSET), channel);
        if (id.state() != RdmaCmId.State.IDLE) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        bind(id, wanted);
        command.done(call);
    }

    /** The way from the address of an id to a host or a group. */
    GidPath path(RdmaCmId id, Gid there) {
        return environment.path(id.source().orElseThrow().getAddress(), there, id.trafficClass());
    }

    private void bind(RdmaCmId id, InetSocketAddress wanted) throws CallRefusedException {
        if (!wanted.getAddress().isAnyLocalAddress()
                && environment.addresses().index(wanted.getAddress()).isEmpty()) {
            throw new CallRefusedException(ErrorNumber.EADDRNOTAVAIL);
        }
        ports.bind(id, wanted);
    }

    /** own IP address 0, peer's 28, id 56, time limit 60. */
    void resolveAddress(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(RESOLVE_LENGTH, 0);
        Optional<InetSocketAddress> source = ProgramAddresses.read(command.input(), 0);
        InetSocketAddress peer = ProgramAddresses.read(command.input(), ProgramAddresses.LENGTH)
                .orElseThrow(() -> new CallRefusedException(ErrorNumber.EINVAL));
        RdmaCmId id = environment.ids().get(command.inputInt(RESOLVE_ID_OFFSET), channel);
        if (id.state() == RdmaCmId.State.IDLE) {
            bind(id, source.orElse(new InetSocketAddress(anyLike(peer.getAddress()), 0)));
        }
        InetSocketAddress bound = id.source().orElseThrow();
        if (id.state() != RdmaCmId.State.BOUND
                || !bound.getAddress().getClass().equals(peer.getAddress().getClass())) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        InetSocketAddress there = peer.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(loopbackLike(bound), peer.getPort())
                : peer;
        int refusal = resolve(id, bound, there);
        command.done(call);
        if (refusal == 0) {
            id.raise(RdmaCmEvent.ADDRESS_RESOLVED, 0, RdmaCmEvent.Parameter.NONE);
        } else {
            id.raise(RdmaCmEvent.ADDRESS_ERROR, -refusal, RdmaCmEvent.Parameter.NONE);
        }
    }

    private static InetAddress anyLike(InetAddress address) {
        return address instanceof Inet4Address ? ANY_IPV4 : InetAddress.ofLiteral("::");
    }

    /** Where a peer without an address is: at the own one, or here. */
    private static InetAddress loopbackLike(InetSocketAddress bound) {
        InetAddress own = bound.getAddress();
        if (!own.isAnyLocalAddress()) {
            return own;
        }
        return InetAddress.ofLiteral(own instanceof Inet4Address ? "127.0.0.1" : "::1");
    }

    private int resolve(RdmaCmId id, InetSocketAddress bound, InetSocketAddress peer) {
        InetAddress local = bound.getAddress();
        if (local.isAnyLocalAddress()) {
            try {
                local = HostAddresses.towards(peer);
            } catch (IOException e) {
                return ErrorNumber.ENETUNREACH;
            }
        }
        if (environment.addresses().index(local).isEmpty()) {
            return ErrorNumber.ENODEV;
        }
        id.resolve(new InetSocketAddress(local, bound.getPort()), peer);
        id.become(RdmaCmId.State.ADDRESS_RESOLVED);
        return 0;
    }

    /** id 0, time limit 4. */
    void resolveRoute(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(2 * Integer.BYTES, 0);
        RdmaCmId id = environment.ids().get(command.inputInt(0), channel);
        if (id.state() != RdmaCmId.State.ADDRESS_RESOLVED) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        id.become(RdmaCmId.State.ROUTE_RESOLVED);
        command.done(call);
        id.raise(RdmaCmEvent.ROUTE_RESOLVED, 0, RdmaCmEvent.Parameter.NONE);
    }

    /**
     * address for the answer 0, id 8. The answer: GUID 0, two paths 8, own and peer's address 136 and 164, paths 192, port 196, index of
     * the device 200.
     */
    void queryRoute(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(2 * Long.BYTES, INDEX_OFFSET);
        RdmaCmId id = environment.ids().get(command.inputInt(Long.BYTES), channel);
        MemorySegment answer = command.output();
        id.source().ifPresent(source -> ProgramAddresses.write(answer, SOURCE_OFFSET, source));
        id.destination().ifPresent(peer -> ProgramAddresses.write(answer, DESTINATION_OFFSET, peer));
        if (hasDevice(id)) {
            answer.set(
                    ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN),
                    0,
                    environment.addresses().guid());
            answer.set(ValueLayout.JAVA_BYTE, PORT_OFFSET, (byte) 1);
            answer.set(ValueLayout.JAVA_INT_UNALIGNED, INDEX_OFFSET, ANY_INDEX);
            writePath(answer, id);
        }
        command.answerWhole(call, ROUTE_LENGTH);
    }

    /** Whether it has an address of this host. */
    static boolean hasDevice(RdmaCmId id) {
        return id.source()
                .filter(source -> !source.getAddress().isAnyLocalAddress())
                .isPresent();
    }

    private void writePath(MemorySegment answer, RdmaCmId id) {
        int unitCode = id.exchange()
                .map(CmExchange::unitCode)
                .orElse(environment.addresses().unitCode());
        boolean resolved = id.state() == RdmaCmId.State.ROUTE_RESOLVED || id.state() == RdmaCmId.State.CONNECT;
        GidPath path = id.exchange()
                .map(CmExchange::path)
                .orElseGet(() -> environment.path(
                        id.source().orElseThrow().getAddress(),
                        id.destination().map(peer -> Gid.of(peer.getAddress())).orElse(new Gid(0, 0)),
                        id.trafficClass()));
        path.writeRecord(answer, PATHS_OFFSET, resolved ? unitCode : 0);
        answer.set(ValueLayout.JAVA_INT_UNALIGNED, PATH_COUNT_OFFSET, resolved ? 1 : 0);
    }

    // ---- listening

    /** id 0, backlog 4. */
    void listen(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(2 * Integer.BYTES, 0);
        RdmaCmId id = environment.ids().get(command.inputInt(0), channel);
        if (id.state() == RdmaCmId.State.IDLE) {
            bind(id, new InetSocketAddress(ANY_IPV4, 0));
        }
        if (id.state() != RdmaCmId.State.BOUND) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        InetSocketAddress source = id.source().orElseThrow();
        if (id.sharesPort() && !ports.isFree(id, source)) {
            throw new CallRefusedException(ErrorNumber.EADDRINUSE);
        }
        CmListener listener = new CmListener(environment, id, command.inputInt(Integer.BYTES));
        listener.open(environment.addresses().all(source.getAddress(), id.isOwnFamilyOnly()));
        id.listen(listener);
        command.done(call);
    }

    // ---- options

    private static final int OF_ID = 0;
    private static final int OF_INFINIBAND = 1;
    private static final int SERVICE_TYPE = 0;
    private static final int SHARE_PORT = 1;
    private static final int OWN_FAMILY_ONLY = 2;
    private static final int ACKNOWLEDGEMENT_TIMEOUT = 3;

    /**
     * address of the value 0, id 8, level 12, option 16, length of the value 20.
     *
     * @param value four bytes that the program has there
     */
    void setOption(Notification call, CmChannel channel, Value value) throws CallRefusedException {
        command.require(24, 0);
        RdmaCmId id = environment.ids().get(command.inputInt(8), channel);
        int level = command.inputInt(12);
        int length = command.inputInt(20);
        if (level != OF_ID) {
            throw new CallRefusedException(level == OF_INFINIBAND ? ErrorNumber.EINVAL : ErrorNumber.ENOSYS);
        }
        switch (command.inputInt(16)) {
            case SERVICE_TYPE -> id.trafficClass(value.of(length, Byte.BYTES));
            case SHARE_PORT -> id.sharePort(value.of(length, Integer.BYTES) != 0);
            case OWN_FAMILY_ONLY -> id.ownFamilyOnly(value.of(length, Integer.BYTES) != 0);
            case ACKNOWLEDGEMENT_TIMEOUT -> id.lifetime(value.of(length, Byte.BYTES) & 31);
            default -> throw new CallRefusedException(ErrorNumber.ENOSYS);
        }
        command.done(call);
    }

    /** The value of an option. */
    @FunctionalInterface
    interface Value {
        /**
         * Reads it.
         *
         * @param given its length as the program says
         * @param length that it must have
         */
        int of(int given, int length) throws CallRefusedException;
    }

    // ---- peers

    /** parameter 0, id 272. */
    void connect(Notification call, CmChannel channel) throws CallRefusedException {
        int idOffset = ConnectionParameter.LENGTH;
        command.require(idOffset + 2 * Integer.BYTES, 0);
        RdmaCmId id = environment.ids().get(command.inputInt(idOffset), channel);
        if (!ConnectionParameter.isValid(command.input(), 0) || id.state() != RdmaCmId.State.ROUTE_RESOLVED) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        ConnectionParameter said = ConnectionParameter.read(command.input(), 0);
        if (id.portSpace() == AddressHeader.PORT_SPACE_UDP) {
            DatagramExchange.ask(environment, id, said.data());
        } else {
            ReliableExchange.connect(environment, id, said);
        }
        command.done(call);
    }
}
