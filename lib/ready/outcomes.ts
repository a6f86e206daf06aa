/**
 * The outcome that an answer shows, if the agent's author has no rule for it.
 *
 * Owns: the table (printed in docs/HTTP-AGENTS.md; a test compares them). Does not own: the author's own
 * rules (`work.ts`), what follows from an outcome (`core/step/report.ts`).
 *
 * S6 `transient` and `permanent` say that this request did nothing. Anything less certain is `unknown`: a
 * proxy also answers 5xx when a connection behind it broke.
 */

import type { Effect } from '../core/plan/agent.ts';
import type { HttpMethod, HttpOutcome, HttpProbeOutcome } from './declaration.ts';
import { isReading, type Result } from './send.ts';

export type CallKind = 'execute' | 'probe' | 'undo';

/** An answer, with the request that got it. */
export interface Seen {
  readonly result: Result;
  readonly method: HttpMethod;
  readonly effect: Effect;
  readonly acceptsWork: boolean;
  /** True if the body was read completely. */
  readonly isWhole: boolean;
}

interface Facts extends Seen {
  readonly status: number;
}
type Says = readonly [execute: HttpOutcome, probe: HttpProbeOutcome, undo: Exclude<HttpOutcome, 'accepted'>];

const UNKNOWN: Says = ['unknown', 'unknown', 'unknown'];
const REFUSED: Says = ['permanent', 'unknown', 'permanent'];
const LATER: Says = ['transient', 'unknown', 'transient'];

const isGone = ({ status }: Facts): boolean => status === 404 || status === 410;
/** True if the service asks to repeat the request later, and has done nothing. */
const isPutOff = ({ status, result }: Facts): boolean =>
  status === 425 ||
  status === 429 ||
  (status === 503 && result.kind === 'answered' && result.headers['retry-after'] !== undefined);
/** True if the conflict may come from an earlier request of the same step that got no answer. */
const isConflict = ({ status, effect }: Facts): boolean =>
  (status === 409 || status === 412) && (effect === 'idempotent' || effect === 'probed');

/** The first matching row counts: the answer in the words of docs/HTTP-AGENTS.md, and its meaning. */
export const OUTCOMES: readonly (readonly [string, (seen: Facts) => boolean, Says])[] = [
  [
    'nothing can be sent: a private address, an impossible request',
    ({ result }) => result.kind === 'not-sent' && result.isForGood === true,
    REFUSED,
  ],
  [
    'nothing was sent: unknown name, refused, bad certificate, no connection in 10 s, no secret',
    ({ result }) => result.kind === 'not-sent',
    LATER,
  ],
  ['sent without an answer: cut off, or out of time', ({ result }) => result.kind === 'no-answer', UNKNOWN],
  [
    'a body that is needed, but cut off, too large, not JSON or with a rounded number',
    ({ isWhole }) => !isWhole,
    UNKNOWN,
  ],
  [
    '202, with `acceptedWithin`',
    ({ status, acceptsWork }) => status === 202 && acceptsWork,
    ['accepted', 'running', 'unknown'],
  ],
  ['202 without', ({ status }) => status === 202, ['unknown', 'running', 'unknown']],
  ['other 2xx', ({ status }) => status >= 200 && status < 300, ['done', 'done', 'done']],
  ['404, 410 to a DELETE', (seen) => isGone(seen) && seen.method === 'DELETE', ['done', 'notDone', 'done']],
  [
    '404, 410 after a redirect by 302 or 303',
    (seen) => isGone(seen) && seen.result.kind === 'answered' && seen.result.isElsewhere === true,
    REFUSED,
  ],
  ['other 404, 410', isGone, ['permanent', 'notDone', 'permanent']],
  ['425, 429; 503 with `Retry-After`', isPutOff, LATER],
  ["409, 412, of effect 'idempotent' or 'probed'", isConflict, UNKNOWN],
  [
    '301, 302, 303 to another method than GET and HEAD',
    ({ status, method }) => [301, 302, 303].includes(status) && !isReading(method),
    UNKNOWN,
  ],
  [
    'other 3xx and 4xx, but for 408',
    ({ status }) => status >= 300 && status < 500 && status !== 408,
    REFUSED,
  ],
  ['all else: 408, 5xx', () => true, UNKNOWN],
];

const CALLS: readonly CallKind[] = ['execute', 'probe', 'undo'];

/** Looks up the outcome in the table. */
export function outcomeOf(call: CallKind, seen: Seen): HttpOutcome | HttpProbeOutcome {
  const status = seen.result.kind === 'answered' ? seen.result.status : 0;
  const [, , says = UNKNOWN] = OUTCOMES.find(([, fits]) => fits({ ...seen, status })) ?? [];
  return says[CALLS.indexOf(call)] ?? 'unknown';
}
