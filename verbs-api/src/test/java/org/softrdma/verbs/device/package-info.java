/** Tests of the parts of verbs-api that are no interfaces. Read {@link VerbsProvidersTest} first. */
@NullMarked
package org.softrdma.verbs.device;

import org.jspecify.annotations.NullMarked;
