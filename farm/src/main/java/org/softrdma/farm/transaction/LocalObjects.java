package org.softrdma.farm.transaction;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.FarmSlabs;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ObjectLines;
import org.softrdma.farm.space.FarmRegion;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.space.SpaceShape;

/**
 * What {@link ShippedFunction functions} read and write at the primary of it: objects of regions that the same machines
 * have. Functions that run one after the other see what those before them have written. The node's thread.
 */
public final class LocalObjects {
    private static final byte[] NOTHING = {};

    private final FarmSpace space;
    private final Set<Integer> machines;
    /** What functions that have succeeded have left. */
    private final Map<Long, LocalObject> left = new TreeMap<>();
    /** What the one that runs has done. */
    private final Map<Long, LocalObject> changed = new HashMap<>();

    private byte[] told = NOTHING;

    private static final class LocalObject {
        private final ObjectImage image;
        private WriteEntry.Change change;

        LocalObject(ObjectImage image, WriteEntry.Change change) {
            this.image = image;
            this.change = change;
        }
    }

    /** An object is locked by another transaction, or this machine does not know yet what it needs: later it may. */
    static final class Locked extends RuntimeException {
        private static final long serialVersionUID = 1;

        Locked() {
            super("an object is locked, or it is not known yet what is free", null, false, false);
        }
    }

    /**
     * None.
     *
     * @param space of this machine
     * @param region whose machines they are
     */
    LocalObjects(FarmSpace space, int region) {
        this.space = space;
        machines = machines(space, region);
    }

    /** The machines that have a region. */
    static Set<Integer> machines(FarmSpace space, int region) {
        RegionPlacement placement = space.configuration().regions().get(region);
        return placement == null ? Set.of() : new TreeSet<>(placement.machines());
    }

    /**
     * An object as it is, or as functions have left it. It must not be changed.
     *
     * @param address of the object
     * @param length of header and payload
     * @throws IllegalArgumentException if this machine does not serve it, or other machines have its replicas
     */
    public ObjectImage read(long address, int length) {
        return find(address, length).image;
    }

    /**
     * What a fat pointer points to, as it is, or as functions have left it. It must not be changed.
     *
     * @param pointer to an object
     * @return null if it is no more: it was freed, or its incarnation has gone up for another reason
     * @throws IllegalArgumentException if this machine does not serve it, or other machines have its replicas
     */
    public @Nullable ObjectImage read(FatPointer pointer) {
        long address = pointer.address();
        LocalObject found = changed.getOrDefault(address, left.get(address));
        if (found == null) {
            long incarnation = ObjectLines.getLong(
                    regionOf(address, pointer.length()).segment(),
                    FarmAddress.offset(address),
                    FarmObjectDescriptor.INCARNATION_OFFSET);
            found = (int) incarnation == pointer.incarnation() ? find(address, pointer.length()) : null;
        }
        return found != null && pointer.equals(FatPointer.to(address, found.image)) ? found.image : null;
    }

    /**
     * An object to change.
     *
     * @param address of the object
     * @param length of header and payload
     * @throws IllegalArgumentException if this machine does not serve it, or other machines have its replicas
     */
    public ObjectImage write(long address, int length) {
        LocalObject found = find(address, length);
        LocalObject own = changed.get(address);
        if (own == null) {
            ObjectImage copy = new ObjectImage();
            copy.set(found.image);
            own = new LocalObject(copy, found.change);
            changed.put(address, own);
        }
        if (own.change == WriteEntry.Change.NONE) {
            own.change = WriteEntry.Change.WRITE;
        }
        return own.image;
    }

    /**
     * A new object, all zeroes.
     *
     * @param length of header and payload
     * @param hint address of an object that it is to be near
     * @return its address; {@link #write} has the object
     * @throws IllegalArgumentException if there is no room
     */
    public long allocate(int length, long hint) {
        long address = allocateIfRoom(length, hint);
        if (address == FarmAddress.NONE) {
            throw new IllegalArgumentException("no room for an object of " + length + " bytes here");
        }
        return address;
    }

    /** The same, but {@link FarmAddress#NONE} if there is no room. */
    public long allocateIfRoom(int length, long hint) {
        long address = space.allocate(length, hint);
        FarmRegion region = space.region(FarmAddress.region(address));
        if (address == FarmAddress.NONE || region == null) {
            requireWhatIsFree();
            return FarmAddress.NONE;
        }
        if (!machines.equals(machines(space, FarmAddress.region(address)))) {
            region.free(FarmAddress.offset(address));
            return FarmAddress.NONE;
        }
        ObjectImage ignored = create(address, length);
        return address;
    }

    /**
     * Reserves places for objects that lie one behind the other, in this epoch: {@link #create} makes the objects.
     *
     * @param length of header and payload of each
     * @param count how many
     * @param near an address in their region
     * @return the address of the first, or {@link FarmAddress#NONE} if there is no room
     */
    public long reserveAdjacent(int length, int count, long near) {
        int number = FarmAddress.region(near);
        FarmRegion region = space.region(number);
        if (region == null || !space.serves(number)) {
            // It is so new that this machine has yet to hear of it, or what is in doubt is not known.
            throw new Locked();
        }
        long offset = region.allocateAdjacent(length, count);
        if (offset == FarmSlabs.FULL) {
            requireWhatIsFree();
            return FarmAddress.NONE;
        }
        return FarmAddress.of(number, offset);
    }

