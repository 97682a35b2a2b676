package org.softrdma.stores.nessie.node;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Set;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieNoticeDescriptor;
import org.softrdma.stores.nessie.layout.NessieRoots;
import org.softrdma.stores.nessie.layout.NessieShape;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** The memory of a node: index table, data table, notices. Owned by the node's thread, which closes it. */
final class NessieTables implements AutoCloseable {
    private static final VarHandle NOTICE =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final NessieShape shape;
    private final NessieDataDescriptor data;
    private final OpenParts opened = new OpenParts();
    private final RegisteredMemory indexMemory;
    private final RegisteredMemory dataMemory;
    private final RegisteredMemory notices;

    NessieTables(VerbsDevice device, ProtectionDomain domain, NessieShape shape) {
        this.shape = shape;
        data = new NessieDataDescriptor(shape.maxKeyLength(), shape.maxValueLength());
        try {
            indexMemory = opened.add(new RegisteredMemory(
                    device,
                    domain,
                    (long) Long.BYTES << shape.logIndex(),
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC)));
            dataMemory = opened.add(new RegisteredMemory(
                    device,
                    domain,
                    (long) data.length() << shape.logEntries(),
                    Set.of(
                            AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_READ,
                            AccessFlag.REMOTE_WRITE,
                            AccessFlag.REMOTE_ATOMIC)));
            notices = opened.add(new RegisteredMemory(
                    device,
                    domain,
                    (long) Long.BYTES << shape.logEntries(),
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)));
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    NessieRoots roots(int node, long boot) {
        return new NessieRoots(
                shape,
                node,
                boot,
                indexMemory.region().coherentUnit() >= Long.BYTES,
                indexMemory.region().remote(),
                dataMemory.region().remote(),
                notices.region().remote());
    }

    /** Takes the notice of an entry; 0 if there is none. */
    int takeNotice(int number) {
        long at = (long) number * Long.BYTES;
        long notice = (long) NOTICE.getOpaque(notices.segment(), at);
        if (notice == 0) {
            return 0;
        }
        int reference = NessieNoticeDescriptor.reference(notice);
        if (reference != 0) { // else half of it is there
            NOTICE.setOpaque(notices.segment(), at, 0L);
        }
        return reference;
    }

    boolean isWritten(int number, int reference) {
        return NessieDataDescriptor.reference(dataMemory.segment(), (long) number * data.length()) == reference;
    }

    /** Bytes of key and value of an entry. */
    long pairBytes(int number) {
        MemorySegment memory = dataMemory.segment();
        long entry = (long) number * data.length();
        return NessieDataDescriptor.keyLength(memory, entry) + (long) NessieDataDescriptor.valueLength(memory, entry);
    }

    /** Words of the index table that name an entry. */
    long wordsInUse() {
        long count = 0;
        for (int i = 0; i < 1 << shape.logIndex(); i++) {
            long word = indexMemory.segment().get(ValueLayout.JAVA_LONG, (long) i * Long.BYTES);
            count += NessieWordDescriptor.isEmpty(word) ? 0 : 1;
        }
        return count;
    }

    /** Bytes of an entry and a word. */
    long bytesOfPair() {
        return data.length() + (long) Long.BYTES;
    }

    long registeredBytes() {
        return indexMemory.region().length()
                + dataMemory.region().length()
                + notices.region().length();
    }

    @Override
    public void close() {
        opened.close();
    }
}
