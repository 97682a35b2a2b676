/**
 * The study of several stores side by side: those of papers, the key-value server of this project, memcached and
 * redis, with one load; results.json, and a page that is made of nothing but results.json.
 *
 * <p>Load and study run on one thread of this process; every measured server is a child process. Read {@link
 * org.softrdma.bench.compare.CompareStudy} first, then {@link org.softrdma.bench.compare.CompareResults}.
 */
@NullMarked
package org.softrdma.bench.compare;

import org.jspecify.annotations.NullMarked;
