/**
 * {@code softrdma wimpy} and {@code softrdma pinning-study}: studies that start servers, load them and write a report.
 *
 * <p>The main thread loads; the servers are child processes of this program. Read {@link org.softrdma.cli.study.StudyRun} first.
 */
@NullMarked
package org.softrdma.cli.study;

import org.jspecify.annotations.NullMarked;
