/* The protocol as Pawl runs it: one idempotency key, several servers, one payment provider, a reaper, an operator.

   T1    claim (insert or take over), phases up to a foreign call, the call's key and mark: one transaction
   call  no transaction open
   T2    keep the result, following phases up to the next foreign call or the end: one transaction

   Recovery points: started -(T1)-> ride -(call 1, the charge; T2)-> charged -(call 2, safe; T3)-> finished.
   `atomic` is one transaction, or one step in memory. A crash at a transaction is a crash before it or after it.
   The table in README.md names the function and the statements of each step.

   The labels of Server are the states of src/core/attempt_machine.hpp, and ON(event) names the event of a branch; a test
   compares both. `keeping__second` is a part of `keeping`. The column `calling` is the variable `marked` here.
   Events without a branch: new_key known_key open_key lookup_failed not_ours rejected locked lost_id in_doubt transient
   time_over next_client no_client stopping keep_later keep_alone due.

   Switches   NEVER=1    the provider knows no keys, and call 1 is Repeat::never; else Repeat::safe_with_key
              AGAIN=1    the operation says re_execute: an expired key may run again
              HASTY=1    the operator asks the provider, but does not wait for calls that are still on their way
              ASK=1      the provider can be asked about a call in doubt
              NEXT=1     after a refusal another provider is called: under the key of the next generation
   Budgets    NC crashes, NE leases that end under a living holder, NT messages lost, NF phases or stores that fail,
              NK completer's caps, NS decisions of the operator, NR reaps, NG registry rows forgotten, NO ages of a call,
              NX errors that the provider remembers, NN calls that are made anew without a person
   MUTANT_x   removes one fix; check_all lists the property that must then be violated                             */

#include "fused_switches.pml"

#define NW 2        /* Servers. */
#define ON(event)   /* For readers and the test. */

/* pawl_key_registry.state */
#define NONE 0
#define LIVE 1
#define EXPIRED 2
/* pawl_idempotency_keys.status */
#define OPEN 1
#define ATTENTION 2
#define FINISHED 3
/* pawl_idempotency_keys.recovery_point */
#define STARTED 1
#define RIDE 2
#define CHARGED 3
#define FIN 4
/* attention.settlement */
#define HAPPENED 1
#define DIDNT 2
#define GIVEUP 3
/* Results and answers: 1..6 is the number of a charge. */
#define DECLINED 9
#define GIVEN_UP 10
#define DOUBT 15    /* Perhaps made. */
#define UNSENT 14   /* Certainly not made. */
#define STUCK 13    /* An error that the provider repeats for this key, with or without a charge. */

/* State that survives a crash. */
byte reg = NONE; byte reg_gen = 0;                                   /* pawl_key_registry */
bool row = 0; byte status = 0; byte rp = 0; byte gen = 0;          /* pawl_idempotency_keys */
bool lease = 0; byte call_key = 0; bool called = 0; bool old = 0; bool marked = 0; byte charge = 0; byte resp = 0;
bool asked = 0; byte before = 0;               /* pawl_inquiries; requests that were on their way when it was noted */
byte stored = 0; byte stored_key = 0;          /* pawl_unrecorded_results: a result, and the call key (for its generation) */
bool att = 0; byte word = 0; byte word_charge = 0; bool noted = 0;   /* attention */
bool own[NW];    /* Server i's attempt is that of the row: WHERE id = $1 AND attempt = $2. */
bool holds[NW];  /* The same for the settlement that server i has read. */
bool op_holds = 0;

/* The provider, and the network to it. */
byte memory[4];                                /* Result remembered under a call key (1 + generation); 0: none. */
chan net = [NW + 1] of { byte, byte, byte, byte };   /* Call key, sender, token, life. */
byte wait[NW]; byte reply[NW]; byte sending = 0; byte in_flight = 0; byte charges = 0;

