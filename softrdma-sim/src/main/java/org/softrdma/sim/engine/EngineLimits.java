package org.softrdma.sim.engine;

/**
 * Counts and times of an engine's connections.
 *
 * @param lingering maximum number of an engine's ended connections that wait for their peer; beyond it the
 *     longest-waiting one is reset
 * @param timeouts how long it waits for peers
 */
public record EngineLimits(int lingering, EngineTimeouts timeouts) {}
