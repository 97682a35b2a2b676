/**
 * For providers only: what all of them do alike. Checking and posting requests, the lives of protection domains and
 * memory, creating and closing objects. Runs on the caller's thread. Read {@link
 * org.softrdma.verbs.provider.PostingQueuePair} first.
 */
@NullMarked
package org.softrdma.verbs.provider;

import org.jspecify.annotations.NullMarked;
