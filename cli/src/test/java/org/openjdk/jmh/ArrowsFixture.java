package org.openjdk.jmh;

/** Stands for a library that cli does not have, so that the rule about its users can be seen to fail. */
public final class ArrowsFixture {
    private ArrowsFixture() {}
}
