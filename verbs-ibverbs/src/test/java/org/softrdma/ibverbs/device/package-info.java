/** Tests of what the providers on the kernel's devices share. */
@NullMarked
package org.softrdma.ibverbs.device;

import org.jspecify.annotations.NullMarked;
