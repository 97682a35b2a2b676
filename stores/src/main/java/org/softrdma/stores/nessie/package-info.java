/**
 * Nessie (Szepesi, Cassell, Wong, Brecht, Liu: Nessie: A Decoupled, Client-Driven, Key-Value Store using RDMA,
 * technical report CS-2015-09, University of Waterloo). Clients do everything by READs, WRITEs and compare-and-swaps;
 * servers are memory. docs/design/nessie.md tells what the paper says, and what is different here and why.
 *
 * <p><b>Who is who.</b> A server is a <em>node</em>: an index table of words and a data table of entries. A client is a
 * <em>worker</em>; it is connected to every node and has one of them as its home, whose data table takes what it
 * puts. A node's application hands out free entries and takes back used ones; it sees no key and no operation.
 *
 * <p><b>What a word means.</b> A key has N slots in the index tables of all nodes. A word is empty or names an entry,
 * and has a version that each change counts up. An entry is written once, under a name of its own, as
 * <em>pending</em>; later it becomes <em>valid</em>, or <em>abandoned</em>; nothing else in it changes until it is
 * used again under another name.
 *
 * <p><b>How SAFE keeps its promise.</b> A pending entry that a word names is a lock on its key: whoever meets it waits,
 * and after a while finishes the work, which anybody may do at any time. A PUT names its pending entry in a slot of the
 * key, makes every other word of the key stop naming an entry of it, sees all words twice without a change, and makes
 * the entry valid. It takes effect between these two looks. Of two pending entries that meet, the one in the slot that
 * is looked at later gives way. A REMOVE empties the words of the key after it has seen all of them twice without a
 * change. A GET takes the first valid entry of its key, and has missed only if two looks at all words saw the same.
 * When a key has to move, its word is marked first; whoever wants to change a marked word first counts up the
 * versions of the empty slots where the mover could put it.
 *
 * <p>The layouts are in {@code layout}, the node in {@code node}, the worker in {@code worker}: read {@code NessieGet}
 * first, then {@code NessieChange}.
 */
@NullMarked
package org.softrdma.stores.nessie;

import org.jspecify.annotations.NullMarked;
