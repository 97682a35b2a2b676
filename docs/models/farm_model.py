#!/usr/bin/env python3
"""Exhaustive model of FaRM's commit, membership and recovery (docs/design/farm.md). Change it before the protocol.

State is explored by depth-first search over all interleavings of: one-sided READs (executed and completed apart), deliveries
of messages, steps of coordinators, kill / stop (the RNIC goes on serving) / resume / expulsion by ZooKeeper of any machine at
every step, writing of a configuration, its learning by each member, lapse of leases, activation, lock recovery, votes,
decisions, re-replication.  A region is one object.  The value of an object is the tuple of transactions that wrote it, so a
read names its writers (list-append, as Elle does).

Checked in every state in which an operation completes, and in every final state: the completed operations, those without
an answer being free to have happened or not, have an order that explains all reads and respects real time (strict
serializability); at the end also the contents of the regions, that replicas agree, and that nothing is locked or stuck.

Reductions that keep all behaviours: a reply is atomic with the delivery it answers (what is then free is when the coordinator
acts on it); messages of a phase are sent together (one that is never delivered is one that was never sent); votes are taken
together (records are frozen once a member has learnt the epoch); a READ of a transaction that writes completes when it is
executed; once nothing can fail any more, replicas take their messages first.

usage: farm_model.py check             every scenario must hold, every mutant must be found
       farm_model.py check DAY         a part of them that changes with the number of the day: 15 to 40 s
       farm_model.py scenarios | mutants | variants
       farm_model.py SCENARIO [MUTANT ...]   one, with a trace if it fails
environment: LIMIT= states and SECONDS= of one search
"""
import itertools, os, random, sys, time

UP, STOPPED, DEAD = 0, 1, 2
SAFETY_ONLY = bool(os.environ.get('SAFETY_ONLY'))      # not: stuck, locked for ever, replicas that differ
SECONDS = float(os.environ.get('SECONDS', '10'))   # for one search, where there is a limit
RO_MODE = 1 << 12                     # lock admits readers (single-machine transactions until they apply)

class Scenario:
    """machines by index; place[r] = (primary, backups); ops = (kind, machine, reads, writes, after); after: begins when that
    operation is told, or if negative, from that epoch on"""
    def __init__(s, name, nm, place, ops, faults=1, kinds=('kill',), victims=None, spare=(), want=2, note=''):
        s.name, s.nm, s.place, s.ops, s.faults, s.kinds = name, nm, place, ops, faults, kinds
        s.victims = tuple(range(nm)) if victims is None else victims
        s.spare, s.want, s.note = spare, want, note
        s.nr, s.nt = len(place), len(ops)

class Violation(Exception):
    pass

def put(t, i, v):
    return t[:i] + (v,) + t[i + 1:]

# op record: (phase, epoch, reads, acks, out, prec, rec)   rec = None | (epoch, stage, acks, decision)
PH, EP, RD, AK, OUT, PREC, RS = range(7)

