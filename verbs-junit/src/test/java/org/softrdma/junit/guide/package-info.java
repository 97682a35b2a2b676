/**
 * The program and the tests of docs/guide/testing.md: a client that READs rows of a server. Read {@link
 * org.softrdma.junit.guide.RowClientTest} first.
 */
@NullMarked
package org.softrdma.junit.guide;

import org.jspecify.annotations.NullMarked;
