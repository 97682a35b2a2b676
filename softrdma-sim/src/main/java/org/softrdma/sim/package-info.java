/**
 * The software RNIC: a verbs provider that speaks iWARP over TCP.
 *
 * <p>Runs on its own engine threads, or in manual progress on the one application thread that polls it. Read {@link
 * org.softrdma.sim.SoftRdmaProvider} first, then {@link org.softrdma.sim.connection.Connection}.
 *
 * <p>The rooms, from the application down: {@code device} has the verbs objects, {@code connection} the life of a
 * connection, {@code rdmap} the messages, {@code carrier} how they travel, {@code engine} what drives connections.
 * Beside them: {@code queue}, {@code memory}, {@code pinning}, {@code wire}, {@code transport}, {@code kernel},
 * {@code capture}, {@code flight}.
 *
 * <p>To follow one READ, take five steps. A <em>batch of an epoch</em> is what runs between {@code Epoch.enter} and
 * {@code exit}; a {@code TransmitBatch} is one send call.
 *
 * <ol>
 *   <li>Posting: {@code SoftQueuePair.postRead}, {@code SendQueue.post}, {@code Connection.ring} and {@code doorbell}.
 *   <li>The request goes: {@code MpaOutbound.transmit}, {@code Outgoing.addNext}, {@code Reads.add}.
 *   <li>The responder takes it: {@code Connection.ready}, {@code MpaInbound.receive}, {@code Incoming.begin}, {@code
 *       ReadResponses.beginRequest}, {@code StagTable.findRemote} and {@code check}, {@code InboundReadQueue.add}.
 *   <li>It answers: {@code Outgoing.addNext}, {@code ReadResponses.add}, {@code TransmitBatch.gather}.
 *   <li>The requester places and completes: {@code Reads.begin}, {@code Placement.run}, {@code StreamReceiver.receive},
 *       {@code Reads.done}, {@code SendQueue.complete}, {@code SoftCompletionQueue.push} and {@code poll}.
 * </ol>
 */
@NullMarked
package org.softrdma.sim;

import org.jspecify.annotations.NullMarked;
