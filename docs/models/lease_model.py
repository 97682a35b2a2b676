#!/usr/bin/env python3
"""Leases on ZooKeeper: exhaustive over discrete time.  Question: can a member that was removed still count a READ (its lease
holds by its own clock) when the epoch without it is active?  One member renews; ZooKeeper's leader ends its session after S
ticks without a touch; whoever holds the latch writes the next configuration and activates it after a wait.

What ZooKeeper does (3.9.5, read in code): a request of the member touches its session at the server it is connected to.  The
leader hears of touches only in answers to its own pings (LearnerHandler, case PING); a write that a follower forwards does
not touch (LeaderZooKeeperServer.submitLearnerRequest).  So here the leader may miss any touch.

usage: lease_model.py
"""
import sys

S, L, T = 3, 3, 13          # session, lease, end of time

def explore(renewal, basis, wait, lag_allowed, lag_real, pause=True):
    """renewal: 'local' answered by a follower, 'write' by the leader, 'conditional' = multi(check configuration, set)
    basis: 'send' or 'receive': from when the lease counts;  wait: ticks between the configuration's write and activation
    lag_real: how far the member's clock may fall behind in all (drift)"""
    # state: t, lag, request (None | ('req', sent) | ('resp', sent, ok)), until, touch, cfg_written_at or -1, active
    start = (0, 0, None, L, 0, -1, False)
    seen, todo, parent = {start}, [start], {start: None}
    while todo:
        s = todo.pop()
        t, lag, rq, until, touch, cfg, active = s
        local = t - lag
        if active and local < until:
            path = []
            while s is not None:
                path.append(s); s = parent[s]
            return len(seen), path[::-1]
        out = []
        if rq is None:
            out.append((t, lag, ('req', local), until, touch, cfg, active))          # sends a renewal
        elif rq[0] == 'req':
            ok = True if renewal in ('local', 'write', 'write, removed alive') else cfg < 0
            # session may have ended: then writes are refused; a follower that is cut off does not know it
            if cfg >= 0 and renewal == 'write':
                out.append((t, lag, ('resp', rq[1], False), until, touch, cfg, active))
                ok = None                                                            # the session is closed by the leader
            if ok is not None:
                out.append((t, lag, ('resp', rq[1], ok), until, touch, cfg, active))
                if cfg < 0:
                    out.append((t, lag, ('resp', rq[1], ok), until, t, cfg, active)) # and the leader hears of the touch
        else:
            base = rq[1] if basis == 'send' else local
            out.append((t, lag, None, max(until, base + L) if rq[2] else until, touch, cfg, active))
        if cfg < 0 and (t - touch >= S or renewal == 'write, removed alive'):
            out.append((t, lag, rq, until, touch, t, active))                        # session ends, configuration written
        if cfg >= 0 and not active and t - cfg >= wait:
            out.append((t, lag, rq, until, touch, cfg, True))
        if t < T:
            out.append((t + 1, lag, rq, until, touch, cfg, active))
            if lag < lag_real:
                out.append((t + 1, lag + 1, rq, until, touch, cfg, active))
        for n in out:
            if n not in seen:
                seen.add(n); parent[n] = s; todo.append(n)
    return len(seen), None

D = 1
# What, renewal, basis, wait, how far the clock may fall behind, whether it holds
CASES = [
    ('session only: lease from the answer, local renewals, no wait (Curator LOST is such)', 'local', 'receive', 0, 0, False),
    ('session only: lease from the sending, local renewals, no wait', 'local', 'send', 0, 0, False),
    ('session only: lease from the sending, renewals are writes, no wait', 'write', 'send', 0, 0, False),
    ('renewals are writes, the holder waits for a lease after the configuration', 'write', 'send', L + D, D, True),
    ('the same, removed for another reason while its session lives', 'write, removed alive', 'send', L + D, D, False),
    ('renewals local, the holder waits', 'local', 'send', L + D, D, False),
    ('renewals conditional on the configuration, from the answer, the holder waits', 'conditional', 'receive', L + D, D, False),
    ('renewals conditional, from the sending, no wait', 'conditional', 'send', 0, 0, False),
    ('renewals conditional, from the sending, the holder waits: the specification', 'conditional', 'send', L + D, D, True),
    ('the same, the clock drifts beyond the bound', 'conditional', 'send', L + D, D + 1, False),
    ('the same, a lease longer than what the holder waits for', 'conditional', 'send', L + D - 1, D, False),
]

def main():
    bad = 0
    for name, renewal, basis, wait, lag, expected in CASES:
        n, path = explore(renewal, basis, wait, D, lag)
        bad += (path is None) != expected
        print('%-85s %7d states  %s%s' % (name, n, 'holds' if path is None else 'STALE READ: ' + str(path[-1]),
                                         '' if (path is None) == expected else '  BUT SHOULD NOT'))
    return 1 if bad else 0

if __name__ == '__main__':
    sys.exit(main())
