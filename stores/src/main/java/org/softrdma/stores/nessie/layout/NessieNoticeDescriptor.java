package org.softrdma.stores.nessie.layout;

/**
 * A notice that no word names an entry any more: a word for each entry of a data table, little endian, which a worker
 * WRITEs and the node takes and clears. The paper propagates it "lazily" and gives no bytes.
 *
 * <pre>
 *  63                            32 31                            0
 * +--------------------------------+-------------------------------+
 * |  complement of the reference   |  reference of the entry       |
 * +--------------------------------+-------------------------------+
 * </pre>
 *
 * <p>The complement proves that both halves are of one notice, and the reference of which generation it is: a notice
 * may come twice. Stateless.
 */
public final class NessieNoticeDescriptor {
    private NessieNoticeDescriptor() {}

    /** The notice of an entry. */
    public static long of(int reference) {
        return Integer.toUnsignedLong(reference) | (long) ~reference << Integer.SIZE;
    }

    /** The reference in a notice; 0 if it is none. */
    public static int reference(long notice) {
        int reference = (int) notice;
        return (int) (notice >>> Integer.SIZE) == ~reference ? reference : 0;
    }
}
