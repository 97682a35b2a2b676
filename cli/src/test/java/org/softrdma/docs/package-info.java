/**
 * Keeps README and docs true: links, paths, code and the form of the text. Runs on the test's thread.
 *
 * <p>Read {@link org.softrdma.docs.DocumentationTest} first.
 */
@NullMarked
package org.softrdma.docs;

import org.jspecify.annotations.NullMarked;
