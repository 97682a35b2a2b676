/** Tests of the hash table over machines. */
@org.jspecify.annotations.NullMarked
package org.softrdma.farm.map;
