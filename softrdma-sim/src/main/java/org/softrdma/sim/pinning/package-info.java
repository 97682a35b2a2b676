/**
 * Lazy pinning: an engine locks registered memory into RAM (mlock(2)) when it first uses it, one granule at a time,
 * within a budget of bytes. Read {@link org.softrdma.sim.pinning.PinTable} first.
 *
 * <p><b>Who does what.</b> {@link org.softrdma.sim.pinning.PinTable} is what the device calls. It takes its lock and
 * calls the other classes, which have none: DevicePinning fixes policy and budget, Coverage counts the regions of each
 * page, LockedGranules locks and unlocks pages and keeps the counters, Eviction makes room in the order of
 * EvictionQueue, GranulePinner pins one granule, PinningPace stops engines from retrying in vain.
 * {@link org.softrdma.sim.pinning.GranuleMap} is the one part that engines read without the lock.
 * {@link org.softrdma.sim.pinning.CountedPageLocks} serves all devices of the process.
 *
 * <p><b>State.</b> The address space is cut into aligned granules (256 KiB). Each has two numbers: a bit for every
 * locked page, and the tick of its last use; the tick advances with every pin. They are stored in arrays by address,
 * not by region: ten million small regions in one arena need only as many entries as the arena has granules, and
 * overlapping regions find each other's locks. {@link org.softrdma.sim.pinning.Coverage} counts how many regions each
 * page belongs to, in time logarithmic in the length, so registration touches no memory. A page is unlocked when its
 * last region is gone and no other device of the process has it locked. Memory that the device allocated is registered
 * in whole granules, clipped at its ends. Of other memory only the pages that a region touches are known to be mapped,
 * and no others are ever locked.
 *
 * <p><b>The warm path.</b> Before an engine uses part of a region it compares the bits of the granule, and writes the
 * tick only if something was pinned since the last use. No lock, no fence, no allocation. Whether a region is lazy is a
 * bit of its row in the stag table, which the engine reads anyway.
 *
 * <p><b>The cold path</b> takes the table's lock, makes room, locks every registered page of the granule with one call
 * for each run of pages, and sets the bits. If the budget is too small or the kernel refuses, the memory is used
 * unpinned and counted: a software RNIC loses no data by that, only the promise of pinning.
 *
 * <p><b>No eviction under the automatic budget.</b> With a budget smaller than a randomly used working set, every
 * access evicts what another one needs. An application that sets a budget gets exactly that. Under the automatic budget
 * engines pin until it is full and use the rest unpinned. Rejected: limiting evictions to a rate that decreases. Every
 * eviction splits a huge page, which costs all later accesses more than the locking did (docs/studies/pinning.md has
 * the figures).
 *
 * <p><b>Eviction</b> takes the granule with the oldest tick that is not in use: not part of the access being made, not
 * gathered for the evicting engine's next send, and not in a batch of another engine. The last is decided by epochs
 * ({@link org.softrdma.sim.memory.Quiescence}). The bits are cleared first. If another engine is in a batch, it may
 * have read them before, so the granule stays locked and counted until that batch has ended; an access that needs it
 * meanwhile gets it back. An engine never waits for this: it makes room ahead of need, and where that was not enough it
 * uses memory unpinned. Only application threads wait (a prefetch, an EAGER registration, an unpin).
 *
 * <p><b>Requests that take several turns</b> (a short send left part of a segment, or part of a large segment has
 * arrived) keep an address but no claim on the granule: each turn that touches the memory asks again, and pins again if
 * needed. Rejected: holding the granule. A peer that stops reading could then keep one granule locked for each of its
 * connections and starve the others.
 *
 * <p><b>Huge pages.</b> Locking part of a huge page makes the kernel map its pages one by one, which costs later
 * accesses TLB misses. So the engine whose pin completes a huge page has it rebuilt (MADV_COLLAPSE), as long as nothing
 * was ever evicted: an eviction would split it again; and unless huge pages are not worthwhile here ({@link
 * org.softrdma.net.kernel.HugePages}). Rejected: pinning whole huge pages, which pins eight times what
 * is used when a little of much memory is used.
 *
 * <p><b>Deregistration</b> invalidates the key, waits for the batches that may know it, then gives back the region's
 * pages. A prefetch in another thread looks its key up again for each granule, under the table's lock, so it cannot
 * lock what was just given back.
 */
@NullMarked
package org.softrdma.sim.pinning;

import org.jspecify.annotations.NullMarked;
