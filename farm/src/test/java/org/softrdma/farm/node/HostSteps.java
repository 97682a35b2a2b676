package org.softrdma.farm.node;

import java.util.function.Consumer;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.store.SimulatedSteps;

/** Writes as {@link SimulatedSteps} does. At each message that a machine sends or takes it may die. */
final class HostSteps extends SimulatedSteps {
    /** The name of these steps. */
    static final String MESSAGE = "a message";

    private final FabricNode host;
    private final Consumer<NodeMessageKind> onMessage;

    /**
     * Of a machine.
     *
     * @param onMessage is told of each message that it sends, and that it takes before it does something with it
     */
    HostSteps(Fabric fabric, FabricNode host, Consumer<NodeMessageKind> onMessage) {
        super(fabric.scheduler());
        this.host = host;
        this.onMessage = onMessage;
    }

    @Override
    public void step(Enum<?> point) {
        super.step(point);
        if (point instanceof NodeMessageKind kind) {
            onMessage.accept(kind);
            host.step(MESSAGE);
        }
    }
}
