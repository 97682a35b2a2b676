package org.softrdma.testkit.cases;

/** x. */
public final class SendReceiveCases {}
