/** Tests of the membership by ZooKeeper, with a server of ZooKeeper in the same process. */
@NullUnmarked
package org.softrdma.cluster;

import org.jspecify.annotations.NullUnmarked;
