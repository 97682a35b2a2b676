package org.softrdma.run.files;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.kernel.Architecture;

/**
 * What stat(2) and statx(2) tell of a node. {@code struct stat}, which is another one on each architecture, and {@code struct statx},
 * which is the same on all; what is not named is zero. We write, the program reads.
 *
 * <pre>
 *              x86-64  aarch64  statx
 *   device          0        0    136  (major, minor)
 *   inode           8        8     32
 *   links          16       20     16
 *   mode           24       16     28  (2 bytes)
 *   device of a device
 *                  40       32    128  (major, minor)
 *   length         48       48     40
 *   block size     56       56      4
 *   of            144      128    256
 * </pre>
 */
final class FileStatus {
    /** Room for any of them. */
    static final int LONGEST = 256;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final int BLOCK = 4096;
    /** Minor number of the file systems without a device. */
    private static final int DEVICE = 5;

    private static final int INODE_OFFSET = 8;
    private static final int LENGTH_OFFSET = 48;
    private static final int BLOCK_OFFSET = 56;

    private static final int STATX_LENGTH = 256;
    /** {@code STATX_BASIC_STATS}: everything that stat(2) tells. */
    private static final int STATX_BASIC = 0x7FF;

    private static final int STATX_BLOCK_OFFSET = 4;
    private static final int STATX_LINKS_OFFSET = 16;
    private static final int STATX_MODE_OFFSET = 28;
    private static final int STATX_INODE_OFFSET = 32;
    private static final int STATX_LENGTH_OFFSET = 40;
    private static final int STATX_RDEV_OFFSET = 128;
    private static final int STATX_DEVICE_OFFSET = 136;

    private FileStatus() {}

    /**
     * Writes {@code struct stat}.
     *
     * @return how many bytes
     */
    static int write(Architecture architecture, VirtualNode node, int inode, MemorySegment to) {
        boolean onX86 = architecture == Architecture.X86_64;
        int length = onX86 ? 144 : 128;
        to.asSlice(0, length).fill((byte) 0);
        to.set(LONG, 0, DEVICE);
        to.set(LONG, INODE_OFFSET, inode);
        to.set(INT, onX86 ? 16 : 20, 1);
        to.set(INT, onX86 ? 24 : 16, node.mode());
        to.set(LONG, onX86 ? 40 : 32, deviceNumber(node));
        to.set(LONG, LENGTH_OFFSET, lengthBytes(node));
        to.set(INT, BLOCK_OFFSET, BLOCK);
        return length;
    }

    /**
     * Writes {@code struct statx}.
     *
     * @return how many bytes
     */
    static int writeExtended(VirtualNode node, int inode, MemorySegment to) {
        to.asSlice(0, STATX_LENGTH).fill((byte) 0);
        to.set(INT, 0, STATX_BASIC);
        to.set(INT, STATX_BLOCK_OFFSET, BLOCK);
        to.set(INT, STATX_LINKS_OFFSET, 1);
        to.set(ValueLayout.JAVA_SHORT, STATX_MODE_OFFSET, (short) node.mode());
        to.set(LONG, STATX_INODE_OFFSET, inode);
        to.set(LONG, STATX_LENGTH_OFFSET, lengthBytes(node));
        if (node instanceof VirtualNode.CharacterDevice device) {
            to.set(INT, STATX_RDEV_OFFSET, device.major());
            to.set(INT, STATX_RDEV_OFFSET + Integer.BYTES, device.minor());
        }
        to.set(INT, STATX_DEVICE_OFFSET + Integer.BYTES, DEVICE);
        return STATX_LENGTH;
    }

    /** As makedev(3) puts small numbers together. */
    private static long deviceNumber(VirtualNode node) {
        return node instanceof VirtualNode.CharacterDevice device
                ? ((long) device.major() << Byte.SIZE) | device.minor()
                : 0;
    }

    private static long lengthBytes(VirtualNode node) {
        return node instanceof VirtualNode.TextFile file ? file.content().length : 0;
    }
}
