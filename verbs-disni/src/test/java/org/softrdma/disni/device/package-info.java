/** The objects of verbs-api on a DiSNI of mocks ({@code MockedDisni}): no device, no libdisni.so. */
@NullMarked
package org.softrdma.disni.device;

import org.jspecify.annotations.NullMarked;