    /** Before an epoch is recovered nobody can say that there is no room. */
    private void requireWhatIsFree() {
        if (!space.knowsWhatIsFree()) {
            throw new Locked();
        }
    }

    /**
     * A new object, all zeroes, at a place that was reserved in this epoch.
     *
     * @param address of it
     * @param length of header and payload
     */
    public ObjectImage create(long address, int length) {
        FarmRegion region = regionOf(address, length);
        long offset = FarmAddress.offset(address);
        if (region.isAllocated(offset)) {
            throw new IllegalArgumentException("an object is at " + Long.toHexString(address) + " already");
        }
        ObjectImage image = new ObjectImage();
        image.reset(length, region.writer().version(offset));
        image.incarnation(ObjectLines.getLong(region.segment(), offset, FarmObjectDescriptor.INCARNATION_OFFSET));
        image.allocated(true);
        changed.put(address, new LocalObject(image, WriteEntry.Change.ALLOCATE));
        return image;
    }

    /**
     * Frees an object: its place can be allocated again when the transaction has committed.
     *
     * @param address of the object
     * @param length of header and payload
     */
    public void free(long address, int length) {
        ObjectImage image = write(address, length);
        image.nextIncarnation();
        image.allocated(false);
        changed.put(address, new LocalObject(image, WriteEntry.Change.FREE));
    }

    /**
     * Tells whoever has shipped the function that runs more than its result.
     *
     * @param bytes which must not be changed any more
     */
    public void tell(byte[] bytes) {
        told = bytes;
    }

    /** What was told since it was asked for last. */
    byte[] takeTold() {
        byte[] taken = told;
        told = NOTHING;
        return taken;
    }

    /** True if the function that runs changes an object. */
    public boolean changes(long address) {
        return changed.containsKey(address);
    }

    /** Lengths of the address space. */
    public SpaceShape shape() {
        return space.shape();
    }

    /** The epoch of this machine. */
    public int epoch() {
        return space.configuration().epoch();
    }

    private LocalObject find(long address, int length) {
        LocalObject found = changed.get(address);
        found = found == null ? left.get(address) : found;
        if (found == null) {
            found = load(address, length);
            left.put(address, found);
        }
        if (found.image.length() != length) {
            throw new IllegalArgumentException("length=" + length + ", but " + found.image.length()
                    + " bytes were read at " + Long.toHexString(address));
        }
        return found;
    }

    private LocalObject load(long address, int length) {
        FarmRegion region = regionOf(address, length);
        long offset = FarmAddress.offset(address);
        if ((region.writer().version(offset) & FarmObjectDescriptor.LOCK_MASK) != 0) {
            throw new Locked();
        }
        ObjectImage image = new ObjectImage();
        region.writer().load(offset, length, image);
        return new LocalObject(image, WriteEntry.Change.NONE);
    }

    /** True if this machine is the primary of an address, and the same machines have it. */
    public boolean has(long address) {
        int number = FarmAddress.region(address);
        return space.isPrimary(number) && machines.equals(machines(space, number));
    }

    private FarmRegion regionOf(long address, int length) {
        int number = FarmAddress.region(address);
        @Nullable FarmRegion region = space.regionOf(address, length);
        if (region == null || !has(address)) {
            throw new IllegalArgumentException("no object of " + length + " bytes at " + Long.toHexString(address)
                    + " is served here and has the same replicas");
        }
        if (!space.serves(number)) {
            throw new Locked(); // until what is in doubt is known
        }
        return region;
    }

    /** The function that runs has succeeded. */
    void keep() {
        left.putAll(changed);
        changed.clear();
    }

    /** It has not. */
    void undo() {
        told = NOTHING;
        changed.forEach((address, object) -> {
            FarmRegion region = space.region(FarmAddress.region(address));
            if (object.change == WriteEntry.Change.ALLOCATE && region != null) {
                region.free(FarmAddress.offset(address));
            }
        });
        changed.clear();
    }

    /** What is written, and what the function that runs would add. */
    List<WriteEntry> written() {
        Map<Long, LocalObject> all = new TreeMap<>(left);
        all.putAll(changed);
        List<WriteEntry> entries = new ArrayList<>();
        all.forEach((address, object) -> {
            if (object.change != WriteEntry.Change.NONE) {
                entries.add(new WriteEntry(address, object.change, object.image));
            }
        });
        return entries;
    }

    /** What is only read. */
    List<ObjectVersion> read() {
        List<ObjectVersion> versions = new ArrayList<>();
        left.forEach((address, object) -> {
            if (object.change == WriteEntry.Change.NONE) {
                versions.add(new ObjectVersion(address, object.image.version()));
            }
        });
        return versions;
    }
}