/* Observations for the properties; no process reads them. */
byte life = 0; byte allowed = 1;               /* Executions begun, and executions permitted. */
byte calls = 0; byte didnt = 0;                /* In this execution: calls that arrived; decisions or proofs that a call was not made. */
byte rides = 0; byte jobs = 0;                 /* In this execution. */
byte made[4];                                  /* Charges made in execution n. */
byte told[4]; bool told_two = 0;               /* First final answer in execution n; a different one since. */
bool orphaned = 0;                             /* An attempt lost its key although its lease never ended. */
bool stale = 0; bool backward = 0; bool wrong_note = 0;
bool lapsed[NW]; bool holder_dead = 0;
byte anews = 0, crashes = 0, exps = 0, losts = 0, fails = 0, caps = 0, words = 0, reaps = 0, forgets = 0, olds = 0, stucks = 0;

#define FENCE (row && status == OPEN && own[me] && rp == at)
#define KEPT  (FENCE || (MUTANT_NO_FENCE && row && status != 0))
#define OVER  (!lease || MUTANT_LEASE_NOT_CHECKED)
/* decide_call: the first call is older than the provider's memory. */
#define TOO_OLD (!NEVER && old && called && own[me] && !MUTANT_AGE_NOT_CHECKED)
#define ASIDE own[0] = 0; own[1] = 0; holds[0] = 0; holds[1] = 0; op_holds = 0
/* A take-over: attempt + 1. The earlier attempt fails its fence from now on. */
#define TAKE  ASIDE; own[me] = 1; lapsed[me] = 0; lease = 1; holder_dead = 0
/* The key, the time and (for never) the mark of the next call, in the transaction that reaches its point. */
#define MARK_KEY(k) call_key = k; called = 1; old = 0; asked = 0; marked = (NEVER && !MUTANT_MARK_NOT_IN_T1)
/* A request of this sender will not arrive. */
#define NOT_SENT sending--; before = (before > 0 -> before - 1 : 0)

inline move(to) {
    if :: to < rp -> backward = 1 :: else fi;
    if :: !own[me] -> stale = 1 :: else fi;
    rp = to
}
/* The row and the registry row of a new execution; the same transaction ran the phases before the call. */
inline begin(point) {
    life++; jobs = 0; calls = 0; didnt = 0;
    rides = (row -> rides : 0) + (point == RIDE);       /* If there is a row already, a mutant makes it again. */
    row = 1; status = OPEN; rp = point; gen = reg_gen; charge = 0; resp = 0;
    TAKE; lease = (point == RIDE);
    if
    :: point == RIDE -> MARK_KEY(1 + gen)
    :: else -> call_key = 0; called = 0; old = 0; marked = 0
    fi
}
inline to_attention() { status = ATTENTION; lease = 0; att = 1; word = 0; word_charge = 0; noted = 0 }
inline lost_fence() { if :: !lapsed[me] && !MUTANT_NO_FENCE -> orphaned = 1 :: else fi }
inline crash() {
    atomic {
        crashes < NC -> crashes++; wait[me] = 0; reply[me] = 0;
        if :: row && lease && own[me] -> holder_dead = 1 :: else fi;
        goto idle
    }
}
inline tell(x) {
    if :: told[life] == 0 -> told[life] = x :: told[life] != 0 && told[life] != x -> told_two = 1 :: else fi
}

