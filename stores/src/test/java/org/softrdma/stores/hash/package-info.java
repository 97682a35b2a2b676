/** Tests of hashes and checksums. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.hash;