class Model:
    def __init__(self, sc, mutants=()):
        self.sc, self.mu = sc, frozenset(mutants)
        unknown = self.mu - set(MUTANTS)
        if unknown:
            raise SystemExit('no such mutant: %s' % unknown)
        self.cache = {}

    # state: (st, ep, lease, cfgs, acked, active, mem, rec, ops, ready, faults, copy)
    def initial(self):
        sc = self.sc
        members = (1 << sc.nm) - 1
        regs = tuple((p, tuple(b), ()) for p, b in sc.place)
        mem = tuple(tuple(((), 0) if m == p or m in b else None for m in range(sc.nm)) for p, b in sc.place)
        rec = tuple(tuple('n' * sc.nt for _ in range(sc.nm)) for _ in sc.place)
        ops = tuple(('i', 0, (), (), None, -1, None) for _ in sc.ops)
        ready = tuple(1 << p for p, b in sc.place)
        return ((UP,) * sc.nm, (1,) * sc.nm, (True,) * sc.nm, ((members, regs),), members, 1, mem, rec, ops, ready,
                sc.faults, ())

    # ---- helpers
    def replicas(self, cfgs, e, r):
        p, b, c = cfgs[e - 1][1][r]
        return ((p,) if p >= 0 else ()) + b + c

    def parts(self, cfgs, i, e, phase):
        """who gets the messages of a phase: (region, machine)"""
        kind, loc, reads, writes, _ = self.sc.ops[i]
        regs = cfgs[e - 1][1]
        if phase == 'V':
            return [(r, regs[r][0]) for r in reads if r not in writes]
        out = []
        for r in writes:
            p, b, c = regs[r]
            if phase in 'PAT' or phase == 'X':
                if phase == 'P' and 'prepareAtPrimariesOnly' in self.mu:
                    out += [(r, p)]
                else:
                    out += [(r, m) for m in (p,) + b + c]
            elif phase == 'B':
                if kind == 'ship' and r != writes[0] and 'recordPerRegion' not in self.mu:
                    continue                                  # one record has the writes of all regions: same machines
                out += [(r, m) for m in b + c]
            elif phase == 'C':
                out += [(r, p)]
        return out

    def newval(self, ops, i, r):
        reads = self.sc.ops[i][2]
        return ops[i][RD][reads.index(r)] + (i,)

    # ---- strict serializability
    def check_history(self, ops, final):
        key = (tuple((o[OUT], o[RD] if o[OUT] == 'C' else None, o[PREC]) for o in ops), final)
        good = self.cache.get(key)
        if good is None:
            good = self.cache[key] = self.serializable(ops, final)
        return good

    def serializable(self, ops, final):
        n = len(ops)
        done = [i for i in range(n) if ops[i][OUT] == 'C']
        maybe = [i for i in range(n) if ops[i][OUT] is None and ops[i][PREC] >= 0 and self.sc.ops[i][3]
                 and len(ops[i][RD]) == len(self.sc.ops[i][2])]
        for k in range(len(maybe) + 1):
            for extra in itertools.combinations(maybe, k):
                for order in itertools.permutations(done + list(extra)):
                    if self.fits(order, ops, final):
                        return True
        return False

    def fits(self, order, ops, final):
        val = [()] * self.sc.nr
        for at, i in enumerate(order):
            for j in order[at + 1:]:
                if ops[i][PREC] >> j & 1:
                    return False              # j had completed before i was invoked
            kind, loc, reads, writes, _ = self.sc.ops[i]
            for n, r in enumerate(reads):
                if ops[i][RD][n] != val[r]:
                    return False
            for r in writes:
                val[r] = val[r] + (i,)
        return final is None or all(f is None or f == v for f, v in zip(final, val))

    # ---- transitions: yields (label, state)
    def next(self, s):
        sc, mu = self.sc, self.mu
        st, ep, lease, cfgs, acked, active, mem, rec, ops, ready, faults, copy = s
        latest = len(cfgs)
        members = cfgs[-1][0]
        if not faults and active == latest and all(st[m] == UP and ep[m] == latest or not members >> m & 1
                                                   for m in range(sc.nm)):
            # nothing fails any more, so no replica will be promoted: what replicas take can come first
            for i, o in enumerate(ops):
                if o[PH] in 'PB' and o[EP] == active and 0 in o[AK]:
                    for n, (r, m) in enumerate(self.parts(cfgs, i, o[EP], o[PH])):
                        if o[AK][n] == 0 and m != cfgs[active - 1][1][r][0]:
                            for label, mm, rr, answer in self.deliver(s, i, o[PH], r, m):
                                oo = put(ops, i, o[:AK] + (put(o[AK], n, answer),) + o[OUT:])
                                yield label, (st, ep, lease, cfgs, acked, active, mm, rr, oo, ready, faults, copy)
                                return

        def with_(**k):
            return (k.get('st', st), k.get('ep', ep), k.get('lease', lease), k.get('cfgs', cfgs), k.get('acked', acked),
                    k.get('active', active), k.get('mem', mem), k.get('rec', rec), k.get('ops', ops),
                    k.get('ready', ready), k.get('faults', faults), k.get('copy', copy))

        # faults
        if faults:
            for m in sc.victims:
                if st[m] == UP and members >> m & 1:
                    if 'kill' in sc.kinds:
                        mm = tuple(put(mem[r], m, None) for r in range(sc.nr))
                        yield 'KILL m%d' % m, with_(st=put(st, m, DEAD), mem=mm, faults=faults - 1)
                    if 'stop' in sc.kinds:
                        yield 'STOP m%d' % m, with_(st=put(st, m, STOPPED), faults=faults - 1)
                    if 'power' in sc.kinds:                   # all lose power; those with regions come back with their logs
                        ss, mm, rd = st, mem, ready
                        for x in range(sc.nm):
                            if all(mem[r][x] is None for r in range(sc.nr)) and any(
                                    sc.ops[i][1] == x and o[PH] != 'i' for i, o in enumerate(ops)):
                                ss = put(ss, x, DEAD)
                        for r in range(sc.nr):
                            mm = put(mm, r, tuple(v and (v[0], 0) for v in mm[r]))
                            if 'coldServesAtOnce' not in mu:
                                rd = put(rd, r, 0)
                        c = self.configure(with_(st=ss, mem=mm, ready=rd, faults=faults - 1),
                                           sum(1 << x for x in range(sc.nm) if ss[x] == DEAD))
                        e = len(c[3])
                        yield 'POWER', c[:1] + (tuple(e if c[3][-1][0] >> x & 1 else ep[x] for x in range(sc.nm)),) + c[2:4] + (
                            c[3][-1][0],) + c[5:]
                        break
                    if 'expel' in sc.kinds and latest == active:
                        yield 'EXPEL m%d (session lost, process runs)' % m, self.configure(with_(faults=faults - 1), 1 << m)
        for m in range(sc.nm):
            if st[m] == DEAD and 'comesBackAsItself' in mu and members >> m & 1:
                mm, rr = mem, rec
                for r in range(sc.nr):
                    p, b, c = cfgs[-1][1][r]
                    if m in (p,) + b + c:
                        mm = put(mm, r, put(mm[r], m, ((), 0)))
                        rr = put(rr, r, put(rr[r], m, 'n' * sc.nt))
                yield 'm%d is started again before its session ends' % m, with_(st=put(st, m, UP), mem=mm, rec=rr)
            if st[m] == STOPPED:
                yield 'resume m%d' % m, with_(st=put(st, m, UP))
        # ZooKeeper: sessions of machines that do not run end; the leader writes the next configuration by compare and set
        gone = 0
        for m in range(sc.nm):
            if members >> m & 1 and st[m] != UP:
                gone |= 1 << m
        whole = [x for x in copy if x[2] == 'whole']
        if gone:
            c = self.configure(s, gone)
            if c is not None:
                yield 'epoch %d without %s' % (latest + 1, self.names(gone)), c
            c = self.configure(s, gone, seen=False) if whole else None
            if c is not None:
                yield 'epoch %d without %s, by who has not heard which copies are whole' % (latest + 1, self.names(gone)), c
        elif latest == active and any(x[:2] == (r, m) for x in whole for r, (p, b, c) in enumerate(cfgs[-1][1]) for m in c):
            yield 'epoch %d: copies are whole' % (latest + 1), self.configure(s, 0)
        if 'configurationNotCompared' in mu and latest == 2:
            for m in range(sc.nm):                            # a second leader, which still has the first configuration
                if cfgs[0][0] & members >> m & 1:
                    c = self.configure(s, 1 << m, 0)
                    if c is not None:
                        yield 'epoch 3 without m%d, written over epoch 2 by who knew only epoch 1' % m, c
        if faults and 'move' in sc.kinds and latest == active:
            for r in range(1):
                if cfgs[-1][1][r][1]:
                    yield 'MOVE of region %d' % r, self.configure(with_(faults=faults - 1), 0, -1, r)
        # leases of the removed run out, by their own clocks
        for m in range(sc.nm):
            if lease[m] and not members >> m & 1 and st[m] != DEAD:
                yield 'lease of m%d lapses' % m, with_(lease=put(lease, m, False))
        # members learn
        for m in range(sc.nm):
            if st[m] == UP and members >> m & 1 and ep[m] < latest:
                yield 'm%d learns epoch %d, closes its queue pairs to the removed' % (m, latest), self.learn(s, m)
        # activation
        if active < latest:
            fenced = 'noLeaseWait' in mu or all(members >> m & 1 or st[m] == DEAD or not lease[m] for m in range(sc.nm))
            barrier = 'noBarrier' in mu or acked & members == members
            if fenced and barrier:
                yield 'epoch %d is active' % latest, with_(active=latest)
        # region and transaction recovery, re-replication
        yield from self.recovery(s, with_)
        # operations
        for i in range(sc.nt):
            yield from self.operation(s, i, with_)

    def names(self, mask):
        return ','.join('m%d' % m for m in range(self.sc.nm) if mask >> m & 1)

    def configure(self, s, gone, base=-1, move=None, seen=True):
        st, ep, lease, cfgs, acked, active, mem, rec, ops, ready, faults, copy = s
        members, regs = cfgs[base]
        members &= ~gone
        if not members:
            return None
        out = []
        for r, (p, b, c) in enumerate(regs):
            whole = tuple(m for m in c if (r, m, 'whole') in copy and seen or 'promoteIncomplete' in self.mu)
            b = tuple(m for m in b + whole if members >> m & 1)
            c = tuple(m for m in c if members >> m & 1 and m not in whole)
            old = p
            if p < 0 or not members >> p & 1:
                p, b = (b[0], b[1:]) if b else (-1, ())
            elif r == move and b:
                p, b = b[0], b[1:] + (p,)                     # planned: primary and replica change places
            if p != old and p >= 0 and 'readyForEver' not in self.mu:
                ready = put(ready, r, ready[r] & ~(1 << p))   # who becomes primary has to recover first, each time
            if p >= 0:
                for m in self.sc.spare:
                    if members >> m & 1 and m != p and m not in b + c and 1 + len(b + c) < self.sc.want:
                        c += (m,)
                        mem = put(mem, r, put(mem[r], m, ((), 0)))
            out.append((p, b, c))
        # what was said of copies was said of that epoch: in the next one they begin again
        copy = tuple(x for x in copy if ('wholeOfOlderEpoch' if x[2] == 'whole' else 'copyGoesOn') in self.mu)
        return (st, ep, lease, cfgs + ((members, tuple(out)),), 0, active, mem, rec, ops, ready, faults, copy)

    def learn(self, s, m):
        st, ep, lease, cfgs, acked, active, mem, rec, ops, ready, faults, copy = s
        latest = len(cfgs)
        for i, o in enumerate(ops):
            kind, loc, reads, writes, _ = self.sc.ops[i]
            if loc == m and o[OUT] is None and o[PREC] >= 0 and o[EP] < latest:
                if kind == 'lf' and o[PH] in 'rx':
                    ops = put(ops, i, ('i', 0, (), (), None, o[PREC], None))          # again, of the new primary
                elif o[PH] in 'rx' or not writes:
                    ops = put(ops, i, ('D', o[EP], o[RD], (), 'A', o[PREC], None))    # nothing was sent
        if 'readersInDoubt' not in self.mu:                   # decisions come region by region: no reader before the last
            for r in range(self.sc.nr):
                if mem[r][m] is not None and mem[r][m][1] & RO_MODE:
                    mem = put(mem, r, put(mem[r], m, (mem[r][m][0], mem[r][m][1] & ~RO_MODE)))
        return (st, put(ep, m, latest), lease, cfgs, acked | 1 << m, active, mem, rec, ops, ready, faults, copy)

    # ---- recovery
    def recovery(self, s, with_):
        sc, mu = self.sc, self.mu
        st, ep, lease, cfgs, acked, active, mem, rec, ops, ready, faults, copy = s
        if active == 1 or active != len(cfgs):
            return
        a = active
        members, regs = cfgs[a - 1]

        def here(m):
            return m >= 0 and st[m] == UP and ep[m] == a

        # 1. a promoted primary locks what is in doubt, then serves
        for r in range(sc.nr):
            p = regs[r][0]
            if p >= 0 and not ready[r] >> p & 1 and here(p):
                old = self.replicas(cfgs, a, r)
                if all(here(m) for m in old):
                    val, lock = mem[r][p]
                    rr = rec[r]
                    if 'serveBeforeLocks' not in mu:
                        for i, o in enumerate(ops):
                            if self.in_doubt(s, i):
                                seen = {rec[r][m][i] for m in old}
                                if 'p' in seen or ('c' in seen and 'noLockForCommitRecord' not in mu):
                                    lock = (lock | 1 << i) & ~RO_MODE
                                    best = 'c' if 'c' in seen and 'lockRecoveryForgets' not in mu else 'p'
                                    if rr[p][i] in 'np' and rr[p][i] != best:
                                        rr = put(rr, p, rr[p][:i] + best + rr[p][i + 1:])
                                        if best == 'c':
                                            new = self.newval(ops, i, r)
                                            val = new if len(new) > len(val) else val
                    yield ('region %d: m%d locks what is in doubt, serves' % (r, p),
                           with_(mem=put(mem, r, put(mem[r], p, (val, lock))), rec=put(rec, r, rr),
                                 ready=put(ready, r, ready[r] | 1 << p)))
        # 2. votes and decisions
        for i, o in enumerate(ops):
            kind, loc, reads, writes, _ = sc.ops[i]
            if not (writes and self.in_doubt(s, i)):
                continue
            if any(regs[r][0] < 0 for r in writes):
                continue                                     # a region is lost
            rc = loc if members >> loc & 1 else regs[writes[0]][0]
            if not here(rc):
                continue
            rs = o[RS] if o[RS] is not None and o[RS][0] == a else None
            who = [(r, m) for r in writes for m in self.replicas(cfgs, a, r)]
            if rs is None:
                voters = who
                if 'onlyOldReplicasVote' in mu:
                    voters = [(r, m) for r, m in who if m in self.replicas(cfgs, o[EP], r)]
                if 'votesOfPrimariesOnly' in mu:
                    voters = [(r, m) for r, m in voters if m == regs[r][0]]
                if not all(here(m) for _, m in who) or not all(ready[r] >> regs[r][0] & 1 for r in writes):
                    continue
                votes = {rec[r][m][i] for r, m in voters}
                if not votes & {'p', 'c'}:                   # nobody has a record: never prepared, aborted, or truncated
                    out = 'A' if o[OUT] is None and loc == rc else o[OUT]
                    yield ('t%d: nobody has a record%s' % (i, ', told: aborted' if out != o[OUT] else ''),
                           with_(ops=put(ops, i, ('D', o[EP], o[RD], (), out, o[PREC], (a, 'Z', (), '-')))))
                    continue
                if 'commitIfAllPrepared' in mu:
                    dec = 'C' if 'n' not in votes and 'a' not in votes else 'A'
                elif 'commitOnlyIfAllCommitted' in mu:
                    dec = 'C' if votes == {'c'} else 'A'
                elif 'regionRuleOfSosp' in mu:               # SOSP'15 where only primaries have prepares
                    regions = {r: {rec[r][m][i] for x, m in voters if x == r} for r in writes}
                    dec = 'C' if 'c' in votes and all(v & {'p', 'c'} for v in regions.values()) else 'A'
                else:
                    dec = 'C' if 'c' in votes else 'A'
                if 'coordinatorKnows' in mu and rc == loc and (o[PH] in 'BC' or o[OUT] == 'C'):
                    dec = 'C'
                if o[OUT] is not None and o[OUT] != dec:
                    raise Violation('recovery decides %s of t%d, but the application was told %s' % (dec, i, o[OUT]))
                out = o[OUT]
                if 'toldAtDecision' in mu and loc == rc and out is None:
                    out = dec
                known = tuple(r for r in writes if kind == 'ship' and 'recordPerRegion' not in mu
                              or any(rec[r][m][i] in 'pc' for x, m in voters if x == r))
                yield ('t%d: votes %s, m%d decides %s' % (i, ','.join('r%d@m%d=%s' % (r, m, rec[r][m][i])
                                                                     for r, m in voters), rc, dec),
                       with_(ops=put(ops, i, o[:AK] + (o[AK], out, o[PREC], (a, known, (0,) * len(who), dec)))))
                continue
            _, known, acks, dec = rs
            # a copy that has no record of it copies what was written: it begins afterwards
            skip = {n for n, (r, m) in enumerate(who)
                    if m in regs[r][2] and (rec[r][m][i] == 'n' and acks[n] == 0 or 'newReplicasNotTold' in mu)}
            primaries = {n for n, (r, m) in enumerate(who) if m == regs[r][0]}
            first = (set(range(len(who))) - primaries) - skip
            if 'recoveryPrimariesFirst' in mu:
                first, primaries = primaries, first
            todo = first if any(acks[n] == 0 for n in first) else primaries - skip
            for n in sorted(todo):
                r, m = who[n]
                if acks[n] == 0 and here(m):
                    val, lock = mem[r][m]
                    if dec == 'C' and r in known:             # else nobody alive has what was written there
                        new = self.newval(ops, i, r)
                        val = new if len(new) > len(val) else val
                    lock &= ~(1 << i)
                    if lock == RO_MODE:
                        lock = 0
                    rm = rec[r][m]
                    if rm[i] + dec == 'cA':
                        raise Violation('decision %s of t%d comes to m%d, which has a record of the other kind' % (dec, i, m))
                    yield ('t%d: m%d takes decision %s for region %d' % (i, m, dec, r),
                           with_(mem=put(mem, r, put(mem[r], m, (val, lock))),
                                 rec=put(rec, r, put(rec[r], m, rm[:i] + ('c' if dec == 'C' else 'n') + rm[i + 1:])),
                                 ops=put(ops, i, o[:RS] + ((a, known, put(acks, n, 1), dec),))))
            if all(acks[n] for n in range(len(who)) if n not in skip) and here(rc):
                out = dec if o[OUT] is None and rc == loc else o[OUT]
                yield ('t%d: recovered, %s' % (i, 'told: ' + out if out != o[OUT] else 'its coordinator is gone or has told'),
                       with_(ops=put(ops, i, ('D', o[EP], o[RD], (), out, o[PREC], (a, 'Z', (), dec)))))
        # 3. all is recovered: records of older epochs go, at one machine after the other
        if faults and not any(sc.ops[i][3] and self.in_doubt(s, i) for i in range(sc.nt)):
            for m in range(sc.nm):
                old = [i for i, o in enumerate(ops) if o[RS] is not None and any(rec[r][m][i] != 'n' for r in range(sc.nr))]
                if old and here(m):
                    rr = tuple(put(rec[r], m, ''.join('n' if i in old else x for i, x in enumerate(rec[r][m])))
                               for r in range(sc.nr))
                    yield 'm%d forgets what is recovered' % m, with_(rec=rr)
        # 4. a new replica copies the object by a READ, and puts it down if it has no newer one
        for r in range(sc.nr):
            p, b, c = regs[r]
            doubt = any(r in sc.ops[i][3] and self.in_doubt(s, i) for i in range(sc.nt))
            for m in c:
                if not here(m) or p < 0 or (doubt and 'copyBeforeRecovered' not in mu):
                    continue
                taken = [x for x in copy if x[0] == r and x[1] == m]
                if not taken:
                    if st[p] != DEAD and ready[r] >> p & 1 and mem[r][p][1] == 0:
                        yield 'm%d READs region %d for its copy' % (m, r), with_(copy=copy + ((r, m, mem[r][p][0]),))
                elif taken[0][2] != 'whole':
                    val, lock = mem[r][m]
                    new = taken[0][2]
                    val = new if len(new) > len(val) or 'copyOverwrites' in mu else val
                    rest = tuple(x for x in copy if x not in taken)
                    yield ('m%d puts its copy of region %d down and says it is whole' % (m, r),
                           with_(mem=put(mem, r, put(mem[r], m, (val, lock))), copy=rest + ((r, m, 'whole'),)))

    def in_doubt(self, s, i):
        """of an older epoch than the active one, and not recovered in that"""
        cfgs, active, rec, o = s[3], s[5], s[7], s[8][i]
        if not o[EP] or o[EP] >= active:
            return False
        if o[RS] is None:
            return o[PH] in 'PVBCATHSU'
        if o[RS][1] != 'Z':
            return True
        return o[RS][0] < active and any(            # recovered before, and not forgotten everywhere
            rec[r][m][i] != 'n' for r in self.sc.ops[i][3] for m in self.replicas(cfgs, active, r))

    # ---- operations
    def operation(self, s, i, with_):
        sc, mu = self.sc, self.mu
        st, ep, lease, cfgs, acked, active, mem, rec, ops, ready, faults, copy = s
        kind, loc, reads, writes, after = sc.ops[i]
        o = ops[i]
        ph, e, rd, ak, out, prec, rs = o

        def op(phase, reads_=None, acks=(), out_=None, e_=None, prec_=None):
            return put(ops, i, (phase, e if e_ is None else e_, rd if reads_ is None else reads_, acks,
                                out if out_ is None else out_, prec if prec_ is None else prec_, rs))

        mine = st[loc] == UP and ep[loc] == e and ph != 'i'
        if ph == 'i':
            free = after is None or (ep[loc] >= -after if after < 0 else ops[after][OUT] is not None)
            if st[loc] == UP and ep[loc] <= active and (lease[loc] or 'noLeaseCheck' in mu) and free:
                done = 0
                for j, x in enumerate(ops):
                    if x[OUT] is not None:
                        done |= 1 << j
                yield 't%d begins at m%d' % (i, loc), with_(
                    ops=op('r', (), (), None, ep[loc], prec if prec >= 0 else done))
            return
        regs = cfgs[e - 1][1]
        if ph == 'r':
            r = reads[len(rd)]
            p = regs[r][0]
            if p < 0:
                return
            if kind == 'ship' and loc == p:                   # reads and locks in one step of the primary's thread
                if mine and loc == p and ready[r] >> p & 1 and all(mem[x][loc][1] == 0 for x in reads):
                    vals = tuple(mem[x][loc][0] for x in reads)
                    mm = mem
                    for x in writes:
                        mm = put(mm, x, put(mm[x], loc, (mm[x][loc][0], 1 << i | RO_MODE)))
                    rr = rec
                    for x in writes:
                        w = rr[x][loc]
                        rr = put(rr, x, put(rr[x], loc, w[:i] + 'p' + w[i + 1:]))
                    yield ('t%d runs at m%d, locks for readers allowed' % (i, loc),
                           with_(mem=mm, rec=rr, ops=op('B', vals, (0,) * len(self.parts(cfgs, i, e, 'B')))))
                return
            # a one-sided READ: executed by the RNIC of the primary, whatever its process does
            if st[p] != DEAD and mem[r][p] is not None and ready[r] >> p & 1:
                open_there = p == loc or cfgs[ep[p] - 1][0] >> loc & 1 or 'membersKeepQueuePairs' in mu
                open_here = ep[loc] == e or cfgs[ep[loc] - 1][0] >> p & 1
                val, lock = mem[r][p]
                if open_there and open_here and (lock == 0 or lock & RO_MODE or 'readersAllowed' in mu):
                    if writes:                                # is validated or locked later: completes at once
                        if mine:
                            yield ('t%d: READ of r%d at m%d gives %s' % (i, r, p, list(val)),
                                   with_(ops=self.after_read(cfgs, i, op, e, rd + (val,))))
                    else:
                        yield 't%d: READ of r%d at m%d gives %s' % (i, r, p, list(val)), with_(ops=op('x', rd + (val,)))
            return
        if ph == 'x':
            if mine and (lease[loc] or 'noLeaseCheck' in mu):
                if len(rd) < len(reads):
                    yield 't%d: READ complete' % i, with_(ops=op('r'))
                elif kind == 'lf' or (not writes and (len(reads) == 1 or 'noValidate' in mu)):
                    yield 't%d: READ complete, answers %s' % (i, [list(v) for v in rd]), with_(ops=op('D', None, (), 'C'))
                else:
                    yield 't%d: READ complete, sends validate' % i, with_(ops=self.after_read(cfgs, i, op, e, rd))
            return
        # a transaction that another machine ships to its primary
        if kind == 'ship' and ph in 'HUSB' and loc != regs[writes[0]][0]:
            p = regs[writes[0]][0]
            runs = p >= 0 and st[p] == UP and ep[p] == e
            if ph == 'H' and runs and all(ready[x] >> p & 1 for x in reads):
                if all(mem[x][p] == (rd[n], 0) for n, x in enumerate(reads)):
                    mm, rr = mem, rec
                    for x in writes:
                        mm = put(mm, x, put(mm[x], p, (mm[x][p][0], 1 << i | RO_MODE)))
                        rr = put(rr, x, put(rr[x], p, rr[x][p][:i] + 'p' + rr[x][p][i + 1:]))
                    yield 't%d: shipped to m%d, which locks for readers allowed' % (i, p), with_(
                        mem=mm, rec=rr, ops=op('B', None, (0,) * len(self.parts(cfgs, i, e, 'B'))))
                else:
                    yield 't%d: shipped to m%d, which refuses' % (i, p), with_(ops=op('U'))
            elif ph == 'B' and runs and 0 not in ak:
                mm, rr = mem, rec
                for x in writes:
                    mm = put(mm, x, put(mm[x], p, (self.newval(ops, i, x), 0)))
                    rr = put(rr, x, put(rr[x], p, rr[x][p][:i] + 'c' + rr[x][p][i + 1:]))
                yield 't%d: replicas have it, m%d applies all, answers' % (i, p), with_(mem=mm, rec=rr, ops=op('S'))
            elif ph in 'US' and mine:
                yield 't%d: answered, told: %s' % (i, 'committed' if ph == 'S' else 'aborted'), with_(
                    ops=op('D', None, (), 'C' if ph == 'S' else 'A'))
            if ph != 'B' or 0 not in ak:
                return
        # deliveries
        if ph in 'PVBCAT':
            who = self.parts(cfgs, i, e, ph)
            for n, (r, m) in enumerate(who):
                if ak[n] == 0:
                    for label, mm, rr, answer in self.deliver(s, i, ph, r, m):
                        yield label, with_(mem=mm, rec=rr, ops=op(ph, None, put(ak, n, answer)))
                    if 'noOrder' in mu and ph == 'A':
                        pass
        # steps of the coordinator
        if not mine:
            return
        if ph in 'PV' and 2 in ak:
            yield 't%d: refused, told: aborted, sends abort' % i, with_(
                ops=op('A' if writes else 'D', None, (0,) * len(self.parts(cfgs, i, e, 'A')), 'A'))
            return
        if ph in 'PV' and 'timeouts' in mu and writes and 0 in ak:
            yield 't%d: tired of waiting, told: aborted, sends abort' % i, with_(
                ops=op('A', None, (0,) * len(self.parts(cfgs, i, e, 'A')), 'A'))
        if ph == 'B' and 'tiredInCommit' in mu and 0 in ak and kind == 'rw':
            yield 't%d: tired of waiting for commit, told: aborted, sends abort' % i, with_(
                ops=op('A', None, (0,) * len(self.parts(cfgs, i, e, 'A')), 'A'))
        if ph == 'P' and 'decidesWithoutReplicas' in mu:
            ak = tuple(1 if regs[r][0] != m else x for x, (r, m) in zip(ak, self.parts(cfgs, i, e, 'P')))
        if 0 in ak:
            if ph == 'B' and 'primariesWhileBackups' in mu and any(ak):
                pass
            elif not (ph == 'C' and any(ak)):
                return
        if ph == 'P':
            if self.parts(cfgs, i, e, 'V') and not {'noValidate', 'validateFirst'} & mu:
                yield 't%d: all prepared, sends validate' % i, with_(
                    ops=op('V', None, (0,) * len(self.parts(cfgs, i, e, 'V'))))
            else:
                yield from self.decided(s, i, with_, op)
        elif ph == 'V':
            if not writes:
                if lease[loc] or 'noLeaseCheck' in mu:
                    yield 't%d: validated, told: committed' % i, with_(ops=op('D', None, (), 'C'))
            elif 'validateFirst' in mu:
                yield 't%d: validated, sends prepare' % i, with_(ops=op('P', None, (0,) * len(self.parts(cfgs, i, e, 'P'))))
            else:
                yield from self.decided(s, i, with_, op)
        elif ph == 'B':
            told = 'C' if 'toldAfterBackups' in mu else None
            if kind == 'ship':
                mm, rr = mem, rec
                for x in writes:
                    w = rr[x][loc]
                    mm = put(mm, x, put(mm[x], loc, (self.newval(ops, i, x), 0)))
                    rr = put(rr, x, put(rr[x], loc, w[:i] + 'c' + w[i + 1:]))
                yield 't%d: replicas have it, m%d applies all, told: committed' % (i, loc), with_(
                    mem=mm, rec=rr, ops=op('D', None, (), 'C'))
            elif 'primariesFirst' in mu:
                yield 't%d: all committed, told: committed' % i, with_(ops=op('D', None, (), 'C'))
            else:
                yield 't%d: replicas have it, sends commit to primaries' % i, with_(
                    ops=op('C', None, (0,) * len(self.parts(cfgs, i, e, 'C')), told))
        elif ph == 'C':
            if 'primariesFirst' in mu:
                if 0 not in ak:
                    yield 't%d: primaries have it, sends commit to replicas' % i, with_(
                        ops=op('B', None, (0,) * len(self.parts(cfgs, i, e, 'B'))))
                return
            if out is None and any(ak):
                yield 't%d: a primary has it, told: committed' % i, with_(ops=op('C', None, ak, 'C'))
            if out is not None and 0 not in ak:
                yield 't%d: all have it, sends truncate' % i, with_(
                    ops=op('T', None, (0,) * len(self.parts(cfgs, i, e, 'T'))))
            elif 'truncateEarly' in mu and out is not None:
                yield 't%d: told, sends truncate although a primary has not committed' % i, with_(
                    ops=op('T', None, (0,) * len(self.parts(cfgs, i, e, 'T'))))
        elif ph in 'AT' and 0 not in ak:
            yield 't%d: nothing left' % i, with_(ops=op('D'))

    def after_read(self, cfgs, i, op, e, rd):
        kind, loc, reads, writes, _ = self.sc.ops[i]
        if len(rd) < len(reads):
            return op('r', rd)
        if kind == 'ship':
            return op('H', rd)
        first = 'P' if writes else 'V'
        if 'validateFirst' in self.mu and self.parts(cfgs, i, e, 'V'):
            first = 'V'
        return op(first, rd, (0,) * len(self.parts(cfgs, i, e, first)))

    def decided(self, s, i, with_, op):
        mu = self.mu
        cfgs, ops = s[3], s[8]
        e = ops[i][EP]
        first = 'C' if 'primariesFirst' in mu else 'B'
        n = len(self.parts(cfgs, i, e, first))
        told = 'C' if 'toldAtDecisionInCommit' in mu else None
        if n == 0:
            first, n = 'C', len(self.parts(cfgs, i, e, 'C'))
        yield 't%d: decides to commit, sends commit to %s' % (i, 'primaries' if first == 'C' else 'replicas'), with_(
            ops=op(first, None, (0,) * n, told))

    def deliver(self, s, i, ph, r, m):
        """A message of op i's phase reaches machine m for region r: (label, mem, rec, answer)."""
        sc, mu = self.sc, self.mu
        st, ep, lease, cfgs, acked, active, mem, rec, ops, ready, faults, copy = s
        e = ops[i][EP]
        if st[m] != UP or mem[r][m] is None:
            return
        if ep[m] != e and not ('epochNotChecked' in mu and ep[m] > e):
            return
        p = cfgs[e - 1][1][r][0]
        val, lock = mem[r][m]
        w = rec[r][m]
        reads = sc.ops[i][2]
        seen = ops[i][RD][reads.index(r)]

        def rec_(c):
            return put(rec, r, put(rec[r], m, w[:i] + c + w[i + 1:]))

        def mem_(v, l):
            return put(mem, r, put(mem[r], m, (v, l)))

        if ph == 'P':
            if m != p:
                yield 't%d: prepare at replica m%d of r%d' % (i, m, r), mem, rec_('p'), 1
            elif not ready[r] >> m & 1:
                return
            elif lock == 0 and (val == seen or 'prepareIgnoresVersion' in mu):
                yield 't%d: prepare at primary m%d of r%d: locked' % (i, m, r), mem_(val, 1 << i), rec_('p'), 1
            else:
                yield 't%d: prepare at primary m%d of r%d: refused' % (i, m, r), mem, rec, 2
        elif ph == 'V':
            if not ready[r] >> m & 1:
                return
            good = val == seen and (lock & ~(1 << i | RO_MODE) == 0 or 'validateIgnoresLock' in mu)
            yield 't%d: validate at m%d: %s' % (i, m, 'yes' if good else 'no'), mem, rec, 1 if good else 2
        elif ph == 'B':
            if w[i] in 'np' and (w[i] == 'p' or sc.ops[i][0] == 'ship' or 'prepareAtPrimariesOnly' in mu
                                 or 'primariesFirst' in mu or 'decidesWithoutReplicas' in mu):
                mm, rr = mem, rec
                for x in (sc.ops[i][3] if sc.ops[i][0] == 'ship' and 'recordPerRegion' not in mu else (r,)):
                    v, l = mm[x][m]
                    new = self.newval(ops, i, x)
                    y = rr[x][m]
                    mm = put(mm, x, put(mm[x], m, (new if len(new) > len(v) else v, l)))
                    rr = put(rr, x, put(rr[x], m, y[:i] + 'c' + y[i + 1:]))
                yield 't%d: commit record at replica m%d of r%d' % (i, m, r), mm, rr, 1
        elif ph == 'C':
            if 'unlockBeforeApply' in mu:
                if lock & 1 << i:
                    yield 't%d: m%d unlocks r%d before it applies' % (i, m, r), mem_(val, 0), rec, 0
                    return
            elif not lock & 1 << i:
                return
            new = self.newval(ops, i, r)
            yield ('t%d: primary m%d of r%d applies and unlocks' % (i, m, r),
                   mem_(new if len(new) > len(val) else val, lock & ~(1 << i)), rec_('c'), 1)
        elif ph == 'A':
            if 'abortKeepsLock' in mu:
                yield 't%d: abort at m%d' % (i, m), mem, rec_('n'), 1
            elif 'abortOvertakes' in mu and w[i] == 'n':       # the prepare is still under way, and comes afterwards
                yield 't%d: abort at m%d of r%d' % (i, m, r), mem, rec, 1
                if m == p and lock == 0 and val == seen:
                    yield 't%d: abort, then prepare at m%d of r%d' % (i, m, r), mem_(val, 1 << i), rec_('p'), 1
            else:
                yield 't%d: abort at m%d of r%d' % (i, m, r), mem_(val, lock & ~(1 << i)), rec_('n'), 1
        elif ph == 'T':
            if 'truncateEarly' in mu and lock & 1 << i:
                return
            yield 't%d: m%d truncates' % (i, m), mem, rec_('n'), 1

    # ---- search
    def final_values(self, s):
        st, ep, lease, cfgs, acked, active, mem, rec, ops, ready, faults, copy = s
        out = []
        for r in range(self.sc.nr):
            p = cfgs[active - 1][1][r][0]
            out.append(mem[r][p][0] if p >= 0 and mem[r][p] is not None else None)
        return tuple(out)

    def check(self, s, prev_ops):
        ops = s[8]
        if prev_ops is None or any(a[OUT] != b[OUT] for a, b in zip(ops, prev_ops)):
            if not self.check_history(ops, None):
                raise Violation('no order explains what was read and told')

    def check_final(self, s):
        st, ep, lease, cfgs, acked, active, mem, rec, ops, ready, faults, copy = s
        if active != len(cfgs) and not SAFETY_ONLY:
            raise Violation('stuck: epoch %d never becomes active' % len(cfgs))
        if not self.check_history(ops, self.final_values(s)):
            raise Violation('at the end regions hold %s: a told outcome is not there, or half of a transaction is'
                            % (self.final_values(s),))
        if SAFETY_ONLY:
            return
        members, regs = cfgs[active - 1]
        for r in range(self.sc.nr):
            p, b, c = regs[r]
            if p < 0:
                continue
            for m in (p,) + b + c:
                if mem[r][m] is None or mem[r][m][0] != mem[r][p][0]:
                    raise Violation('replicas of region %d differ at the end: %s' % (r, mem[r]))
                if mem[r][m][1]:
                    raise Violation('region %d is locked for ever at m%d' % (r, m))
        for i, o in enumerate(ops):
            loc = self.sc.ops[i][1]
            if o[PREC] >= 0 and o[OUT] is None and members >> loc & 1 and all(
                    regs[r][0] >= 0 for r in self.sc.ops[i][2]):
                raise Violation('t%d gets no answer although its machine is a member' % i)

    def search(self, limit=None, seed=None, trace=False):
        """Depth first. Returns (states, finals, violation or None, trace)."""
        rnd = random.Random(seed) if seed is not None else None
        start = self.initial()
        seen = {hash(start)}
        stack = [(start, iter(self.successors(start, rnd)))]
        labels = []
        states, finals, began = 1, 0, time.time()
        self.epochs = 1
        while stack:
            s, it = stack[-1]
            step = next(it, None)
            if step is None:
                stack.pop()
                if labels:
                    labels.pop()
                continue
            label, t = step
            if isinstance(label, Violation):
                return states, finals, label, list(labels)
            if label is None:                                 # s has no successor but faults
                finals += 1
                try:
                    self.check_final(s)
                except Violation as v:
                    return states, finals, v, list(labels)
                continue
            h = hash(t)
            if h in seen:
                continue
            seen.add(h)
            states += 1
            self.epochs = max(self.epochs, len(t[3]))
            labels.append(label)
            try:
                self.check(t, s[8])
            except Violation as v:
                return states, finals, v, list(labels)
            stack.append((t, iter(self.successors(t, rnd))))
            if limit and (states >= limit or states % 4096 == 0 and time.time() - began > SECONDS):
                return states, finals, None, None
        return states, finals, None, []

    def successors(self, s, rnd):
        out = []
        try:
            for step in self.next(s):
                out.append(step)
        except Violation as v:
            return [(v, None)]
        if all(l[0].isupper() for l, _ in out):               # faults are in capitals, and need not happen
            out.append((None, None))
        if rnd:
            rnd.shuffle(out)
        return out

