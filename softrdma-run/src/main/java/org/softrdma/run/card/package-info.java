/**
 * The card of a run: the project's RNIC on RoCEv2, and what connects it with a program's rings and memory. Read
 * {@link org.softrdma.run.card.CardPair} first. Runs on the thread that answers calls.
 */
@NullMarked
package org.softrdma.run.card;

import org.jspecify.annotations.NullMarked;