/* A server does one of these at a time: an HTTP request with the key, the completer, a settlement. */
proctype Server(byte me) {
    byte at = 0, r = 0, key = 0, token = 0; bool saw = 0, asks = 0;
idle:
    atomic { at = 0; r = 0; key = 0; saw = 0; asks = 0; wait[me] = 0; reply[me] = 0; own[me] = 0; holds[me] = 0; lapsed[me] = 0 };
end_idle: looking_up: looking_up_after_lost_id: looking_up_after_lock: looking_up_after_failure: looking_up_after_defect:
looking_up_after_doubt: looking_up_after_fence: waiting:
    if                                                  /* The query before T1: only whether there is a row at all. */
    :: atomic { ON(not_found) reg == NONE && life < 3 -> saw = 0; goto claiming }
    :: atomic { ON(claimable) row && status == OPEN && OVER -> saw = 1; goto claiming }
    :: atomic { ON(claimable) reg == EXPIRED && AGAIN && life < 3 -> saw = 1; goto claiming }
    :: atomic { ON(answered) row && status == FINISHED && told[life] != resp -> tell(resp); goto idle }
    :: atomic { ON(decision) row && status == ATTENTION && word != 0 -> holds[me] = 1; r = word; key = word_charge; goto settling }
    fi;
claiming: claiming_unseen:
    if
    :: atomic { ON(reached_call) (reg == NONE && !saw) || (MUTANT_NO_REGISTRY && !saw) ->     /* claim_key returns an id. */
           reg = LIVE; begin(RIDE); at = RIDE }
    :: atomic { ON(defect) reg == NONE && !saw && fails < NF -> fails++; goto recording_failure }   /* A phase threw: rolled back. */
    :: atomic { ON(busy) reg == NONE && saw && !MUTANT_REGISTRY_TRUSTED -> goto idle } /* Forgotten since the query. */
    :: atomic { ON(reached_call) reg == NONE && saw && MUTANT_REGISTRY_TRUSTED -> begin(RIDE); at = RIDE }
    :: atomic { ON(reached_call) reg == EXPIRED && AGAIN && life < 3 -> /* claim_expired_key */
           reg = LIVE; reg_gen++; allowed++; begin(RIDE); at = RIDE }
    :: atomic { ON(answered) reg == EXPIRED && !(AGAIN && life < 3) -> goto idle }  /* 410 */
    :: atomic { ON(busy) row && status == OPEN && !OVER -> goto idle }            /* 409 */
    :: atomic { ON(answered) row && status == ATTENTION -> goto idle }            /* 502 */
    :: atomic { ON(answered) row && status == FINISHED -> goto idle }             /* Replayed at the next query. */
    :: atomic { ON(reached_call) row && status == OPEN && OVER && rp == STARTED -> /* run_resumed */
           TAKE; rides++; move(RIDE); MARK_KEY(1 + gen); at = RIDE }
    :: atomic { row && status == OPEN && OVER && rp == RIDE ->                    /* resume_at_call */
           TAKE; at = RIDE;
           if
           :: stored != 0 && (stored_key == call_key || MUTANT_RESULT_OF_ANY_CALL) -> ON(reached_result) r = stored; key = call_key; goto keeping
           :: stored == 0 || (stored_key != call_key && !MUTANT_RESULT_OF_ANY_CALL)
           fi;
           if
           :: ON(reached_doubt) ASK && ((NEVER && marked) || (!NEVER && called)) ->   /* Or unanswered for long. */
               key = call_key; goto inquiring
           :: ON(answered) !ASK && NEVER && marked && !MUTANT_MARK_CLEARED_ON_TAKE_OVER -> to_attention(); goto idle
           :: ON(answered) !ASK && !NEVER && called && old && !MUTANT_AGE_NOT_CHECKED -> to_attention(); goto idle
           :: (!ASK && !(NEVER && marked && !MUTANT_MARK_CLEARED_ON_TAKE_OVER) &&
                       !(!NEVER && called && old && !MUTANT_AGE_NOT_CHECKED)) ||
              (ASK && !(NEVER && marked) && !(asked && !MUTANT_ASKED_IS_CALLED) && !(!NEVER && called && old)) -> ON(reached_call)
               if
               :: MUTANT_CALL_KEY_OF_ATTEMPT -> MARK_KEY(1 + call_key % 3)
               :: !MUTANT_CALL_KEY_OF_ATTEMPT && call_key != 0 && called && (!NEVER || marked)
               :: else -> MARK_KEY(1 + gen)
               fi
           fi }
    :: atomic { ON(reached_call) row && status == OPEN && OVER && rp == CHARGED -> TAKE; at = CHARGED; goto keeping__second }
    :: crash()
    fi;
    atomic { key = call_key };
calling:                                                /* The check and the send are two steps: time passes between them. */
    if
    :: atomic { ON(needs_person) TOO_OLD && !ASK -> goto handing_over }
    :: atomic { ON(ask) TOO_OLD && ASK -> goto inquiring }
    :: atomic { ON(not_made) lapsed[me] && !MUTANT_CALL_AFTER_LEASE -> r = UNSENT; goto unlocking }
    :: atomic { !TOO_OLD && (!lapsed[me] || MUTANT_CALL_AFTER_LEASE) -> sending++ }
    :: crash()
    fi;
    if
    :: atomic { nfull(net) -> token = 1 + token % 3; wait[me] = token;
           net!key, me, token, life; sending--; in_flight++ }
    :: atomic { losts < NT -> losts++; NOT_SENT; r = UNSENT; goto calling__ended }
    :: atomic { crashes < NC -> NOT_SENT; crashes++;
           if :: row && lease && own[me] -> holder_dead = 1 :: else fi; goto idle }
    fi;
    if
    :: atomic { reply[me] != 0 -> r = reply[me]; reply[me] = 0; wait[me] = 0 }
    :: atomic { reply[me] == 0 && losts < NT -> losts++; wait[me] = 0; r = DOUBT }
    :: crash()
    fi;
calling__ended:                                         /* decide_after_call */
    if
    :: ON(not_made) r == UNSENT -> goto unlocking
    :: ON(result) r == DOUBT && MUTANT_DOUBT_IS_ANSWER -> goto keeping
    :: ON(needs_person) !ASK && r == DOUBT && NEVER && !MUTANT_DOUBT_IS_RETRY && !MUTANT_DOUBT_IS_ANSWER -> goto handing_over
    :: ON(ask) ASK && r == DOUBT && NEVER -> goto inquiring
    :: ON(try_again) r == DOUBT && (!NEVER || MUTANT_DOUBT_IS_RETRY) && !MUTANT_DOUBT_IS_ANSWER &&
                     !(MUTANT_NEXT_WITHOUT_PROOF && anews < NN) -> goto unlocking
    :: ON(needs_person) r == STUCK -> goto handing_over
    :: atomic { ON(call_anew) ((NEXT && r == DECLINED) || (MUTANT_NEXT_WITHOUT_PROOF && r == DOUBT)) && anews < NN ->
           didnt++; goto beginning_anew }
    :: ON(result) r < UNSENT && r != STUCK && !(NEXT && r == DECLINED && anews < NN) -> goto keeping
    fi;
inquiring:                                              /* decide_after_inquiry */
    if
    :: atomic { ON(result) made[life] > 0 && charges < DECLINED -> r = charges; goto keeping }
    :: atomic { ON(call_anew) made[life] == 0 && anews < NN && ((asked && before == 0) || MUTANT_NOT_FOUND_AT_ONCE) ->
           didnt++; goto beginning_anew }
    :: atomic { ON(ask_later) true -> r = DOUBT; asks = 1; goto unlocking }
    :: ON(try_again) true -> r = DOUBT; goto unlocking  /* The service stops before it asks. */
    :: ON(needs_person) true -> goto handing_over       /* Asked for too long. */
    :: crash()
    fi;
beginning_anew:                                         /* call_anew: the next key, perhaps of another provider. */
    if
    :: atomic { ON(reached_call) (FENCE && key == call_key) || (MUTANT_ANEW_UNFENCED && row && status == OPEN && rp == RIDE && anews < NN) ->
           anews++; gen++; lease = 1; MARK_KEY(1 + gen); key = call_key; r = 0; goto calling }
    :: atomic { ON(fenced) !(FENCE && key == call_key) && !MUTANT_ANEW_UNFENCED -> lost_fence(); goto idle }
    :: atomic { ON(try_again) !NEVER && fails < NF -> fails++; r = DOUBT; goto unlocking }
    :: atomic { ON(needs_person) NEVER && fails < NF -> fails++; goto handing_over }
    :: crash()
    fi;
keeping: keeping_alone:
    if
    :: atomic { ON(reached_end) KEPT && (r == DECLINED || r == DOUBT) ->
           move(FIN); resp = r; status = FINISHED; lease = 0; marked = 0; stored = 0; stored_key = 0; goto ended }
    :: atomic { ON(reached_call) KEPT && r != DECLINED && r != DOUBT ->
           move(CHARGED); charge = r; lease = 1; marked = 0; stored = 0; stored_key = 0; at = CHARGED }
    :: atomic { !KEPT -> lost_fence(); if :: ON(fenced_result) NEVER && r != 0 -> goto noting_result :: else -> ON(fenced) goto idle fi }
    :: atomic { ON(try_again) FENCE && !NEVER && fails < NF -> fails++; goto unlocking }    /* The store is away. */
    :: atomic { ON(not_recorded) FENCE && fails < NF -> fails++; goto storing_result }      /* The keeper fails, also alone. */
    :: crash()
    fi;
keeping__second:                                        /* Repeat::safe: only a place where the server may die. */
    if
    :: atomic { ON(reached_end) KEPT || (MUTANT_NO_FENCE && row) -> /* T3: the last phase stages the receipt. */
           move(FIN); jobs++; resp = charge; status = FINISHED; lease = 0; goto ended }
    :: atomic { ON(fenced) !(KEPT || (MUTANT_NO_FENCE && row)) -> lost_fence(); goto idle }
    :: atomic { ON(try_again) fails < NF -> fails++; r = DOUBT; goto unlocking }
    :: crash()
    fi;
ended:                                                  /* After the commit. */
    if
    :: atomic { if :: row && status == FINISHED -> tell(resp) :: else fi; goto idle }
    :: crash()
    fi;
unlocking:                                              /* fail_attempt; clear_calling if the call was certainly not made. */
    if
    :: atomic { ON(written) FENCE || (row && status == OPEN && (MUTANT_UNLOCK_UNFENCED || (MUTANT_CLEAR_UNFENCED && NEVER))) ->
           if :: NEVER && at == RIDE && (r == UNSENT || MUTANT_DOUBT_IS_RETRY) -> marked = 0; called = 0 :: else fi;
           if :: asks && !asked -> asked = 1; before = sending + in_flight :: else fi;
           lease = 0;
           /* A renewal in flight may arrive after it. */
           if :: own[me] && exps < NE -> exps++; lease = 1; holder_dead = 1; own[me] = 0 :: true fi }
    :: atomic { ON(fenced) !(FENCE || (row && status == OPEN && (MUTANT_UNLOCK_UNFENCED || (MUTANT_CLEAR_UNFENCED && NEVER)))) ->
           goto idle }
    :: crash()
    fi;
ended__capped:                                          /* Only the completer: note_failure. */
    if
    :: atomic { caps < NK && row && status == OPEN && (!lease || MUTANT_CAP_IGNORES_LEASE) ->
           caps++; to_attention(); goto idle }
    :: goto idle
    fi;
handing_over:                                           /* hand_to_person: stuck, forgotten, in doubt. */
    if
    :: atomic { ON(written) FENCE -> to_attention(); goto idle }
    :: atomic { ON(fenced) !FENCE -> lost_fence(); goto idle }
    :: crash()
    fi;
storing_result:                                         /* Each later attempt keeps it instead of calling. */
    if
    :: atomic { ON(written) (FENCE || MUTANT_STORE_UNFENCED && row && status == OPEN && rp == RIDE) ->
           stored = r; stored_key = (MUTANT_STORE_UNFENCED -> call_key : key); lease = 0; goto idle }
    :: atomic { !(FENCE || MUTANT_STORE_UNFENCED && row && status == OPEN && rp == RIDE) -> lost_fence();
           if :: ON(fenced_result) NEVER -> goto noting_result :: else -> ON(fenced) goto idle fi }
    :: crash()
    fi;
noting_result:                                          /* keep_result_for_person */
    if
    :: atomic { ON(written) att && !noted && ((key == call_key && rp == RIDE) || MUTANT_NOTE_UNFENCED) ->
           noted = 1; if :: key != call_key || rp != RIDE -> wrong_note = 1 :: else fi; goto idle }
    :: atomic { ON(written) !(att && !noted && ((key == call_key && rp == RIDE) || MUTANT_NOTE_UNFENCED)) -> goto idle }
    :: crash()
    fi;
recording_failure:                                      /* record_failed_claim: only the claim. */
    if
    :: atomic { ON(written) reg == NONE -> reg = LIVE; begin(STARTED); goto idle }
    :: atomic { ON(written) reg != NONE -> goto idle }
    :: crash()
    fi;
settling:                                               /* run_settlement: a take-over by a person's decision. */
    if
    :: atomic { (holds[me] && row && status == ATTENTION) ||
                (MUTANT_SETTLE_UNFENCED && row && status != FINISHED) ->
           TAKE; status = OPEN; att = 0; word = 0; noted = 0; at = rp;
           if
           :: ON(reached_call) r == HAPPENED && at == RIDE -> charge = key; move(CHARGED); marked = 0; at = CHARGED; goto keeping__second
           :: ON(reached_end) r == HAPPENED && at == CHARGED ->
               move(FIN); jobs++; resp = charge; status = FINISHED; lease = 0; goto ended
           :: ON(reached_end) r == GIVEUP -> move(FIN); resp = GIVEN_UP; status = FINISHED; lease = 0; marked = 0; goto ended
           :: ON(reached_call) r == DIDNT && at == CHARGED -> goto keeping__second
           :: ON(reached_call) r == DIDNT && at == STARTED -> gen++; rides++; move(RIDE); MARK_KEY(1 + gen); at = RIDE
           :: ON(reached_call) r == DIDNT && at == RIDE -> gen++; didnt++; MARK_KEY(1 + gen)
           fi }
    :: atomic { ON(busy) !((holds[me] && row && status == ATTENTION) ||
                  (MUTANT_SETTLE_UNFENCED && row && status != FINISHED)) -> goto idle }
    :: crash()
    fi;
    atomic { r = 0; key = call_key };
    goto calling
}