MUTANTS = {
    'noValidate': 'the read set is not validated',
    'validateFirst': 'validation before the locks',
    'validateIgnoresLock': 'validation looks at the version and not at the lock',
    'primariesFirst': 'commit goes to primaries before replicas',
    'toldAtDecisionInCommit': 'the application is told when everything is prepared and validated',
    'toldAfterBackups': 'the application is told when all replicas have the commit record, before any primary has (the draft)',
    'unlockBeforeApply': 'a primary unlocks before it applies',
    'readersAllowed': 'the lock that admits readers is used by transactions of several machines',
    'abortKeepsLock': 'abort does not unlock',
    'abortOvertakes': 'an abort overtakes the prepare (no order between messages of a pair)',
    'prepareAtPrimariesOnly': 'prepare goes to primaries only, votes still "any commit record"',
    'truncateEarly': 'records are truncated before every primary has committed',
    'epochNotChecked': 'a member that knows the new epoch still takes messages of the old one',
    'noBarrier': 'the epoch becomes active before every member has closed its queue pairs',
    'noLeaseWait': 'the epoch becomes active before the leases of the removed have run out',
    'noLeaseCheck': 'a READ counts although the lease is over when it completes',
    'serveBeforeLocks': 'a promoted primary serves before it has locked what is in doubt',
    'noLockForCommitRecord': 'lock recovery leaves out transactions with a commit record (two failures)',
    'votesOfPrimariesOnly': 'only primaries vote',
    'commitIfAllPrepared': 'recovery commits what all have prepared',
    'commitOnlyIfAllCommitted': 'recovery commits only what all have committed',
    'recoveryPrimariesFirst': 'recovery tells primaries before replicas (two failures)',
    'toldAtDecision': 'recovery tells the application at the decision, before replicas have it (two failures)',
    'recordPerRegion': 'a single-machine transaction sends one record for each region instead of one for all',
    'readersInDoubt': 'a primary that stays still admits readers to what is in doubt in a single-machine transaction',
    'onlyOldReplicasVote': 'a replica that was made since has no vote, although it has taken decisions (two failures)',
    'newReplicasNotTold': 'decisions do not go to replicas that are being made',
    'copyBeforeRecovered': 'a new replica copies, and says that it is whole, while transactions of older epochs are in doubt',
    'promoteIncomplete': 'a replica that is not whole may be promoted',
    'copyOverwrites': 'a copied object overwrites a newer one',
    'copyGoesOn': 'a copy that was begun in an older epoch goes on in the next one',
    'wholeOfOlderEpoch': 'a copy is promoted that was whole in an older epoch, and begins again in this one',
    'comesBackAsItself': 'a process that was killed comes back under its old number before its session has ended',
    'tiredInCommit': 'the coordinator aborts by a time limit after it has sent commit records',
    'configurationNotCompared': 'a configuration is written without comparing the version it was composed from',
    'lockRecoveryForgets': 'a promoted primary takes over a commit record of a replica as a prepare (it had truncated its own)',
    'readyForEver': 'a machine that was primary before and becomes it again does not recover locks again',
    'coldServesAtOnce': 'a primary that comes back with its log serves before it has locked what is in doubt',
    'prepareIgnoresVersion': 'prepare locks whatever version there is',
    'decidesWithoutReplicas': 'the coordinator decides when primaries have answered, replicas not yet',
    # no mistakes, see VARIANTS
    'membersKeepQueuePairs': 'members do not close queue pairs to the removed (leases and epochs still hold)',
    'timeouts': 'the coordinator may abort by a time limit before it has decided',
    'coordinatorKnows': 'a living coordinator decides by what it knows, not by votes alone',
    'regionRuleOfSosp': "SOSP'15's rule: every region must know of it",
}

