package org.softrdma.kv.client;

import org.jspecify.annotations.Nullable;

/**
 * A place where an item lands: for whom, which one, and what has come. A slot is free, or holds a READ of
 * {@link KvClient#start} until its result was delivered, or has an owner, which may also have the server write an
 * item there. Made once and used again; the fields belong to the reader.
 */
final class ReadSlot {
    final int number;

    /** Null while it is free, or holds a READ of {@link KvClient#start}. */
    @Nullable
    GetRequest owner;

    /** What the owner of a READ knows it by. */
    long tag;

    byte[] key = {};
    long hash;

    /** Where the locator was found; another one may be there by now. */
    int entry;

    /** The locator, as two halves. */
    long first;

    long second;

    /** Of what it names. */
    long address;

    /** A forward locator led here: no other is followed. */
    boolean followed;

    ReadOutcome outcome = ReadOutcome.LOST;

    /** Of the item that was found whole. */
    int keyLength;

    int valueLength;

    /** The number of an rget that is not answered, or 0. */
    long opaque;

    /** When the server was asked. */
    long askedNs;

    /** What it says to have written. */
    long writtenLength;

    ReadSlot(int number) {
        this.number = number;
    }
}