/* Requests may arrive late, also after the death of their sender. */
proctype Provider() {
    byte key = 0, who = 0, token = 0, run_of = 0, r = 0;
end:
    do
    :: atomic {
           net?key, who, token, run_of -> in_flight--; before = (before > 0 -> before - 1 : 0); calls = calls + (run_of == life);
           if
           :: !NEVER && memory[key] != 0 -> r = memory[key]
           :: NEVER || memory[key] == 0 ->
               if
               :: made[run_of] < 3 -> made[run_of]++; charges++; r = charges
               :: made[run_of] == 0 -> r = DECLINED
               :: made[run_of] >= 3 -> r = charges      /* Only with mutants: the violation is visible already. */
               :: !NEVER && stucks < NX -> stucks++; r = STUCK
               :: !NEVER && stucks < NX && made[run_of] < 3 -> stucks++; made[run_of]++; charges++; r = STUCK
               fi;
               if :: !NEVER -> memory[key] = r :: else fi
           fi;
           if
           :: wait[who] == token -> reply[who] = r
           :: wait[who] != token                        /* The caller no longer waits. */
           fi;
           key = 0; who = 0; token = 0; run_of = 0; r = 0
       }
    od
}

/* Checks, decides, and records the decision (request_settlement); a server carries it out. */
proctype Operator() {
    byte said = 0;
end:
    do
    :: atomic {
           att && word == 0 && words < NS && (HASTY || (sending == 0 && in_flight == 0)) ->
           op_holds = 1;
           if
           :: made[life] > 0 -> said = HAPPENED
           :: made[life] == 0 -> said = DIDNT
           :: made[life] == 0 -> said = GIVEUP
           fi
       }
       atomic {
           if
           :: att && op_holds && word == 0 ->
               words++; word = said; word_charge = (said == HAPPENED -> charges : 0)
           :: else
           fi;
           said = 0; op_holds = 0
       }
    od
}

