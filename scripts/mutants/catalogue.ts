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
import { KINDS } from './catalogue/kinds.ts';
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  ...LEASE,
  ...AMBIGUITY,
  ...DISPATCH,
  ...SUPERVISOR,
  ...PRESENCES,
  ...SAGA,
  ...PLAN,
  ...SECURITY,
  ...PEOPLE,
  ...OPERATIONS,
  ...BREAKERS,
  ...KINDS,
  ...BLIND,
  ...KEYS,
];
