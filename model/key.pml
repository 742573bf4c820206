/* The idempotency-key protocol with one transaction for each step, as the article prints it, and the fixes F1 to F9.
   One client key. NW server attempts run concurrently (client retries, completer).
   Switches (all 0 = as printed):
    FENCE      every write carries the attempt number taken with the lock
    CONDRP     every write is conditional on the recovery point it started from
    FENCEUNLK  the error path unlocks only if it still owns the lock
    RETRY503   a transport error/timeout of the foreign service does NOT finish the key
    FKCLIENT   foreign idempotency key derived from (user,key), not from the row id
    FIDEM      the foreign service honours idempotency keys
    FFORGET    budget: times the foreign service forgets keys (24 h retention)
    HORIZON    call refused after the foreign retention horizon (intent first written)
    INTENT     'calling' recovery point written before the foreign call; recovery from it never calls again
    REAP       0 none, 1 as printed (any row, any moment), 2 only finished rows, 3 finished + tombstone
    SNAP       recovered attempts take the SERIALIZABLE snapshot before the call (PostgreSQL, as printed)
       Budgets: NC crashes, NE expiries of a live holder's lock, NT lost messages, NR reaps
*/
#ifndef NW
#define NW 2
#endif
#ifndef FENCE
#define FENCE 0
#endif
#ifndef CONDRP
#define CONDRP 0
#endif
#ifndef FENCEUNLK
#define FENCEUNLK 0
#endif
#ifndef RETRY503
#define RETRY503 0
#endif
#ifndef FKCLIENT
#define FKCLIENT 0
#endif
#ifndef FIDEM
#define FIDEM 1
#endif
#ifndef FFORGET
#define FFORGET 0
#endif
#ifndef HORIZON
#define HORIZON 0
#endif
#ifndef INTENT
#define INTENT 0
#endif
#ifndef REAP
#define REAP 0
#endif
#ifndef SNAP
#define SNAP 1
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
#ifndef F500
#define F500 0     /* the foreign service may answer 5xx and REMEMBER it under the key, having charged or not */
#endif
#ifndef FIX500
#define FIX500 0   /* a remembered 5xx goes to the attention list instead of being retried for ever */
#endif
#ifndef STRICT
#define STRICT 1   /* 1: foreign retention exceeds our horizon by more than the longest send; 0: no such margin */
#endif
#ifndef DECLINE
#define DECLINE 1
#endif

/* recovery points */
#define STARTED 1
#define RIDE 2
#define CALLING 3
#define CHARGED 4
#define FIN 5
#define INDET 6          /* attention list: a person decides; never called again */

/* the row */
bool ex=0;  byte gen=0; byte rp=0; bool locked=0, expired=0, holder_dead=0; byte resp=0;
bool own[NW];    /* own[i]: attempt i holds the newest attempt number (fencing token) */
bool dirty[NW];  /* dirty[i]: row written by another attempt since i's SERIALIZABLE snapshot */

byte rides=0; byte ridekey=0; byte ridechg=0; byte jobs=0; bool tomb=0; bool intent=0; bool horizon=0;
/* foreign service */
byte effects=0;          /* charges really made */
byte fmem[4];            /* result remembered per call key: 0 none, n = charge n, 9 = declined */
byte inflight=0;
chan net = [NW+1] of { byte, byte, byte };  /* call key, sender, call token */
byte wait[NW];           /* token of the call the attempt is waiting for, 0 none */
byte reply[NW];          /* 0 none, 1..8 charge id, 9 declined, 15 timeout */
/* the final answer that clients got */
byte told=0; bool mismatch=0;
byte maxrp=0; bool regress=0;
byte crashes=0, exps=0, losts=0, reaps=0, forgets=0;
byte sending=0;

#if NW==2
#define TOUCH dirty[0]=1; dirty[1]=1
#define TAKE  own[0]=0; own[1]=0; own[me]=1
#else
#define TOUCH dirty[0]=1; dirty[1]=1; dirty[2]=1
#define TAKE  own[0]=0; own[1]=0; own[2]=0; own[me]=1
#endif
inline setrp(x) { if :: x < rp -> regress=1 :: else fi; rp = x; TOUCH }

inline tell(x) { /* a stored, final answer reaches a client */
  if :: told==0 -> told = x :: told!=0 && told!=x -> mismatch=1 :: else fi
}

/* does the write of an attempt still apply? */
#define OWN   (ex && gen==mygen && (!FENCE || own[me]) && (!CONDRP || rp==myrp))
#define OWNU  (ex && gen==mygen && (!FENCEUNLK || own[me]))

