package org.softrdma.bench.message;

import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What all connections of an {@link EchoResponder} share.
 *
 * @param domain of all queue pairs
 * @param completions of all queue pairs
 */
record EchoParts(VerbsDevice device, ProtectionDomain domain, CompletionQueue completions) {}
