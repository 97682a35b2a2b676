/**
 * What every provider keeps in the same way, for providers only: what may be posted, how long a protection domain and memory live, and
 * how an object is closed.
 * On the caller's thread. Read {@link org.softrdma.verbs.provider.PostingRules} first.
 */
@NullMarked
package org.softrdma.verbs.provider;

import org.jspecify.annotations.NullMarked;
