/**
 * The ledger of the papers: each of their figures and tables with a verdict, judged by code from results that studies
 * have left.
 *
 * <p>Stateless but for what it reads. Read {@link org.softrdma.bench.papers.Ledger} first.
 */
@NullMarked
package org.softrdma.bench.papers;

import org.jspecify.annotations.NullMarked;