# A=0 B=1: storage; C=2 D=3: members without regions
RW = lambda loc, regs=(0, 1), after=None: ('rw', loc, regs, regs, after)
SC = {}
def add(*a, **k):
    s = Scenario(*a, **k)
    SC[s.name] = s
AB = [(0, (1,)), (1, (0,))]
add('tiny', 3, [(0, (1,))], [RW(1, (0,)), RW(2, (0,))], faults=0, note='one object, nothing fails')
add('tiny-two', 4, AB, [RW(2), ('rw', 3, (0, 1), (1,), None)], faults=0, note='two objects, nothing fails')
add('conflict', 4, AB, [RW(2), RW(3)], victims=(0, 2), note='both read and write X and Y; coordinators apart')
add('skew', 4, AB, [('rw', 2, (0, 1), (0,), None), ('rw', 3, (0, 1), (1,), None)], note='write skew')
add('skew-colocated', 2, AB, [('rw', 0, (0, 1), (0,), None), ('rw', 1, (0, 1), (1,), None)], note='coordinators are storage')
add('conflict-colocated', 2, AB, [RW(0), RW(1)])
add('readonly', 4, AB, [RW(2), ('rw', 3, (0, 1), (), None)], note='a read-only transaction of two objects')
add('lockfree', 4, AB, [RW(2), ('lf', 3, (0,), (), None), ('lf', 3, (1,), (), 1)], note='two lock-free reads, one after the other')
add('lockfree-stop', 4, AB, [RW(2), ('lf', 3, (0,), (), None), ('lf', 3, (1,), (), 1)], kinds=('stop',), victims=(0, 1))
add('stale', 4, [(0, (1,))], [RW(2, (0,)), ('lf', 3, (0,), (), 0)], kinds=('stop', 'expel'), faults=2, victims=(0, 3),
    note='primary stopped, its RNIC serves; reader expelled and running')
