package org.softrdma.farm.graph;

import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;

/**
 * Reads the newest associations of a node: a READ of the head of their list where its pointer is known, else the node first;
 * and a READ for each part more. What is no more was changed: then it begins again at the node. Whoever uses it READs what it
 * wants, until it wants nothing. One thread.
 */
final class RangeRead {
    private final HeadCache heads;
    private final Edges found = new Edges();
    private FatPointer node = FatPointer.NONE;
    private int type;
    private int limit;
    private long address = FarmAddress.NONE;
    private int length;
    private int incarnation;
    private boolean isMissing;

    RangeRead(HeadCache heads) {
        this.heads = heads;
    }

    /** Begins. */
    void begin(FatPointer newNode, int newType, int newLimit) {
        node = newNode;
        type = newType;
        limit = newLimit;
        isMissing = false;
        found.clear();
        int head = heads.find(node, type);
        if (head < 0) {
            wantNode();
        } else {
            want(heads.address(head), heads.length(head), heads.incarnation(head));
        }
    }

    private void wantNode() {
        want(node.address(), node.length(), node.incarnation());
    }

    private void want(long newAddress, int newLength, int newIncarnation) {
        address = newAddress;
        length = newLength;
        incarnation = newIncarnation;
    }

    /** What it wants: an address, or {@link FarmAddress#NONE} if nothing more. */
    long address() {
        return address;
    }

    /** Header and payload of that. */
    int length() {
        return length;
    }

    /** Low half of its incarnation. */
    int incarnation() {
        return incarnation;
    }

    /** It is here. */
    void take(ObjectImage image) {
        if (address == node.address()) {
            FatPointer head = NodeDescriptor.head(image, type);
            heads.put(node, type, head);
            want(head.address(), head.length(), head.incarnation());
            return;
        }
        int edge = EdgeListDescriptor.EDGES_OFFSET;
        while (edge < EdgeListDescriptor.end(image) && found.size() < limit) {
            found.add(image, edge);
            edge += EdgeDescriptor.lengthAt(image, edge);
        }
        want(
                found.size() < limit ? EdgeListDescriptor.nextAddress(image) : FarmAddress.NONE,
                EdgeListDescriptor.nextLength(image),
                EdgeListDescriptor.nextIncarnation(image));
    }

    /** It is no more. */
    void gone() {
        found.clear();
        heads.remove(node, type);
        if (address == node.address()) {
            isMissing = true;
            address = FarmAddress.NONE;
        } else {
            wantNode();
        }
    }

    /** True if there is no such node. */
    boolean isMissing() {
        return isMissing;
    }

    /** What it has found. */
    Edges found() {
        return found;
    }
}
