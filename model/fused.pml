/* The protocol as Pawl runs it (docs/design.md part 4): two transactions a request.
     T1  claim the key in the registry, run the phases before the call, store the point, its call's key and time
     call  outside of any transaction
     T2  keep the result, run the phases after it, store the answer
   One client key; NW attempts at once (clients' retries, the completer); one provider; the reaper; an operator, and NS
   settlers (a server, a tool) that carry out what the operator decided.

   NEVER 0: Repeat::safe_with_key, the provider honours keys and may forget them (FFORGET) after the horizon.
   NEVER 1: Repeat::never, the provider knows no keys.

   Each MUTANT_x takes one repair away; check_all says which property each must break:
     MUTANT_KEEP      T2 is not fenced by the attempt
     MUTANT_TOMB      the tombstone is in a second table, looked up before the insert that waits for the reaper
     MUTANT_REAP      the reaper takes unsettled keys too
     MUTANT_MARKLATE  never: the mark is not in T1's commit
     MUTANT_TAKEOVER  never: taking over clears the mark
     MUTANT_CLEAR     never: a proven Retry clears the mark without a fence
     MUTANT_SETTLE    a settlement is carried out without looking at standing and attempt
     MUTANT_HORIZON   a call is repeated past the provider's memory
     MUTANT_ANSWER    a time-out becomes the stored answer
   NW + NS is at most 4. Budgets: NC crashes, NE leases of living holders that end, NT lost messages, NR reaps. */
#ifndef NW
#define NW 2
#endif
#ifndef NS
#define NS 1
#endif
#ifndef NEVER
#define NEVER 0
#endif
#ifndef FFORGET
#define FFORGET 1
#endif
#ifndef NC
#define NC 1
#endif
#ifndef NE
#define NE 1
#endif
#ifndef NT
#define NT 1
#endif
#ifndef NR
#define NR 1
#endif
#ifndef MUTANT_KEEP
#define MUTANT_KEEP 0
#endif
#ifndef MUTANT_TOMB
#define MUTANT_TOMB 0
#endif
#ifndef MUTANT_REAP
#define MUTANT_REAP 0
#endif
#ifndef MUTANT_MARKLATE
#define MUTANT_MARKLATE 0
#endif
#ifndef MUTANT_TAKEOVER
#define MUTANT_TAKEOVER 0
#endif
#ifndef MUTANT_CLEAR
#define MUTANT_CLEAR 0
#endif
#ifndef MUTANT_SETTLE
#define MUTANT_SETTLE 0
#endif
#ifndef MUTANT_HORIZON
#define MUTANT_HORIZON 0
#endif
#ifndef MUTANT_ANSWER
#define MUTANT_ANSWER 0
#endif

/* recovery points and standings of the key's row */
#define ORDERED 1     /* the call comes next */
#define FIN 2
#define PERSON 3      /* on the attention list */

/* results of a call: 1..7 charge n, then */
#define DECLINED 9
#define NOTSENT 13    /* proof that nothing left this process */
#define STORED 14     /* an error that the provider remembers under the key */
#define DOUBT 15
#define GIVENUP 8

/* what a person decided */
#define HAPPENED 1
#define DIDNOT 2
#define GIVEUP 3

/* the registry and the row: both written in T1's commit */
bool live = 0, tomb = 0;      /* key_registry: state live / expired; neither: no row */
bool ex = 0; byte rp = 0; bool locked = 0, expired = 0, holder_dead = 0, mark = 0, intent = 0;
byte resp = 0; byte generation = 0;
bool own[4];                  /* own[i]: i holds the newest attempt number; settlers come after the attempts */
byte decision = 0, serial = 0; bool decided_now = 0;   /* the settlement, and whether its attempt is still the newest */

byte rides = 0, jobs = 0, keeps = 0;
byte effects = 0; byte fmem[3];
byte inflight = 0, sending = 0; bool horizon = 0;
chan net = [4] of { byte, byte, byte };
byte wait[4]; byte reply[4];
byte told = 0; bool mismatch = 0;
byte crashes = 0, exps = 0, losts = 0, reaps = 0, forgets = 0;

#define TAKE own[0] = 0; own[1] = 0; own[2] = 0; own[3] = 0; own[me] = 1; locked = 1; expired = 0; holder_dead = 0; decided_now = 0
/* WHERE id AND attempt AND recovery_point AND standing */
#define FENCED (ex && own[me] && rp == ORDERED)
#define LOOSE (ex && rp == ORDERED)