add('stale-readonly', 4, AB, [RW(2), ('rw', 3, (0, 1), (), None)], kinds=('stop', 'expel'), faults=2, victims=(0, 3))
add('expel', 4, AB, [RW(2), ('rw', 3, (0, 1), (0,), None)], kinds=('expel',), note='one loses its session and runs on')
add('expel-colocated', 2, AB, [RW(0), ('rw', 1, (0, 1), (), None)], kinds=('expel', 'stop'))
add('single', 4, [(0, (1,))], [RW(2, (0,)), ('lf', 3, (0,), (), 0)], note='one region; a reader afterwards')
add('single-at-replica', 3, [(0, (1,))], [RW(1, (0,)), ('lf', 2, (0,), (), 0)], note='the coordinator is the replica')
add('apart', 5, [(0, (1,)), (2, (3,))], [RW(0), ('lf', 4, (1,), (), None)], note='two regions without a common machine; the coordinator is a primary')
add('apart-two', 5, [(0, (1,)), (2, (3,))], [RW(4), RW(4, (0,))], victims=(0,), note='the same with a second writer; the first primary is killed')
add('single-expel', 4, [(0, (1,))], [RW(2, (0,)), ('lf', 3, (0,), (), 0)], kinds=('expel',), victims=(0,), note='the primary loses its session and runs on')
add('power', 5, [(0, (1,)), (2, (3,))], [RW(4)], kinds=('power',), note='all lose power, regions come back from logs')
add('power-two', 6, [(0, (1,)), (2, (3,))], [RW(4), ('lf', 5, (0,), (), None), ('lf', 5, (1,), (), 1)], kinds=('power',), note='the same, with a reader')
add('move', 4, [(0, (1,))], [RW(2, (0,)), RW(3, (0,))], kinds=('move',), faults=2, note='the primary moves, and moves back')
add('move-apart', 6, [(0, (1,)), (2, (3,))], [RW(4, after=-2), RW(5, (0,), -3)], kinds=('move',), faults=2, note='the first region moves there and back')
add('move-kill', 4, [(0, (1,))], [RW(2, (0,)), ('lf', 3, (0,), (), None)], kinds=('move', 'kill'), faults=2, note='a planned move and a kill')
add('threeway', 5, [(0, (1, 2))], [RW(3, (0,)), ('lf', 4, (0,), (), None)], faults=2, victims=(0, 1, 2, 3),
    note='three replicas, two kills, a reader')
