package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.softrdma.verbs.CompletionStatus;

/** What becomes of requests, memory and regions when windows are bound and taken back. The walk's thread. */
final class Bindings {
    private Bindings() {}

    /** How certain it is that a window is bound to a region. */
    enum Hold {
        NONE,
        MAYBE,
        SURE
    }

    /** The binds of a node that are not gone. */
    static List<WalkBinding> open(WalkNode node) {
        return node.windows().stream()
                .flatMap(window -> window.bindings().stream())
                .filter(binding -> !binding.isGone())
                .toList();
    }

    /** The binds of open windows of a node that are gone: nothing else has their keys. */
    static List<WalkBinding> gone(WalkNode node) {
        return node.windows().stream()
                .flatMap(window -> window.bindings().stream())
                .filter(WalkBinding::isGone)
                .toList();
    }

    /** What windows of its node do to a region. */
    static Hold of(WalkNode node, WalkRegion region) {
        Hold hold = Hold.NONE;
        for (WalkBinding binding : open(node)) {
            if (binding.part().region() == region) {
                if (binding.isBound()) {
                    return Hold.SURE;
                }
                hold = Hold.MAYBE;
            }
        }
        return hold;
    }

    /** Requests of the peer that go by a bind and may still be under way. */
    static List<WalkRequest> users(WalkBinding binding) {
        WalkEnd peer = binding.end().peer();
        List<WalkRequest> users = new ArrayList<>();
        Stream.concat(peer.sends().stream(), peer.unplaced().stream())
                .filter(request -> request.isOneSided() && request.goesBy(binding))
                .filter(request -> !users.contains(request))
                .forEach(users::add);
        return users;
    }

    /** Requests under way that make a bind or take it back. */
    static List<WalkRequest> underWay(WalkBinding binding) {
        return binding.requests().stream()
                .filter(request -> request.end().sends().contains(request)
                        || binding.end().unreceived().contains(request))
                .toList();
    }

    /** Requests may fail because a key is taken back under them. */
    static void expose(List<WalkRequest> requests, WalkBinding binding, String how) {
        for (WalkRequest request : requests) {
            request.expose();
            request.end().connection().mayEnd(how + " of " + binding + " under " + request);
        }
    }

    /** A bind has failed. */
    static void failed(WalkRequest bind, CompletionStatus status) {
        WalkBinding binding = bind.binding();
        if (binding != null && bind.fault() == WalkRequest.Fault.NONE) {
            if (status == CompletionStatus.MEMORY_WINDOW_BIND_ERROR) {
                gone(binding);
            } else {
                binding.doubt();
            }
        }
    }

    /** No access by its key succeeds any more: the memory stays as it is, whatever the peer has under way. */
    static void gone(WalkBinding binding) {
        if (!binding.isGone()) {
            binding.gone();
            users(binding).forEach(WalkRequest::abandonAtPeer);
            binding.part().region().buffer().check();
        }
    }
}
