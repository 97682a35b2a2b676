package org.softrdma.run.rdmacm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.run.card.Card;
import org.softrdma.run.card.EventWriter;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.files.DeviceFile;
import org.softrdma.run.files.FreeNumber;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * {@code /dev/infiniband/rdma_cm}. What a program opens is a channel of its own: the reading end of a pipe, by whose number in the kernel
 * its descriptors are known. The channel and its ids live as long as somebody has it.
 */
public final class RdmaCmDevice implements DeviceFile {
    /** Where a program finds it. */
    public static final String PATH = "/dev/infiniband/rdma_cm";

    /** {@code IBV_EVENT_COMM_EST}. */
    private static final int COMMUNICATION_ESTABLISHED = 4;

    private static final int VENDOR_OPTION = 35;

    private final ProgramKernel kernel;
    private final DescriptorRange range;
    private final Card card;
    private final EventWriter pipes;
    private final CmCommand command;
    private final RdmaCmIds ids = new RdmaCmIds();
    private final IdCommands idCommands;
    private final MemorySegment value;
    /** By what their descriptors lead to. */
    private final Map<String, Watched> channels = new HashMap<>();
    /** Memberships of groups, and the ids that have them. */
    private final Map<RdmaCmId, RdmaCmId> memberships = new HashMap<>();

    /** A channel, and what ends that the card watches it. */
    private static final class Watched {
        private final CmChannel channel;
        private @Nullable Runnable watch;

        Watched(CmChannel channel) {
            this.channel = channel;
        }
    }

    /** The file of a device. */
    public RdmaCmDevice(
            ProgramKernel kernel, DescriptorRange range, RxeDevice device, Card card, EventWriter pipes, Arena arena) {
        this.kernel = kernel;
        this.range = range;
        this.card = card;
        this.pipes = pipes;
        command = new CmCommand(kernel, arena);
        value = arena.allocate(ValueLayout.JAVA_INT);
        idCommands =
                new IdCommands(command, new CmEnvironment(card, new HostAddresses(device), ids, new SecureRandom()));
    }

    @Override
    public void open(Notification call, boolean closeOnExec, boolean nonBlocking) throws CallRefusedException {
        forgetChannels();
        int number = FreeNumber.in(kernel, call.thread(), range);
        long pipe = kernel.createPipe();
        if (pipe < 0) {
            throw new CallRefusedException((int) -pipe);
        }
        int writingEnd = (int) (pipe >>> Integer.SIZE);
        if (nonBlocking) {
            kernel.setNonBlocking((int) pipe);
        }
        int given = kernel.give(call.id(), (int) pipe, number, closeOnExec, /* answer= */ false);
        kernel.close((int) pipe);
        if (given < 0) {
            kernel.close(writingEnd);
            throw new CallRefusedException(-given);
        }
        channels.put(target(call.thread(), given), new Watched(new CmChannel(kernel, pipes, writingEnd)));
        kernel.answer(call.id(), given);
    }

    private String target(int thread, int descriptor) {
        return kernel.linkOf(thread, "fd/" + descriptor);
    }

    @Override
    public boolean has(int thread, int descriptor) {
        return !channels.isEmpty() && channels.containsKey(target(thread, descriptor));
    }

    /** How many channels programs have. */
    public int channels() {
        forgetChannels();
        return channels.size();
    }

    /** Ends channels that nobody has any more. */
    public void forgetChannels() {
        List<Watched> ended = channels.values().stream()
                .filter(each -> each.channel.isAbandoned())
                .toList();
        channels.values().removeAll(ended);
        ended.forEach(this::close);
    }

    private void close(Watched ended) {
        ids.of(ended.channel).forEach(ids::remove);
        memberships.keySet().removeIf(each -> each.channel() == ended.channel);
        if (ended.watch != null) {
            ended.watch.run();
        }
        ended.channel.close();
    }

    /** Ends what programs have left. */
    public void close() {
        new ArrayList<>(channels.values()).forEach(this::close);
        channels.clear();
    }