add('threeway-two', 4, [(0, (1, 2)), (1, (2, 0))], [RW(3)], faults=2, note='two regions, three replicas, two kills')
add('ship', 4, [(0, (1, 2))], [('ship', 0, (0,), (0,), None), ('lf', 3, (0,), (), None)], faults=2, victims=(0, 1, 2),
    note='a single-machine transaction, three replicas, two kills')
add('ship-two', 3, [(0, (1,)), (0, (1,))], [('ship', 0, (0, 1), (0, 1), None), ('lf', 2, (0,), (), None), ('lf', 2, (1,), (), 1)],
    note='a single-machine transaction of two objects against two lock-free reads')
add('ship-remote', 4, [(0, (1,)), (0, (1,))],
    [('ship', 2, (0, 1), (0, 1), None), ('lf', 3, (0,), (), None), ('lf', 3, (1,), (), 1)], victims=(0, 1, 2),
    note='the same, shipped by another machine, which may die')
add('copy', 4, [(0, (1,))], [RW(3, (0,)), RW(3, (0,), 0)], faults=2, victims=(0, 1), spare=(2,),
    note='a killed replica is made again, then the primary is killed')
add('copy-ship', 5, [(0, (1, 2))], [('ship', 4, (0,), (0,), -2)], faults=3, victims=(0, 1, 2), spare=(3,), want=3,
    note='a transaction of one machine while a killed replica is made again, then two more kills')
