package com.ibm.disni;

/** Stands for a class of the library, so that the rule about its users can be seen to fail. */
public final class ArrowsFixture {
    private ArrowsFixture() {}
}