    /**
     * Answers a command: write(2).
     *
     * @return false if the descriptor is none of a channel
     */
    public boolean answer(Notification call) throws CallRefusedException {
        Watched found = channels.isEmpty() ? null : channels.get(target(call.thread(), (int) call.argument(0)));
        if (found == null) {
            return false;
        }
        CmChannel channel = found.channel;
        command.read(call);
        RdmaCmCommand which = RdmaCmCommand.of(command.number());
        if (which == null) {
            boolean unknown = Integer.compareUnsigned(command.number(), RdmaCmCommand.LAST) > 0;
            throw new CallRefusedException(unknown ? ErrorNumber.EINVAL : ErrorNumber.ENOSYS);
        }
        card.faults().onVerb(which.verb());
        switch (which) {
            case CREATE_ID -> create(call, found);
            case DESTROY_ID -> destroy(call, channel);
            case BIND_IP -> idCommands.bind(call, channel);
            case RESOLVE_IP -> idCommands.resolveAddress(call, channel);
            case RESOLVE_ROUTE -> idCommands.resolveRoute(call, channel);
            case QUERY_ROUTE -> idCommands.queryRoute(call, channel);
            case CONNECT -> idCommands.connect(call, channel);
            case LISTEN -> idCommands.listen(call, channel);
            case ACCEPT -> accept(call, channel);
            case REJECT -> reject(call, channel);
            case DISCONNECT -> disconnect(call, channel);
            case INIT_QP_ATTR -> initAttributes(call, channel);
            case GET_EVENT -> {
                command.require(Long.BYTES, RdmaCmEvent.LEAST_ROOM);
                channel.next(call, command.inputLong(0), command.room());
            }
            case SET_OPTION -> idCommands.setOption(call, channel, (given, length) -> value(call, given, length));
            case NOTIFY -> notifyEstablished(call, channel);
            case JOIN_IP_MCAST -> join(call, channel);
            case LEAVE_MCAST -> destroy(call, channel);
            case MIGRATE_ID -> migrate(call, channel);
        }
        return true;
    }

    /** name 0, address for the answer 8, port space 16. */
    private void create(Notification call, Watched found) throws CallRefusedException {
        command.require(24, Integer.BYTES);
        int portSpace = command.inputShort(16);
        if (portSpace != AddressHeader.PORT_SPACE_TCP && portSpace != AddressHeader.PORT_SPACE_UDP) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        if (found.watch == null) {
            found.watch = card.watch(found.channel.writingEnd());
        }
        RdmaCmId made = ids.create(found.channel, command.inputLong(0), portSpace);
        try {
            command.answer(call, 8, made.handle());
        } catch (CallRefusedException e) {
            ids.remove(made);
            throw e;
        }
    }

    /** address for the answer 0, id 8. The answer is how many events of it were read. */
    private void destroy(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(16, Integer.BYTES);
        RdmaCmId id = ids.get(command.inputInt(8), channel);
        for (RdmaCmEvent unread : channel.remove(id, call.thread(), (int) call.argument(0))) {
            RdmaCmId made = unread.made();
            if (made != null) {
                ids.remove(made);
            }
        }
        memberships.remove(id);
        for (RdmaCmId each : memberships.entrySet().stream()
                .filter(entry -> entry.getValue() == id)
                .map(Map.Entry::getKey)
                .toList()) {
            memberships.remove(each);
            ids.remove(each);
        }
        ids.remove(id);
        command.answer(call, 0, id.eventsRead());
    }

    /**
     * address for the answer 0, name 8, group's IP address 16, id 44. A membership has a name, a handle and events as an id has, and is
     * one here. The queue pair joins by itself (ATTACH_MCAST), with what the event tells.
     */
    private void join(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(48, Integer.BYTES);
        InetAddress group = ProgramAddresses.read(command.input(), 2 * Long.BYTES)
                .map(InetSocketAddress::getAddress)
                .filter(InetAddress::isMulticastAddress)
                .orElseThrow(() -> new CallRefusedException(ErrorNumber.EINVAL));
        RdmaCmId id = ids.get(command.inputInt(44), channel);
        if (!IdCommands.hasDevice(id) || id.portSpace() != AddressHeader.PORT_SPACE_UDP) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        RdmaCmId membership = ids.create(channel, command.inputLong(8), id.portSpace());
        try {
            command.answer(call, 0, membership.handle());
        } catch (CallRefusedException e) {
            ids.remove(membership);
            throw e;
        }
        memberships.put(membership, id);
        GidPath path = idCommands.path(id, Gid.of(group));
        membership.raise(
                RdmaCmEvent.MULTICAST_JOIN,
                0,
                to -> DatagramParameter.write(
                        to, RocePacket.GROUP_QUEUE_PAIR, AddressHeader.UDP_QUEUE_KEY, path, PrivateData.NONE));
    }

