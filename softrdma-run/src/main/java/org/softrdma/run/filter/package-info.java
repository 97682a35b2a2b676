/**
 * Which calls of a program are answered here: a seccomp filter, assembled. It looks at numbers and arguments, not at memory, so it cannot
 * see paths. Read {@link org.softrdma.run.filter.NotificationFilter} first. Any thread.
 */
@NullMarked
package org.softrdma.run.filter;

import org.jspecify.annotations.NullMarked;
