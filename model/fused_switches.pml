/* The switches, budgets and mutants of fused.pml are off, or as small as this, unless spin is given -D. */

#ifndef NEVER
#define NEVER 0
#endif
#ifndef AGAIN
#define AGAIN 0
#endif
#ifndef HASTY
#define HASTY 0
#endif
#ifndef ASK
#define ASK 0
#endif
#ifndef NEXT
#define NEXT 0
#endif
#ifndef NN
#define NN 1
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
#ifndef NF
#define NF 0
#endif
#ifndef NK
#define NK 0
#endif
#ifndef NS
#define NS 1
#endif
#ifndef NR
#define NR 0
#endif
#ifndef NG
#define NG 0
#endif
#ifndef NO
#define NO 0
#endif
#ifndef NX
#define NX 0
#endif
#ifndef MUTANT_NO_FENCE
#define MUTANT_NO_FENCE 0
#endif
#ifndef MUTANT_NO_REGISTRY
#define MUTANT_NO_REGISTRY 0
#endif
#ifndef MUTANT_REGISTRY_TRUSTED
#define MUTANT_REGISTRY_TRUSTED 0
#endif
#ifndef MUTANT_LEASE_NOT_CHECKED
#define MUTANT_LEASE_NOT_CHECKED 0
#endif
#ifndef MUTANT_UNLOCK_UNFENCED
#define MUTANT_UNLOCK_UNFENCED 0
#endif
#ifndef MUTANT_CLEAR_UNFENCED
#define MUTANT_CLEAR_UNFENCED 0
#endif
#ifndef MUTANT_MARK_CLEARED_ON_TAKE_OVER
#define MUTANT_MARK_CLEARED_ON_TAKE_OVER 0
#endif
#ifndef MUTANT_MARK_NOT_IN_T1
#define MUTANT_MARK_NOT_IN_T1 0
#endif
#ifndef MUTANT_DOUBT_IS_RETRY
#define MUTANT_DOUBT_IS_RETRY 0
#endif
#ifndef MUTANT_DOUBT_IS_ANSWER
#define MUTANT_DOUBT_IS_ANSWER 0
#endif
#ifndef MUTANT_SETTLE_UNFENCED
#define MUTANT_SETTLE_UNFENCED 0
#endif
#ifndef MUTANT_CALL_KEY_OF_ATTEMPT
#define MUTANT_CALL_KEY_OF_ATTEMPT 0
#endif
#ifndef MUTANT_AGE_NOT_CHECKED
#define MUTANT_AGE_NOT_CHECKED 0
#endif
#ifndef MUTANT_REAP_OPEN
#define MUTANT_REAP_OPEN 0
#endif
#ifndef MUTANT_NO_TOMBSTONE
#define MUTANT_NO_TOMBSTONE 0
#endif
#ifndef MUTANT_GENERATION_LOST
#define MUTANT_GENERATION_LOST 0
#endif
#ifndef MUTANT_FORGOTTEN_EARLY
#define MUTANT_FORGOTTEN_EARLY 0
#endif
#ifndef MUTANT_CAP_IGNORES_LEASE
#define MUTANT_CAP_IGNORES_LEASE 0
#endif
#ifndef MUTANT_CALL_AFTER_LEASE
#define MUTANT_CALL_AFTER_LEASE 0
#endif
#ifndef MUTANT_NOTE_UNFENCED
#define MUTANT_NOTE_UNFENCED 0
#endif
#ifndef MUTANT_NEXT_WITHOUT_PROOF
#define MUTANT_NEXT_WITHOUT_PROOF 0
#endif
#ifndef MUTANT_NOT_FOUND_AT_ONCE
#define MUTANT_NOT_FOUND_AT_ONCE 0
#endif
#ifndef MUTANT_ASKED_IS_CALLED
#define MUTANT_ASKED_IS_CALLED 0
#endif
#ifndef MUTANT_ANEW_UNFENCED
#define MUTANT_ANEW_UNFENCED 0
#endif
#ifndef MUTANT_STORE_UNFENCED
#define MUTANT_STORE_UNFENCED 0
#endif
#ifndef MUTANT_RESULT_OF_ANY_CALL
#define MUTANT_RESULT_OF_ANY_CALL 0
#endif