add('truncate', 3, AB, [RW(2), ('rw', 2, (0, 1), (), 0)], note='truncation before an epoch, one after another')

def run(sc, mutants=(), seed=None, limit=None):
    m = Model(SC[sc], mutants)
    t = time.time()
    states, finals, v, trace = m.search(limit, seed)
    return states, finals, v, trace, time.time() - t, m.epochs

PLAN = {   # mutant -> scenarios in which it must be found, easiest first
    'noValidate': ['skew-colocated'], 'validateFirst': ['skew-colocated'], 'validateIgnoresLock': ['skew-colocated'],
    'primariesFirst': ['lockfree'], 'toldAtDecisionInCommit': ['single'], 'toldAfterBackups': ['single'],
    'unlockBeforeApply': ['lockfree'], 'readersAllowed': ['lockfree'], 'abortKeepsLock': ['conflict-colocated'],
    'abortOvertakes': ['conflict-colocated'], 'prepareAtPrimariesOnly': ['apart'], 'truncateEarly': ['truncate'],
    'epochNotChecked': ['conflict-colocated', 'expel-colocated', 'expel', 'lockfree'],
    'noBarrier': ['stale', 'lockfree-stop'], 'noLeaseWait': ['stale'], 'noLeaseCheck': ['stale'],
    'serveBeforeLocks': ['apart-two'], 'comesBackAsItself': ['single'],
    'tiredInCommit': ['conflict-colocated'], 'configurationNotCompared': ['single-expel'], 'coldServesAtOnce': ['power-two'], 'readyForEver': ['move-apart'], 'lockRecoveryForgets': ['threeway'], 'prepareIgnoresVersion': ['tiny'], 'decidesWithoutReplicas': ['apart'], 'noLockForCommitRecord': ['ship'], 'votesOfPrimariesOnly': ['lockfree', 'threeway'],
    'commitIfAllPrepared': ['skew-colocated'], 'commitOnlyIfAllCommitted': ['lockfree', 'conflict-colocated'],
    'recoveryPrimariesFirst': ['threeway'], 'toldAtDecision': ['threeway'],
    'promoteIncomplete': ['copy'], 'recordPerRegion': ['ship-two'], 'copyOverwrites': ['copy'],
    'copyGoesOn': ['copy-ship'], 'wholeOfOlderEpoch': ['copy-ship'],
    'copyBeforeRecovered': ['copy'], 'readersInDoubt': ['ship-remote'],
}

