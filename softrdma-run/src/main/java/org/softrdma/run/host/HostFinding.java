package org.softrdma.run.host;

/**
 * What was found of one thing that a run needs.
 *
 * @param subject what it is of
 * @param good whether a run can do with it
 * @param sentence what was found, and what is to be done if it is not good
 */
public record HostFinding(String subject, boolean good, String sentence) {}
