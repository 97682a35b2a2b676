package org.softrdma.bench.papers;

/**
 * A figure or table of a paper, and what became of it.
 *
 * @param id its name, for example {@code P-Fig10}: the first letter of the system, and the number in the paper
 * @param shows what it shows
 * @param shape what must be there to say that it holds
 * @param verdict whether it is
 * @param why what was found, or the reason
 */
public record LedgerRow(String id, String shows, String shape, LedgerVerdict verdict, String why) {}