VARIANTS = [(('newReplicasNotTold', 'onlyOldReplicasVote'), ['copy']),
            (('membersKeepQueuePairs',), ['stale', 'lockfree-stop', 'expel-colocated']),
            (('timeouts',), ['single', 'conflict-colocated', 'apart', 'expel-colocated']),
            (('coordinatorKnows',), ['single', 'single-at-replica', 'conflict-colocated', 'threeway']),
            (('regionRuleOfSosp',), ['single', 'conflict-colocated', 'apart', 'threeway', 'threeway-two']),
            (('prepareAtPrimariesOnly', 'regionRuleOfSosp'), ['single', 'conflict-colocated', 'apart', 'threeway', 'threeway-two']),
            (('coordinatorKnows', 'toldAfterBackups'), ['single', 'single-at-replica', 'conflict-colocated'])]

# States of the scenarios with more than 100 000; in a part one of them is searched for SECONDS.
LARGE = ['copy', 'move-kill', 'threeway', 'threeway-two', 'move', 'expel', 'conflict-colocated', 'stale-readonly', 'conflict']

def main(argv):
    limit = int(os.environ.get('LIMIT', '0')) or None
    if argv and argv[0] == 'check':
        return check(int(argv[1]) if len(argv) > 1 else None)
    if argv and argv[0] in PARTS:
        return PARTS[argv[0]](limit)
    if len(argv) == 0:
        return print(__doc__)
    states, finals, v, trace, t, ep = run(argv[0], argv[1:], seed=1 if len(argv) > 1 else None)
    print('%s %s: %d states, %d final, %.1f s: %s' % (argv[0], ' '.join(argv[1:]), states, finals, t, v or 'holds'))
    for n, label in enumerate(trace or ()):
        print('%4d  %s' % (n + 1, label))

def check(day):
    """0 if all scenarios hold and all mutants are found; of a part, if a day is given."""
    small = [name for name in SC if name not in LARGE]
    wanted, limit = small + LARGE, None
    planned = list(PLAN)
    if day is not None:
        wanted = [name for n, name in enumerate(small) if n % 2 == day // 2 % 2]   # it runs every other day
        planned = [mu for n, mu in enumerate(planned) if n % 5 == day // 2 % 5]
    bad = [name for name in wanted if not holds(name)]
    if day is not None and not holds(LARGE[day // 2 % len(LARGE)], limit=10 ** 9):
        bad.append(LARGE[day // 2 % len(LARGE)])
    bad += [mu for mu in planned if not found(mu)]
    print('%d scenarios, %d mutants: %s' % (len(wanted), len(planned), 'FAILED: ' + ', '.join(bad) if bad else 'as they should be'))
    return 1 if bad else 0

def holds(name, limit=None):
    states, finals, v, trace, t, ep = run(name, limit=limit)
    print('%-20s %9d states%s %7d final, %6.1f s: %s' % (
        name, states, '' if trace is not None else ' (not all)', finals, t, v or 'holds'), flush=True)
    for n, label in enumerate(trace or () if v else ()):
        print('%4d  %s' % (n + 1, label))
    return v is None

def found(mu, limit=None):
    for sc in PLAN[mu]:
        states, finals, v, trace, t, ep = run(sc, (mu,), seed=1, limit=limit)
        if v:
            print('%-24s found in %s after %d states, %d steps: %s' % (mu, sc, states, len(trace), v), flush=True)
            return True
    print('%-24s NOT FOUND' % mu, flush=True)
    return False

def scenarios(limit):
    for name in SC:
        holds(name, limit)

def mutants(limit):
    for mu in PLAN:
        found(mu, limit)

def variants(limit):
    for mus, where in VARIANTS:
        for sc in where:
            states, finals, v, trace, t, ep = run(sc, mus, limit=limit)
            print('%-45s %-20s %9d states%s: %s' % ('+'.join(mus), sc, states, '' if trace is not None else ' (not all)',
                                                    v or 'holds'), flush=True)

PARTS = {'scenarios': scenarios, 'mutants': mutants, 'variants': variants}

if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
