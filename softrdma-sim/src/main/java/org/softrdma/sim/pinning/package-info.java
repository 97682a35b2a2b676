/**
 * Lazy pinning: registered memory is locked into RAM (mlock(2)) a granule at a time, when an engine first uses it, within a
 * budget of bytes. Read {@link org.softrdma.sim.pinning.PinTable} first.
 *
 * <p><b>What is kept.</b> The address space is cut into aligned granules (256 KiB). For each there are two numbers: which of its pages
 * are locked (one bit a page), and the tick of its last use; a tick is the time between two pins. They lie in arrays by address, not
 * by region: ten million small regions in one arena cost as many entries as the arena has granules, and overlapping
 * regions find each other's locks. {@link org.softrdma.sim.pinning.Coverage} counts which pages belong to how many regions, in
 * steps that grow with the logarithm of the length; so registration touches no memory, and a page is unlocked when its last
 * region is gone, and for the process when no other device has locked it ({@link org.softrdma.sim.pinning.CountedPageLocks}). Memory that
 * the device has allocated is registered in whole granules, cut at its ends; of other memory only
 * the pages that a region touches are known to be mapped, and no others are ever locked.
 *
 * <p><b>The warm path.</b> An engine that is about to use a piece of a region reads the bits of its granule and compares; it writes
 * the tick only if a pin has happened since its last use. No lock, no fence, no allocation. A region that is not lazy is known by
 * a bit of its row in the stag table, read anyway.
 *
 * <p><b>The cold path</b> takes the table's lock, makes room, locks every registered page of the granule with one call for
 * each run of them, and sets the bits. What does not fit - the budget is smaller than what is in use, the kernel refuses - is used
 * without being locked and counted: a software RNIC loses no byte by that, only what pinning promises.
 *
 * <p><b>No eviction under a budget that nobody has chosen.</b> A budget smaller than what is used at random makes each access evict what
 * another one needs. Who chooses a budget gets that; under the budget that a device chooses for itself engines lock until it is
 * full, and the rest is used without a lock. Rejected: so many evictions in a time, and less and less of them. Each tears the huge
 * page that it is a part of, which costs all later accesses more than the locking did (docs/studies/pinning.md has the figures).
 *
 * <p><b>Eviction</b> takes the granule with the oldest tick. It must not be in use: not in the access being made, not among what the
 * engine that evicts has gathered for its next send, and not in a batch of another engine. The last is known by epochs
 * ({@link org.softrdma.sim.memory.Quiescence}): the bits are cleared first; if another engine is in a batch it may have read them
 * before, so the granule stays locked, and counted, until that batch has ended; whoever uses it meanwhile gets it back. An
 * engine never waits for that: it makes room ahead of need, and goes without a lock where that was not enough. Only threads
 * of the application wait (a prefetch, an EAGER registration, an unpin).
 *
 * <p><b>A request of several turns</b> - a short send left part of a segment, a large segment has come in part - keeps an address, not
 * a use: each turn that touches the memory asks again, and so pins it again. Rejected: holding the granule meanwhile. A peer that
 * stops reading could then keep as much locked as it has connections, and leave nothing to the others.
 *
 * <p><b>Huge pages.</b> A lock of a part of a huge page makes the kernel map its pages one by one, which costs later accesses TLB
 * misses. So once all of a huge page is locked it is put together again (MADV_COLLAPSE), by the engine whose pin was the last,
 * as long as nothing was evicted: what an eviction would tear again is left to the kernel. Rejected: pinning a huge page at
 * once, which pins eight times what is used where little of much memory is.
 *
 * <p><b>Deregistration</b> invalidates the key, waits for the batches that may know it, then gives back the region's pages; a prefetch in
 * another thread looks its key up again under the table's lock for each granule, so it cannot lock what has just been given back.
 */
@NullMarked
package org.softrdma.sim.pinning;

import org.jspecify.annotations.NullMarked;