inline tell(x) { if :: told == 0 -> told = x :: told != 0 && told != x -> mismatch = 1 :: else fi }

inline die() { atomic { crashes < NC -> crashes++; wait[me] = 0; reply[me] = 0;
    if :: ex && locked && own[me] -> holder_dead = 1 :: else fi; goto idle } }

/* The call and T2: shared by attempts and by the settler after "did not happen". */
inline call_and_keep() {
    if
    :: atomic { nfull(net) -> tk = 1 + (tk % 3); wait[me] = tk; net!(NEVER -> 0 : generation), me, tk; sending--; inflight++ }
    :: atomic { losts < NT -> losts++; sending--; r = NOTSENT }
    :: atomic { crashes < NC -> crashes++; sending--; if :: ex && locked && own[me] -> holder_dead = 1 :: else fi; goto idle }
    fi;
    if
    :: r == NOTSENT -> skip
    :: r != NOTSENT ->
        if
        :: atomic { reply[me] != 0 -> r = reply[me]; reply[me] = 0; wait[me] = 0 }
        :: atomic { reply[me] == 0 && losts < NT -> losts++; wait[me] = 0; r = DOUBT }
        :: die()
        fi
    fi;
    /* T2, or what follows a call without a result */
    if
    :: r == NOTSENT ->
        if
        :: atomic { (FENCED || (MUTANT_CLEAR && ex)) -> mark = 0; if :: own[me] && rp == ORDERED -> locked = 0; expired = 0 :: else fi }
        :: atomic { !(FENCED || (MUTANT_CLEAR && ex)) -> skip }
        :: die()
        fi
    :: r == DOUBT && MUTANT_ANSWER ->
        if
        :: atomic { FENCED -> resp = DOUBT; rp = FIN; locked = 0; tell(DOUBT) }
        :: atomic { !FENCED -> skip }
        fi
    :: r == STORED || (r == DOUBT && NEVER) ->
        if
        :: atomic { FENCED -> rp = PERSON; locked = 0; decision = 0; decided_now = 0 }
        :: atomic { !FENCED -> skip }
        :: die()
        fi
    :: r == DOUBT && !NEVER && !MUTANT_ANSWER ->
        if
        :: atomic { FENCED -> locked = 0; expired = 0 }
        :: atomic { !FENCED -> skip }
        :: die()
        fi
    :: r < NOTSENT ->
        if
        :: atomic { (FENCED || (MUTANT_KEEP && ex)) ->
              if :: r == DECLINED -> skip :: else -> keeps++; jobs++ fi;
              resp = r; rp = FIN; locked = 0; mark = 0; tell(r) }
        :: atomic { !(FENCED || (MUTANT_KEEP && ex)) -> skip }   /* rolled back; the result of never is noted for the person */
        :: die()
        fi
    fi
}

proctype Att(byte me) {
    byte r = 0, tk = 0; bool saw = 0;
idle:
    atomic { r = 0; saw = 0 };
    /* A tombstone in a second table is looked up first; the insert then waits for the reaper's delete. */
    if
    :: MUTANT_TOMB -> atomic { saw = !tomb }
    :: else -> skip
    fi;
    /* T1. A death within it leaves nothing: it is one commit. */
    atomic {
        if
        :: !live && (!tomb || (MUTANT_TOMB && saw)) && !ex ->
             live = 1; ex = 1; rp = ORDERED; rides++; intent = 1; TAKE;
             if :: NEVER && !MUTANT_MARKLATE -> mark = 1 :: else fi; sending++
        :: !ex && tomb && !(MUTANT_TOMB && saw) -> goto done       /* 410 */
        :: ex && rp == FIN -> tell(resp); goto idle
        :: ex && rp == PERSON -> goto idle                         /* 502 */
        :: ex && rp == ORDERED && (!locked || expired) ->
             TAKE;
             if
             :: NEVER && mark && !MUTANT_TAKEOVER -> rp = PERSON; locked = 0; decision = 0; goto idle
             :: !NEVER && horizon && intent && !MUTANT_HORIZON -> rp = PERSON; locked = 0; decision = 0; goto idle
             :: else -> if :: NEVER && !MUTANT_MARKLATE -> mark = 1 :: else fi; sending++
             fi
        fi
    };
    call_and_keep();
    goto idle;
done: skip
}