/* Time: leases end, calls become old, the provider forgets, the reaper runs. */
proctype Time() {
end:
    do
    :: atomic { row && lease && holder_dead -> lease = 0; holder_dead = 0 }
    :: atomic {
           row && lease && !holder_dead && exps < NE -> exps++; lease = 0;
           if :: own[0] -> lapsed[0] = 1 :: own[1] -> lapsed[1] = 1 :: else fi
       }
    :: atomic { row && called && !old && olds < NO -> olds++; old = 1 }
    :: atomic {                                         /* The provider remembers longer than Pawl assumes, by the longest delay of a call. */
           (old || !row) && NO > 0 && sending == 0 && in_flight == 0 && (memory[1] || memory[2] || memory[3]) ->
           memory[1] = 0; memory[2] = 0; memory[3] = 0
       }
    :: atomic {                                         /* expire_key, delete_key */
           row && (status == FINISHED || MUTANT_REAP_OPEN) && reaps < NR -> reaps++;
           reg = (MUTANT_NO_TOMBSTONE -> NONE : EXPIRED);
           reg_gen = (MUTANT_GENERATION_LOST -> reg_gen : gen);
           row = 0; status = 0; rp = 0; lease = 0; holder_dead = 0; call_key = 0; called = 0; old = 0; marked = 0;
           charge = 0; resp = 0; att = 0; word = 0; asked = 0; ASIDE
       }
    :: atomic {                                         /* delete_tombstones */
           reg == EXPIRED && forgets < NG && (MUTANT_FORGOTTEN_EARLY || !(memory[1] || memory[2] || memory[3])) ->
           forgets++; allowed++; reg = NONE; reg_gen = 0
       }
    od
}