inline crash() { atomic { crashes < NC -> crashes++;
     if :: ex && locked && gen==mygen && own[me] -> holder_dead=1 :: else fi;
     goto idle } }

inline errunlock() { atomic { if :: OWNU && rp!=FIN && rp!=INDET -> locked=0; expired=0; TOUCH :: else fi } }

proctype Att(byte me) {
  byte mygen=0, myrp=0, r=0, fk=0, tk=0; bool recov=0;
idle:
  atomic { mygen=0; myrp=0; r=0; fk=0; recov=0 };
  /* ---- tx1: upsert key, take lock ---- */
  atomic {
    if
    :: !ex && !tomb && (gen < 2) ->
         ex=1; gen++; rp=STARTED; locked=1; expired=0; holder_dead=0; TAKE; resp=0; intent=0; TOUCH;
         mygen=gen; myrp=STARTED; recov=0
    :: !ex && tomb -> goto done                      /* 410: key expired */
    :: ex && rp==FIN -> tell(resp); goto idle_wait
    :: ex && rp==INDET -> goto idle_wait
    :: ex && rp!=FIN && rp!=INDET && (!locked || expired) ->
         locked=1; expired=0; holder_dead=0; TAKE; TOUCH;
         mygen=gen; myrp=rp; recov=1
    fi
  }
loop:
  if
  :: myrp==STARTED -> goto tx2
  :: myrp==RIDE -> goto tx3
  :: myrp==CALLING -> goto rec
  :: myrp==CHARGED -> goto tx4
  fi;
tx2: /* ---- create ride (UNIQUE(user,key id)) ---- */
  if
  :: atomic { OWN && (rides==0 || ridekey!=mygen) -> rides++; ridekey=mygen; ridechg=0; setrp(RIDE); myrp=RIDE }
  :: atomic { !(OWN && (rides==0 || ridekey!=mygen)) -> goto fail }
  :: crash()
  fi;
tx3: /* ---- the foreign call ---- */
  atomic { dirty[me]=0 };
  if
  :: INTENT || HORIZON ->
     if
     :: atomic { OWN && !(HORIZON && horizon && intent) ->
          intent=1; TOUCH;
          if :: INTENT -> setrp(CALLING); myrp=CALLING :: else fi; sending++ }
     :: atomic { OWN && HORIZON && horizon && intent -> rp=INDET; locked=0; TOUCH; goto idle_wait }
     :: atomic { !OWN -> goto fail }
     :: crash()
     fi
  :: else -> sending++
  fi;
call:
  if :: FKCLIENT -> fk=0 :: else -> fk=mygen fi;
  if
  :: atomic { nfull(net) -> tk=1+(tk%3); wait[me]=tk; net!fk,me,tk; sending--; inflight++ }
  :: atomic { losts < NT -> losts++; sending--; wait[me]=0; reply[me]=15 }       /* lost before it got there */
  :: atomic { crashes < NC -> crashes++; sending--;
       if :: ex && locked && gen==mygen && own[me] -> holder_dead=1 :: else fi; goto idle }
  fi;
  if
  :: atomic { reply[me]!=0 -> r=reply[me]; reply[me]=0; wait[me]=0 }
  :: atomic { reply[me]==0 && losts < NT -> losts++; wait[me]=0; r=15 }    /* deadline passes, still under way */
  :: atomic { crashes < NC -> crashes++; wait[me]=0; reply[me]=0;
       if :: ex && locked && gen==mygen && own[me] -> holder_dead=1 :: else fi; goto idle }
  fi;
  /* ---- tx3 commit ---- */
  atomic { if :: r==14 && !FIX500 -> r=15 :: else fi };
  if
  :: r==14 ->
     if
     :: atomic { OWN -> rp=INDET; locked=0; TOUCH; goto idle_wait }
     :: atomic { !OWN -> goto fail }
     :: crash()
     fi
  :: r==15 && !RETRY503 -> /* as printed: StripeError => Response(503) => finished */
     if
     :: atomic { OWN && !(SNAP && recov && dirty[me]) -> resp=15; setrp(FIN); locked=0; tell(15); goto idle_wait }
     :: atomic { !(OWN && !(SNAP && recov && dirty[me])) -> goto fail }
     :: crash()
     fi
  :: r==15 && RETRY503 && INTENT -> /* ambiguous and the service is not idempotent */
     if
     :: atomic { OWN -> rp=INDET; locked=0; TOUCH; goto idle_wait }
     :: atomic { !OWN -> goto fail }
     :: crash()
     fi
  :: r==15 && RETRY503 && !INTENT -> goto fail
  :: r==9 ->
     if
     :: atomic { OWN && !(SNAP && !INTENT && recov && dirty[me]) -> resp=9; setrp(FIN); locked=0; tell(9);
         goto idle_wait }
     :: atomic { !(OWN && !(SNAP && !INTENT && recov && dirty[me])) -> goto fail }
     :: crash()
     fi
  :: r!=9 && r!=15 && r!=14 ->
     if
     :: atomic { OWN && !(SNAP && !INTENT && !HORIZON && recov && dirty[me]) -> ridechg=r; setrp(CHARGED);
         myrp=CHARGED; r=0 }
     :: atomic { !(OWN && !(SNAP && !INTENT && !HORIZON && recov && dirty[me])) -> goto fail }
     :: crash()
     fi
  fi;
tx4: /* ---- stage the receipt job, store the answer ---- */
  if
  :: atomic { OWN -> jobs++; resp=ridechg; setrp(FIN); locked=0; tell(ridechg); goto idle_wait }
  :: atomic { !OWN -> goto fail }
  :: crash()
  fi;
rec: /* recovery from 'calling': outcome unknown, never call again */
  if
  :: atomic { OWN -> rp=INDET; locked=0; TOUCH; goto idle_wait }
  :: atomic { !OWN -> goto fail }
  fi;
fail:
  errunlock();
  goto idle;
idle_wait:
  goto idle;
done: skip
}

