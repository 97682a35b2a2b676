package org.softrdma.sim.roce.cm;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.EnduringMaps;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.ServiceReply;
import org.softrdma.sim.roce.wire.ServiceRequest;

/**
 * Questions for the queue pairs of datagram services, and answers to them (SIDR, IBA volume 1, 12.11). A question is repeated
 * until it is answered, but not soon: a kernel that has answered takes it for another one. One that comes again here gets the
 * answer that it got before, and the application hears of it once.
 *
 * <p>Thread: that of the {@link CommunicationManager}.
 */
final class ServiceExchanges {
    private final CmContext context;
    private final Map<Long, CmDatagramService> services = EnduringMaps.withTable(new HashMap<>());
    private final Map<Integer, Question> questions = EnduringMaps.withTable(new HashMap<>());
    /** In the order in which they were asked for: the oldest go first, if there are too many. */
    private final Map<Asked, Answer> answers = EnduringMaps.withTable(new LinkedHashMap<>());

    private record Asked(CmPeer peer, int requestId) {}

    /** For {@link CommunicationManager#prepare}: adds a question; true if the set has had it. */
    static boolean isIn(Set<Object> known) {
        return !known.add(new Asked(new CmPeer(new Gid(0, 0), 0), 0));
    }

    ServiceExchanges(CmContext context) {
        this.context = context;
    }

    boolean listen(long serviceId, CmDatagramService service) {
        return services.putIfAbsent(serviceId, service) == null;
    }

    void stopListening(long serviceId) {
        services.remove(serviceId);
    }

    // ---- asking

    boolean isAsked(int requestId) {
        return questions.containsKey(requestId);
    }

    void ask(CmPeer peer, ServiceRequest request, long transaction, ServiceAnswered told, long nowNs) {
        Question question = new Question(peer, request, transaction, told);
        questions.put(request.requestId(), question);
        try {
            question.send();
            context.timers.set(question, question.repetition.beginSlowly(context.settings.repeats(), nowNs));
        } catch (RuntimeException | Error e) { // whoever asks is told, and nobody else would forget it
            questions.remove(request.requestId());
            throw e;
        }
    }

    void answered(CmPeer peer, ServiceReply reply) {
        Question question = questions.get(reply.requestId());
        if (question == null || !question.peer.equals(peer)) {
            context.counters.countUnexpected();
            return;
        }
        question.end(Optional.of(reply));
        question.cancel();
    }

    /** One that is not answered yet. */
    private final class Question extends CmTimers.Timer {
        private final CmPeer peer;
        private final ServiceRequest request;
        private final long transaction;
        private final ServiceAnswered told;
        private final Repetition repetition = new Repetition(context.settings);

        Question(CmPeer peer, ServiceRequest request, long transaction, ServiceAnswered told) {
            this.peer = peer;
            this.request = request;
            this.transaction = transaction;
            this.told = told;
        }

        void send() {
            request.write(context.mad(), transaction);
            context.send(peer);
        }

        /** Whoever asks is told first: if there is no memory for that, the question is repeated. */
        void end(Optional<ServiceReply> reply) {
            told.answered(reply);
            questions.remove(request.requestId());
        }

        @Override
        void expired(long nowNs) {
            if (!repetition.once()) {
                end(Optional.empty());
                return;
            }
            context.counters.countRepeated();
            send();
            context.timers.set(this, repetition.next(nowNs));
        }
    }

    // ---- answering

    void asked(CmPeer peer, ServiceRequest request, long transaction, long nowNs) {
        Asked asked = new Asked(peer, request.requestId());
        Answer known = answers.get(asked);
        if (known != null) {
            context.counters.countDuplicate();
            known.repeat(transaction);
            return;
        }
        CmDatagramService service = services.get(request.serviceId());
        if (service == null) {
            noService(request).write(context.mad(), transaction);
            context.send(peer);
            return;
        }
        Answer answer = new Answer(asked, transaction);
        try {
            remember(answer, nowNs);
            if (!service.asked(peer, request, answer)) {
                context.counters.countBacklogFull();
                answer.forget();
            }
        } catch (RuntimeException | Error e) {
            answer.forget(); // it was never heard, and comes again
            throw e;
        }
    }

    private static ServiceReply noService(ServiceRequest request) {
        return new ServiceReply(
                request.requestId(), ServiceReply.NO_SERVICE, 0, request.serviceId(), 0, PrivateData.NONE);
    }

    private void remember(Answer answer, long nowNs) {
        if (answers.size() >= context.settings.backlog()) {
            answers.values().iterator().next().forget();
        }
        answers.put(answer.asked, answer);
        context.timers.set(answer, nowNs + context.settings.timewaitNs());
    }

    /** One that is to be given, and then for as long as the question may come again. */
    private final class Answer extends CmTimers.Timer implements CmQuestion {
        private final Asked asked;
        private long transaction;
        private @Nullable ServiceReply reply;

        Answer(Asked asked, long transaction) {
            this.asked = asked;
            this.transaction = transaction;
        }

        @Override
        public void answer(ServiceReply given, long nowNs) {
            reply = given;
            if (answers.containsKey(asked)) { // else the peer has given up, or there were too many
                context.timers.set(this, nowNs + context.settings.timewaitNs());
            }
            send(given);
        }

        /** The question has come again; the application may still think. */
        void repeat(long newTransaction) {
            transaction = newTransaction;
            if (reply != null) {
                send(reply);
            }
        }

        private void send(ServiceReply given) {
            given.write(context.mad(), transaction);
            context.send(asked.peer());
        }

        void forget() {
            cancel();
            answers.remove(asked);
        }

        @Override
        void expired(long nowNs) {
            answers.remove(asked);
        }
    }
}
