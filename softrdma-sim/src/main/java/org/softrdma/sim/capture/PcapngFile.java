package org.softrdma.sim.capture;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of captured packets (pcapng, draft-ietf-opsawg-pcapng). Little endian; every block is padded to a multiple of
 * 4.
 *
 * <pre>
 *   Section Header Block          Interface Description Block     Enhanced Packet Block
 *   +----------------------+      +----------------------+        +----------------------+
 *   |  0x0A0D0D0A          |   0  |  1                   |   0    |  6                   |   0
 *   +----------------------+      +----------------------+        +----------------------+
 *   |  block length, 28    |   4  |  block length, 32    |   4    |  block length        |   4
 *   +----------------------+      +----------+-----------+        +----------------------+
 *   |  0x1A2B3C4D          |   8  | 101, raw |  0        |   8    |  interface, 0        |   8
 *   +----------+-----------+      +----------+-----------+        +----------------------+
 *   |  1       |  0        |  12  |  snap length, 0: any |  12    |  time in ns, high    |  12
 *   +----------+-----------+      +----------+-----------+        +----------------------+
 *   |  section length, -1: |  16  |  9       |  1        |  16    |  time in ns, low     |  16
 *   |  not said            |  20  |  9: 10^-9 s, padded  |  20    |  captured length     |  20
 *   +----------------------+      +----------------------+        +----------------------+
 *   |  block length        |  24  |  end of options, 0   |  24    |  original length     |  24
 *   +----------------------+      +----------------------+        +----------------------+
 *                                 |  block length        |  28    |  IP packet, padded   |  28
 *                                 +----------------------+        |  block length        |
 * </pre>
 *
 * <p>Each opening appends a section to the file, and each block is written by one call. So several devices, even of
 * several processes, may share a file: every section has the same single interface, so a block means the same in each.
 *
 * <p>Any thread; a lock keeps packets whole. When a write fails, the file is abandoned with one log message.
 */
final class PcapngFile implements AutoCloseable {
    /** Longest packet that IP can describe. */
    static final int MAX_PACKET = 0xFFFF + IpPacket.IPV6_HEADER_LENGTH;

    private static final Logger LOG = LoggerFactory.getLogger(PcapngFile.class);

    private static final int SECTION_HEADER = 0x0A0D0D0A;
    private static final int BYTE_ORDER_MAGIC = 0x1A2B3C4D;
    private static final int SECTION_HEADER_LENGTH = 28;
    private static final int INTERFACE_DESCRIPTION = 1;
    private static final int INTERFACE_DESCRIPTION_LENGTH = 32;
    private static final short LINKTYPE_RAW = 101;
    private static final short OPTION_TIMESTAMP_RESOLUTION = 9;
    private static final int NANOSECONDS = 9;
    private static final int ENHANCED_PACKET = 6;
    private static final int CAPTURED_LENGTH_OFFSET = 20;
    private static final int PACKET_OFFSET = 28;
    private static final int ALIGNMENT = 4;

    private final Path path;
    /**
     * Not a channel: an interrupt of the writing thread would close it, and with manual progress that is the
     * application's thread.
     */
    private final FileOutputStream out;

    private final ReentrantLock lock = new ReentrantLock();
    private final ByteBuffer block = ByteBuffer.allocate(PACKET_OFFSET + MAX_PACKET + ALIGNMENT + Integer.BYTES);
    private boolean open = true;

    /**
     * Creates the file, or begins another section in an existing one.
     *
     * @param path where
     * @throws IOException if it cannot be written
     */
    PcapngFile(Path path) throws IOException {
        this.path = path;
        out = new FileOutputStream(path.toFile(), true);
        block.order(ByteOrder.LITTLE_ENDIAN);
        block.putInt(SECTION_HEADER).putInt(SECTION_HEADER_LENGTH).putInt(BYTE_ORDER_MAGIC);
        block.putShort((short) 1).putShort((short) 0).putLong(-1).putInt(SECTION_HEADER_LENGTH);
        block.putInt(INTERFACE_DESCRIPTION).putInt(INTERFACE_DESCRIPTION_LENGTH);
        block.putShort(LINKTYPE_RAW).putShort((short) 0).putInt(0);
        block.putShort(OPTION_TIMESTAMP_RESOLUTION).putShort((short) 1).putInt(NANOSECONDS);
        block.putInt(0).putInt(INTERFACE_DESCRIPTION_LENGTH);
        block.flip();
        try {
            writeBlock();
        } catch (IOException e) {
            out.close();
            throw e;
        }
    }

    /**
     * Writes a packet.
     *
     * @param packet appends an IP packet to the big-endian buffer it gets, which has room for {@link #MAX_PACKET} bytes
     */
    void write(Consumer<ByteBuffer> packet) {
        lock.lock();
        try {
            if (!open) {
                return;
            }
            block.clear().position(PACKET_OFFSET).order(ByteOrder.BIG_ENDIAN);
            packet.accept(block);
            block.order(ByteOrder.LITTLE_ENDIAN);
            int length = block.position() - PACKET_OFFSET;
            while (block.position() % ALIGNMENT != 0) {
                block.put((byte) 0);
            }
            int blockLength = block.position() + Integer.BYTES;
            block.putInt(blockLength).flip();
            Instant now = Instant.now();
            long time = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
            block.putInt(0, ENHANCED_PACKET).putInt(Integer.BYTES, blockLength).putInt(2 * Integer.BYTES, 0);
            block.putInt(3 * Integer.BYTES, (int) (time >>> Integer.SIZE)).putInt(4 * Integer.BYTES, (int) time);
            block.putInt(CAPTURED_LENGTH_OFFSET, length).putInt(CAPTURED_LENGTH_OFFSET + Integer.BYTES, length);
            writeBlock();
        } catch (IOException e) {
            open = false;
            LOG.error("cannot write to the capture file {}; the capture ends here", path, e);
        } finally {
            lock.unlock();
        }
    }

    private void writeBlock() throws IOException {
        out.write(block.array(), 0, block.limit());
    }

    /** False once it is closed or abandoned. */
    boolean isOpen() {
        lock.lock();
        try {
            return open;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the file; later packets are dropped. Idempotent, throws nothing. */
    @Override
    public void close() {
        lock.lock();
        try {
            open = false;
            out.close();
        } catch (IOException e) {
            LOG.error("cannot close the capture file {}; its end may be missing", path, e);
        } finally {
            lock.unlock();
        }
    }
}
