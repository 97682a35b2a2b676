/**
 * What the studies of servers share: their setup, the cores they use, and the page of their report.
 *
 * <p>Everything belongs to the thread of the study. Read {@link org.softrdma.bench.study.StudySetup} first.
 */
@NullMarked
package org.softrdma.bench.study;

import org.jspecify.annotations.NullMarked;
