/** Tests of cuckoo hashing, without memory. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.cuckoo;
