/**
 * Rules that every provider keeps in the same way, for providers only: what may be posted, and how long a protection domain stays open.
 * On the caller's thread. Read {@link org.softrdma.verbs.provider.PostingRules} first.
 */
@NullMarked
package org.softrdma.verbs.provider;

import org.jspecify.annotations.NullMarked;
