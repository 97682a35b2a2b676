/**
 * The RNIC itself: engines that serve and make requests on connections, each pinned to one event loop for life.
 *
 * <p>Everything but posting runs on the engine's thread (in manual progress: the owner).
 *
 * <p>To follow one READ, take five steps. A <em>batch of an epoch</em> is what runs between {@code Epoch.enter} and {@code exit}; a
 * {@code TransmitBatch} is one send call.
 *
 * <ol>
 *   <li>Posting: {@code SoftQueuePair.postRead}, {@code SendQueue.post}, {@code Connection.ring} and {@code doorbell}.
 *   <li>The request goes: {@code OutboundStream.transmit}, {@code addReadRequest} ({@code Ddp.putReadRequest}).
 *   <li>The responder takes it: {@code Connection.ready}, {@code InboundStream.receive}, {@code beginReadRequest}, {@code
 *       StagTable.findRemote} and {@code check}, {@code InboundReadQueue.add}.
 *   <li>It answers: {@code OutboundStream.addResponse}, {@code responseSource}, {@code TransmitBatch.gather}.
 *   <li>The requester places and completes: {@code InboundStream.beginReadResponse}, {@code StreamReceiver.receive}, {@code
 *       segmentDone}, {@code SendQueue.complete}, {@code SoftCompletionQueue.push} and {@code poll}.
 * </ol>
 */
@NullMarked
package org.softrdma.sim.engine;

import org.jspecify.annotations.NullMarked;
