package org.softrdma.sim.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.softrdma.net.memory.NativeMemory;

/**
 * The CRC32C of an FPDU, from its length field through the pad (RFC 5044 section 4.4), least significant byte first on
 * the wire. Not thread-safe; one for each engine.
 */
public final class FpduCrc {
    private final CRC32C crc = new CRC32C();

    /** Makes one. */
    public FpduCrc() {}

    /**
     * Fills in the CRC field of a complete FPDU.
     *
     * @param view a direct buffer over the memory the FPDU is in; its position and limit are changed
     * @param viewAddress address of the view's first byte
     * @param fpdu the FPDU
     * @param ulpduLength its ULPDU length
     */
    public void put(ByteBuffer view, long viewAddress, long fpdu, int ulpduLength) {
        int covered = Ddp.fpduLength(ulpduLength) - Ddp.CRC_LENGTH;
        NativeMemory.putIntLittleEndian(fpdu + covered, compute(view, viewAddress, fpdu, covered));
    }

    /** True if the CRC field of a complete FPDU is correct; parameters as in {@link #put}. */
    public boolean isValid(ByteBuffer view, long viewAddress, long fpdu, int ulpduLength) {
        int covered = Ddp.fpduLength(ulpduLength) - Ddp.CRC_LENGTH;
        return NativeMemory.getIntLittleEndian(fpdu + covered) == compute(view, viewAddress, fpdu, covered);
    }

    private int compute(ByteBuffer view, long viewAddress, long fpdu, int length) {
        int start = Math.toIntExact(fpdu - viewAddress);
        view.limit(start + length);
        view.position(start);
        crc.reset();
        crc.update(view);
        return (int) crc.getValue();
    }
}
