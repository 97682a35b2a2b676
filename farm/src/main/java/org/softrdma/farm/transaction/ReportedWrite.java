package org.softrdma.farm.transaction;

/**
 * What a machine says that it has of a transaction in doubt.
 *
 * @param entry what the transaction writes
 * @param isCommitted whether that machine has written it
 */
record ReportedWrite(WriteEntry entry, boolean isCommitted) {}
