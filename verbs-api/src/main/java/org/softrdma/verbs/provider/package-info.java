/**
 * For providers only: the code that all of them share. It checks and posts requests, tracks the lifetimes of protection
 * domains and memory, and creates and closes objects. Runs on the caller's thread. Read {@link
 * org.softrdma.verbs.provider.PostingQueuePair} first.
 */
@NullMarked
package org.softrdma.verbs.provider;

import org.jspecify.annotations.NullMarked;