init { atomic { run Server(0); run Server(1); run Provider(); run Operator(); run Time() } }

#define is_failure(x)   (x == DECLINED || x == GIVEN_UP || x == DOUBT)
#define is_success(x)   (x > 0 && x < DECLINED)
#define one_charge      (made[1] <= 1 && made[2] <= 1 && made[3] <= 1)
#define one_call        (!NEVER || calls <= 1 + didnt)
#define one_ride        (rides <= 1)
#define one_receipt     (jobs <= 1)
#define one_answer      (!told_two)
#define only_forward    (!backward)
#define no_old_writer   (!stale)
#define lease_protects  (!orphaned)
#define honest          (!(is_failure(told[1]) && made[1]) && !(is_failure(told[2]) && made[2]))
#define paid            (!(is_success(told[1]) && !made[1]) && !(is_success(told[2]) && !made[2]))
#define in_order        (life <= allowed)
#define registered      (!row || reg == LIVE)
#define right_note      (!wrong_note)
#define settled         (reg == EXPIRED || (row && (status == FINISHED || \
                         (status == ATTENTION && words == NS && word == 0))))

ltl p_charge     { [] one_charge }      /* At most one charge an execution. */
ltl p_never      { [] one_call }        /* Only a person's decision, or proof, repeats a `never` call. */
ltl p_ride       { [] one_ride }
ltl p_receipt    { [] one_receipt }
ltl p_answer     { [] one_answer }      /* The final answers of one execution are equal. */
ltl p_forward    { [] only_forward }
ltl p_writer     { [] no_old_writer }   /* An attempt that was replaced writes nothing. */
ltl p_lease      { [] lease_protects }  /* An attempt whose lease has not ended keeps the key. */
ltl p_honest     { [] honest }          /* No final failure while money is taken. */
ltl p_paid       { [] paid }            /* No success without a charge of this execution. */
ltl p_life       { [] in_order }        /* No second execution except a permitted one. */
ltl p_registered { [] registered }
ltl p_note       { [] right_note }      /* A late result is recorded at its own call only. */
ltl p_safe       { [] (one_charge && one_call && one_ride && one_receipt && one_answer && only_forward &&
                       no_old_writer && lease_protects && honest && paid && in_order && registered && right_note) }
ltl p_settles    { [] <> settled }
/* Must be violated: these events are possible. */
ltl never_success   { [] !(is_success(told[1])) }
ltl never_attention { [] !att }
ltl never_anew      { [] !(anews > 0 && status == FINISHED && is_success(resp)) }
ltl never_by_word   { [] !(didnt > 0 && status == FINISHED && is_success(resp)) }
ltl never_again     { [] !(life == 2 && is_success(told[2])) }
