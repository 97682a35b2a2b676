/** Tests of what all providers do alike. */
@NullMarked
package org.softrdma.verbs.provider;

import org.jspecify.annotations.NullMarked;
