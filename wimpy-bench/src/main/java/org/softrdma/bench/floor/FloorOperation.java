package org.softrdma.bench.floor;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import org.softrdma.bench.message.SendLoad;
import org.softrdma.bench.message.WriteLoad;
import org.softrdma.bench.read.NativePrograms;
import org.softrdma.bench.read.ReadLoad;
import org.softrdma.bench.read.ReadTargets;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.device.VerbsDevice;

/** What requests do whose cost is compared: which responders there are, and which load. */
public enum FloorOperation {
    /** READs of random positions. */
    READ {
        @Override
        NativePrograms.Responder yardstick(FloorSetup setup) {
            return setup.programs().readResponder(setup.hosts());
        }

        @Override
        Optional<Supplier<NativePrograms.Responder>> ringYardstick(FloorSetup setup) {
            return Optional.of(() -> setup.programs().ringResponder(setup.hosts()));
        }

        @Override
        List<String> responderArguments() {
            return List.of("--progress", "engine");
        }

        @Override
        RequestLoad connect(VerbsDevice device, ResponderProcess responder, Shape shape) {
            // Places for the widest window and the largest size in every cell.
            return ReadLoad.connect(
                    device,
                    responder.address(),
                    shape.connections(),
                    shape.widest(),
                    shape.largest(),
                    ReadTargets.ofRegion(
                            responder.memory().address(),
                            responder.memory().length(),
                            responder.memory().rkey(),
                            shape.size()));
        }
    },
    /** WRITEs to random positions, a window of them before a READ that says they are in place. */
    WRITE {
        @Override
        NativePrograms.Responder yardstick(FloorSetup setup) {
            return setup.programs().messageResponder(setup.hosts());
        }

        @Override
        List<String> responderArguments() {
            return List.of("--progress", "engine", "--writable");
        }

        @Override
        RequestLoad connect(VerbsDevice device, ResponderProcess responder, Shape shape) {
            return WriteLoad.connect(
                    device, responder.address(), responder.memory(), shape.connections(), shape.window(), shape.size());
        }
    },
    /** SENDs, each answered by a SEND of the same bytes. The responder's only thread drives its device. */
    SEND {
        @Override
        NativePrograms.Responder yardstick(FloorSetup setup) {
            return setup.programs().messageResponder(setup.hosts());
        }

        @Override
        List<String> responderArguments() {
            return List.of("--progress", "manual", "--echo");
        }

        @Override
        RequestLoad connect(VerbsDevice device, ResponderProcess responder, Shape shape) {
            return SendLoad.connect(device, responder.address(), shape.connections(), shape.window(), shape.size());
        }
    };

    /** The C program that does the same. */
    abstract NativePrograms.Responder yardstick(FloorSetup setup);

    /** The C program that does the same by io_uring, if there is one. */
    Optional<Supplier<NativePrograms.Responder>> ringYardstick(FloorSetup setup) {
        return Optional.empty();
    }

    /** What tells {@code softrdma perf responder} to serve it. */
    abstract List<String> responderArguments();

    /**
     * Connects the load of a cell.
     *
     * @param device of the client
     * @param responder of this operation
     * @param shape how much of what
     */
    abstract RequestLoad connect(VerbsDevice device, ResponderProcess responder, Shape shape);

    /**
     * The requests of a cell.
     *
     * @param window requests outstanding on each
     * @param widest the widest window of the study
     * @param size bytes of a request
     * @param largest the largest size of the study
     */
    record Shape(int connections, int window, int widest, long size, long largest) {}

    /** Its name in results. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