    /** name 0, parameter 8, id 280. */
    private void accept(Notification call, CmChannel channel) throws CallRefusedException {
        int idOffset = Long.BYTES + ConnectionParameter.LENGTH;
        command.require(idOffset + 2 * Integer.BYTES, 0);
        RdmaCmId id = ids.get(command.inputInt(idOffset), channel);
        boolean says = ConnectionParameter.isValid(command.input(), Long.BYTES);
        exchange(id)
                .accept(says ? Optional.of(ConnectionParameter.read(command.input(), Long.BYTES)) : Optional.empty());
        if (says) {
            id.name(command.inputLong(0));
        }
        command.done(call);
    }

    private static CmExchange exchange(RdmaCmId id) throws CallRefusedException {
        return id.exchange().orElseThrow(() -> new CallRefusedException(ErrorNumber.EINVAL));
    }

    /** id 0, length of the data 4, reason 5, data 8. */
    private void reject(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(264, 0);
        RdmaCmId id = ids.get(command.inputInt(0), channel);
        int reason = command.inputByte(5) == 0 ? ConnectReject.BY_CONSUMER : command.inputByte(5);
        if (reason != ConnectReject.BY_CONSUMER && reason != VENDOR_OPTION) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        byte[] data = command.input().asSlice(8, command.inputByte(4)).toArray(ValueLayout.JAVA_BYTE);
        exchange(id).reject(reason, PrivateData.of(data));
        command.done(call);
    }

    private void disconnect(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(Integer.BYTES, 0);
        exchange(ids.get(command.inputInt(0), channel)).disconnect();
        command.done(call);
    }

    /** address for the answer 0, id 8, state 12. */
    private void initAttributes(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(16, PairAttributesDescriptor.LENGTH);
        RdmaCmId id = ids.get(command.inputInt(8), channel);
        int state = command.inputInt(12);
        if (state < 0 || state > PairAttributesDescriptor.ERR || !IdCommands.hasDevice(id)) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        MemorySegment answer = command.output();
        if (id.exchange().isPresent()) {
            id.exchange().get().writeAttributes(answer, state);
        } else if (id.portSpace() == AddressHeader.PORT_SPACE_UDP) {
            PairAttributesDescriptor.writeDatagrams(answer, state, AddressHeader.UDP_QUEUE_KEY);
        } else {
            PairAttributesDescriptor.writeUnconnected(answer, state);
        }
        command.answerWhole(call, PairAttributesDescriptor.LENGTH);
    }

    private int value(Notification call, int given, int length) throws CallRefusedException {
        if (given != length) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        value.set(ValueLayout.JAVA_INT, 0, 0);
        if (kernel.read(call.thread(), command.inputLong(0), value, length) != length) {
            throw new CallRefusedException(ErrorNumber.EFAULT);
        }
        return value.get(ValueLayout.JAVA_INT, 0);
    }

    /** id 0, event 4. */
    private void notifyEstablished(Notification call, CmChannel channel) throws CallRefusedException {
        command.require(2 * Integer.BYTES, 0);
        CmExchange exchange = exchange(ids.get(command.inputInt(0), channel));
        if (command.inputInt(4) != COMMUNICATION_ESTABLISHED) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        exchange.established();
        command.done(call);
    }

    /** address for the answer 0, id 8, descriptor of the channel that has it 12. */
    private void migrate(Notification call, CmChannel to) throws CallRefusedException {
        command.require(16, Integer.BYTES);
        int descriptor = command.inputInt(12);
        Watched found = channels.get(target(call.thread(), descriptor));
        if (found == null) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        RdmaCmId id = ids.get(command.inputInt(8), found.channel);
        if (found.channel != to) {
            List<RdmaCmEvent> unread = found.channel.remove(id, call.thread(), descriptor);
            id.moveTo(to);
            for (RdmaCmEvent each : unread) {
                RdmaCmId made = each.made();
                if (made != null) {
                    made.moveTo(to);
                }
                to.add(each);
            }
        }
        command.answer(call, 0, id.eventsRead());
    }
}
