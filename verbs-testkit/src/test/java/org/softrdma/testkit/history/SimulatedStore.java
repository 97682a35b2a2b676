package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;

/**
 * Clients of one key of a true store, one step of one client at a time, in an order that a seed draws. An operation is
 * invoked, takes effect and returns in three steps; one in so many is lost: it takes effect much later, or never.
 */
final class SimulatedStore {
    private final Random random;
    private final StoreModel model;
    private final String key;
    private final int lostOneIn;
    private final boolean registerOnly;
    private final boolean mayLose;
    private final Client[] clients;
    private final List<StoreCall> late = new ArrayList<>();
    private final List<Operation<StoreCall, StoreAnswer>> operations = new ArrayList<>();
    private OptionalLong state = OptionalLong.empty();
    private long now;
    private long lastValue;

    private static final class Client {
        private StoreCall call = StoreCall.get();
        private StoreAnswer answer = StoreAnswer.MISSING;
        private long invoked;
        private int step;
    }

    /**
     * A store.
     *
     * @param seed draws everything
     * @param key name of the key
     * @param clients how many
     * @param lostOneIn of so many operations one is lost
     * @param registerOnly sets and gets only; else all commands
     * @param mayLose the key may vanish
     */
    SimulatedStore(long seed, String key, int clients, int lostOneIn, boolean registerOnly, boolean mayLose) {
        random = new Random(seed);
        model = mayLose ? StoreModel.losing() : StoreModel.keeping();
        this.key = key;
        this.lostOneIn = lostOneIn;
        this.registerOnly = registerOnly;
        this.mayLose = mayLose;
        this.clients = new Client[clients];
        for (int i = 0; i < clients; i++) {
            this.clients[i] = new Client();
        }
    }

    /** Runs until so many operations have ended. */
    List<Operation<StoreCall, StoreAnswer>> run(int count) {
        while (operations.size() < count) {
            int number = random.nextInt(clients.length);
            step("c" + number, clients[number]);
            if (!late.isEmpty() && random.nextInt(50) == 0) {
                StoreCall call = late.remove(random.nextInt(late.size()));
                state = model.step(state, call, null).orElse(state);
            }
            if (mayLose && random.nextInt(100) == 0) {
                state = OptionalLong.empty();
            }
            now++;
        }
        for (int i = 0; i < clients.length; i++) {
            if (clients[i].step > 0) {
                operations.add(Operation.unknown("c" + i, key, clients[i].call, clients[i].invoked));
            }
        }
        return operations;
    }

    private void step(String name, Client client) {
        switch (client.step) {
            case 0 -> {
                client.call = call();
                client.invoked = now;
                client.step = 1;
            }
            case 1 -> {
                if (random.nextInt(lostOneIn) == 0) {
                    operations.add(Operation.unknown(name, key, client.call, client.invoked));
                    late.add(client.call);
                    client.step = 0;
                } else {
                    client.answer = serve(client.call);
                    client.step = 2;
                }
            }
            default -> {
                operations.add(new Operation<>(name, key, client.call, client.answer, client.invoked, now));
                client.step = 0;
            }
        }
    }

    /** Values that are written are all different, but for sums. */
    private StoreCall call() {
        int drawn = random.nextInt(20);
        if (drawn < 10) {
            return StoreCall.get();
        }
        if (registerOnly || drawn < 14) {
            return StoreCall.set(++lastValue * 1000);
        }
        return switch (drawn) {
            case 14, 15 -> StoreCall.cas(state.orElse(0), ++lastValue * 1000);
            case 16 -> StoreCall.add(++lastValue * 1000);
            case 17 -> StoreCall.increment(1);
            default -> StoreCall.delete();
        };
    }

    private StoreAnswer serve(StoreCall call) {
        StoreAnswer answer = answer(call);
        state = model.step(state, call, answer).orElseThrow();
        return answer;
    }

    private StoreAnswer answer(StoreCall call) {
        if (state.isEmpty()) {
            return call.kind() == StoreCall.Kind.SET || call.kind() == StoreCall.Kind.ADD
                    ? StoreAnswer.DONE
                    : StoreAnswer.MISSING;
        }
        long value = state.getAsLong();
        return switch (call.kind()) {
            case GET -> StoreAnswer.value(value);
            case INCREMENT -> StoreAnswer.value(value + call.value());
            case ADD -> StoreAnswer.REFUSED;
            case CAS -> call.expected() == value ? StoreAnswer.DONE : StoreAnswer.REFUSED;
            case SET, DELETE -> StoreAnswer.DONE;
        };
    }
}
