package org.softrdma.sim.roce.cm;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    private final Map<Long, CmDatagramService> services = new HashMap<>();
    private final Map<Integer, Question> questions = new HashMap<>();
    /** In the order in which they were given: the oldest go first, if there are too many. */
    private final Map<Asked, Answer> answers = new LinkedHashMap<>();

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
        question.send();
        context.timers.set(question, question.repetition.beginSlowly(context.settings.repeats(), nowNs));
    }

    void answered(CmPeer peer, ServiceReply reply) {
        Question question = questions.get(reply.requestId());
        if (question == null || !question.peer.equals(peer)) {
            context.counters.countUnexpected();
            return;
        }
        question.cancel();
        question.end(Optional.of(reply));
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

        void end(Optional<ServiceReply> reply) {
            questions.remove(request.requestId());
            told.answered(reply);
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
            known.send(transaction);
            return;
        }
        CmDatagramService service = services.get(request.serviceId());
        ServiceReply reply = service == null ? noService(request) : service.asked(peer, request);
        Answer answer = new Answer(asked, reply);
        answer.send(transaction);
        if (service != null) {
            remember(answer, nowNs);
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

    /** One that was given, for as long as the question may come again. */
    private final class Answer extends CmTimers.Timer {
        private final Asked asked;
        private final ServiceReply reply;

        Answer(Asked asked, ServiceReply reply) {
            this.asked = asked;
            this.reply = reply;
        }

        void send(long transaction) {
            reply.write(context.mad(), transaction);
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
