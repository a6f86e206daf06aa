/** All planted bugs, in the order of the document. */

import { BLIND } from './catalogue/blind.ts';
import { LEASE } from './catalogue/lease.ts';
import { AMBIGUITY } from './catalogue/ambiguity.ts';
import { DISPATCH } from './catalogue/dispatch.ts';
import { SUPERVISOR } from './catalogue/supervisor.ts';
import { PRESENCES } from './catalogue/presence.ts';
import { SAGA } from './catalogue/saga.ts';
import { PLAN } from './catalogue/plan.ts';
import { SECURITY } from './catalogue/security.ts';
import { PEOPLE } from './catalogue/people.ts';
import { OPERATIONS } from './catalogue/operations.ts';
import { BREAKERS } from './catalogue/breaker.ts';
import { KEYS } from './catalogue/keys.ts';
import { WAITING_STEPS } from './catalogue/waiting-steps.ts';
import type { Mutant } from './mutant.ts';

/** What the bugs are about → the bugs. */
export const CONCEPTS: Readonly<Record<string, readonly Mutant[]>> = {
  'claims, leases and reports': LEASE,
  'writes whose answer is lost or ambiguous': AMBIGUITY,
  'messages and acknowledgements': DISPATCH,
  supervisors: SUPERVISOR,
  'who is at work, and calls of a supervisor': PRESENCES,
  'undo and ends': SAGA,
  'plans and their checks': PLAN,
  'access and secrets': SECURITY,
  'progress, recovery, questions to people': PEOPLE,
  'pause, retry, cancel, points of no return': OPERATIONS,
  'breakers, deferred work, outages': BREAKERS,
  'waiting steps, children, lists': WAITING_STEPS,
  'what only simulated worlds see': BLIND,
  'effect keys': KEYS,
};

export const MUTANTS: readonly Mutant[] = Object.values(CONCEPTS).flat();