/* A person who asks the provider before deciding, and decides rightly. */
proctype Operator() {
end:
    do
    :: atomic { ex && rp == PERSON && decision == 0 && inflight == 0 && sending == 0 ->
         if
         :: effects > 0 -> decision = HAPPENED
         :: effects == 0 && generation < 1 -> decision = DIDNOT
         :: effects == 0 -> decision = GIVEUP
         fi;
         decided_now = 1; serial++ }
    od
}

/* A server's completer carries the decision out: a take-over like any other. It may read it, sleep, and come late. */
proctype Settler(byte me) {
    byte r = 0, tk = 0, what = 0, which = 0;
idle:
    atomic { r = 0; what = 0; which = 0 };
end:
    atomic { ex && rp == PERSON && decision != 0 -> what = decision; which = serial };
    if
    :: atomic { (MUTANT_SETTLE && ex) || (ex && rp == PERSON && decided_now && which == serial) ->
         TAKE;
         if
         :: what == HAPPENED -> keeps++; jobs++; resp = effects; rp = FIN; locked = 0; decision = 0; tell(effects); goto idle
         :: what == GIVEUP -> resp = GIVENUP; rp = FIN; locked = 0; decision = 0; tell(GIVENUP); goto idle
         :: what == DIDNOT -> rp = ORDERED; generation = 1; intent = 1; mark = NEVER; decision = 0; sending++
         fi }
    :: atomic { !((MUTANT_SETTLE && ex) || (ex && rp == PERSON && decided_now && which == serial)) -> goto idle }
    fi;
    call_and_keep();
    goto idle
}

proctype Foreign() {
    byte fk, who, res, tk;
end:
    do
    :: atomic { net?fk, who, tk -> inflight--;
         if
         :: !NEVER && fmem[fk] != 0 -> res = fmem[fk]
         :: NEVER || fmem[fk] == 0 ->
              if
              :: effects < 3 -> effects++; res = effects; fmem[fk] = res
              :: effects == 0 -> res = DECLINED; fmem[fk] = DECLINED
              :: res = STORED; fmem[fk] = STORED
              fi
         fi;
         if
         :: wait[who] == tk -> if :: reply[who] = res :: losts < NT -> losts++; reply[who] = DOUBT fi
         :: else -> skip
         fi; res = 0; fk = 0; who = 0; tk = 0 }
    od
}

proctype Env() {
end:
    do
    :: atomic { ex && locked && !expired && holder_dead -> expired = 1 }
    :: atomic { ex && locked && !expired && !holder_dead && exps < NE -> exps++; expired = 1 }
    :: atomic { ex && (rp == FIN || MUTANT_REAP) && reaps < NR -> reaps++; ex = 0; live = 0; tomb = !MUTANT_REAP; locked = 0; expired = 0 }
    :: atomic { FFORGET && !NEVER && !horizon -> horizon = 1 }
    :: atomic { FFORGET && !NEVER && horizon && forgets < FFORGET && sending == 0 && inflight == 0 &&
                (fmem[0] != 0 || fmem[1] != 0) -> forgets++; fmem[0] = 0; fmem[1] = 0 }
    od
}

init { atomic { byte i; for (i : 0 .. NW - 1) { run Att(i) }; for (i : 0 .. NS - 1) { run Settler(NW + i) }; run Operator(); run Foreign(); run Env() } }

#define settled (!ex || rp == FIN || rp == PERSON)

ltl p_one    { [] (effects <= 1) }
ltl p_ride   { [] (rides <= 1) }
ltl p_job    { [] (jobs <= 1) }
ltl p_keep   { [] (keeps <= 1) }
ltl p_same   { [] (!mismatch) }
/* no refusal is final while money was taken */
ltl p_honest { [] !((told == DOUBT || told == DECLINED || told == GIVENUP) && effects > 0) }
/* a success that was answered is a charge that exists */
ltl p_paid   { [] !(told != 0 && told < GIVENUP && effects == 0) }
/* all of these at once: one search instead of seven */
#define SAFE (effects <= 1 && rides <= 1 && jobs <= 1 && keeps <= 1 && !mismatch && !((told == DOUBT || told == DECLINED || told == GIVENUP) && effects > 0) && !(told != 0 && told < GIVENUP && effects == 0))
ltl p_safe   { [] SAFE }
/* must be VIOLATED: a success, a refusal, and a settlement are really reached */
ltl p_reach  { [] !(told != 0 && told < GIVENUP) }
ltl p_reach_settled { [] !(told != 0 && generation == 1) }
ltl p_live   { [] <> settled }
