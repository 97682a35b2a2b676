package org.softrdma.kv.server.rdma;

import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What the server's queue pairs are made of.
 *
 * @param device that has them
 * @param domain of the items and of the queue pairs
 * @param channel where their completion queues raise events
 */
record RdmaResources(VerbsDevice device, ProtectionDomain domain, CompletionChannel channel) {}
