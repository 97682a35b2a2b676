package org.softrdma.farm.memory;

/**
 * A {@link FatPointerDescriptor pointer to an object} that also identifies it. Immutable.
 *
 * @param address of the object; {@link FarmAddress#NONE} for none
 * @param length of its header and payload
 * @param incarnation low half of its incarnation
 */
public record FatPointer(long address, int length, int incarnation) {
    /** To nothing. */
    public static final FatPointer NONE = new FatPointer(FarmAddress.NONE, 0, 0);

    /**
     * To an object.
     *
     * @param address of it
     * @param image of it
     */
    public static FatPointer to(long address, ObjectImage image) {
        return new FatPointer(address, image.length(), (int) image.incarnation());
    }

    /** Address, length and incarnation, in hex. */
    @Override
    public String toString() {
        return Long.toHexString(address) + "/" + Integer.toHexString(length) + "/" + Integer.toHexString(incarnation);
    }
}