proctype Foreign() {
  byte fk, who, res, tk;
end:
  do
  :: atomic { net?fk,who,tk -> inflight--;
       if
       :: FIDEM && fmem[fk]!=0 -> res=fmem[fk]
       :: !(FIDEM && fmem[fk]!=0) ->
          if
          :: effects<3 -> effects++; res=effects; fmem[fk]=res
          :: DECLINE && (effects==0) -> res=9; fmem[fk]=9
          :: F500 -> res=14; fmem[fk]=14
          :: F500 && effects<3 -> effects++; res=14; fmem[fk]=14
          :: effects>=3 -> res=effects
          fi
       fi;
       if
       :: wait[who]==tk -> if :: reply[who]=res :: losts < NT -> losts++; reply[who]=15 fi
       :: wait[who]!=tk -> skip                      /* caller gone: reply dropped */
       fi; res=0; fk=0; who=0; tk=0 }
  od
}

proctype Env() {
end:
  do
  :: atomic { ex && locked && !expired && holder_dead -> expired=1 }
  :: atomic { ex && locked && !expired && !holder_dead && exps < NE -> exps++; expired=1 }
  :: atomic { REAP==1 && ex && reaps < NR -> reaps++; ex=0; locked=0; expired=0; TOUCH }
  :: atomic { REAP==2 && ex && rp==FIN && reaps < NR -> reaps++; ex=0; TOUCH }
  :: atomic { REAP==3 && ex && rp==FIN && reaps < NR -> reaps++; ex=0; tomb=1; TOUCH }
  :: atomic { HORIZON && FFORGET>0 && !horizon -> horizon=1 }
  :: atomic { forgets < FFORGET && (!HORIZON || (horizon && (!STRICT || (sending==0 && inflight==0)))) &&
              (fmem[0]!=0 || fmem[1]!=0 || fmem[2]!=0) -> forgets++; fmem[0]=0; fmem[1]=0; fmem[2]=0 }
  od
}

init { atomic { byte i; for (i : 0 .. NW-1) { run Att(i) }; run Foreign(); run Env() } }

#define settled (ex && (rp==FIN || rp==INDET))

ltl p_one   { [] (effects <= 1) }
ltl p_job   { [] (jobs <= 1) }
ltl p_ride  { [] (rides <= 1) }
ltl p_same  { [] (!mismatch) }
ltl p_order { [] (!regress) }
/* no answer 'failed' (402/503) is final while money has been, or will be, taken */
ltl p_honest{ [] !((told==15 || told==9) && effects>0) }
/* success answered => charge exists */
ltl p_paid  { [] !(told!=0 && told!=9 && told!=15 && effects==0) }
/* must be VIOLATED (reachability: a success is really answered) */
ltl never_success { [] !(told!=0 && told!=9 && told!=15) }
ltl p_safe  { [] (effects <= 1 && jobs <= 1 && rides <= 1 && !mismatch && !regress &&
                  !((told==15 || told==9) && effects>0) && !(told!=0 && told!=9 && told!=15 && effects==0)) }
ltl p_settles { [] <> (settled || tomb || !ex) }
