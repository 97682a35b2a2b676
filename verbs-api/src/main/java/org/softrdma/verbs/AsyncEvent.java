package org.softrdma.verbs;

/**
 * Something that happened to an object of a device and that no completion tells of ({@link Feature#ASYNC_EVENTS}; C:
 * {@code ibv_async_event}). Events are for looking, not for the data path: a program that polls its completions works
 * without them.
 */
public sealed interface AsyncEvent permits QueuePairEvent, CompletionQueueEvent, SharedReceiveQueueEvent, DeviceEvent {}
