/**
 * The orders of the demo: what goes wrong with each, what is expected, and how it is reported.
 *
 * Owns: per order, the outside world's misbehaviour, the expected status, history and ledger, and the proof
 * that its fault really happened. Does not own: how processes are killed and frozen (`faults.ts`).
 */

import type { RuleInput } from '../../world/behaviour.ts';
import type { Counts } from '../audit.ts';
import type { OrderEntry as Entry } from '../world.ts';
import type { Attempt, Execution } from './api.ts';

/** The facts about one order once all have ended. */
export interface Facts {
  readonly execution: Execution;
  readonly counts: Counts;
  /** The order's own ledger entries. */
  readonly entries: readonly Entry[];
  /** How often the misbehaviour requested for this order happened. */
  readonly fired: number;
  readonly kill: Kill | undefined;
  readonly freeze: Freeze | undefined;
}

/** A process that was killed. */
export interface Kill {
  readonly at: number;
}

/** A process that was stopped, and resumed once another attempt had done its work. */
export interface Freeze {
  readonly at: number;
  readonly thawedAt: number;
  /** How many reports of the thawed process were refused. */
  readonly refused: number;
}

export interface Scenario {
  readonly orderId: string;
  readonly title: string;
  /** How the outside world treats this order. */
  readonly misbehaviour?: Omit<RuleInput, 'match'>;
  readonly expectedStatus: 'succeeded' | 'compensated';
  readonly expectedCounts: Counts;
  /** Deviations beyond status and counts; first of all, a fault that did not happen. */
  readonly problems: (facts: Facts) => readonly (string | false)[];
  /** Describes in plain words what happened, from the facts. */
  readonly tell: (facts: Facts) => string;
}

const FULFILLED: Counts = {
  charge: 1,
  refund: 0,
  reservation: 1,
  release: 0,
  shipment: 1,
  cancellation: 0,
  mail: 1,
};
/** The only mail says that the order is not fulfilled. */
const TAKEN_BACK: Counts = { ...FULFILLED, refund: 1, release: 1, shipment: 0 };

const attemptsOf = (facts: Facts, step: string): readonly Attempt[] =>
  facts.execution.steps.find(({ name }) => name === step)?.attempts ?? [];

/** A step's short history: 'execute unknown, probe done'. */
const historyOf = (facts: Facts, step: string): string =>
  attemptsOf(facts, step)
    .map(({ mode, outcome }) => `${mode} ${outcome}`)
    .join(', ');

const historyIs = (facts: Facts, step: string, expected: string): string | false => {
  const history = historyOf(facts, step);
  return history !== expected && `the history of ${step} is "${history}", not "${expected}"`;
};

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** The time from a fault to the record that it was noticed. */
export function detectedAfter(facts: Facts): number | undefined {
  const [step, fault] = facts.kill === undefined ? ['reserve', facts.freeze] : ['charge', facts.kill];
  const lost = attemptsOf(facts, step).find(({ outcome }) => outcome === 'unknown');
  return fault === undefined || lost === undefined ? undefined : lost.endedAt - fault.at;
}

const noticed = (facts: Facts): string => {
  const ms = detectedAfter(facts);
  return ms === undefined
    ? 'It was not noticed.'
    : `This was noticed ${seconds(ms)} later, after its lease had ended.`;
};

const plain: Scenario = {
  orderId: 'order-plain',
  title: 'nothing goes wrong',
  expectedStatus: 'succeeded',
  expectedCounts: FULFILLED,
  problems: (facts) =>
    ['charge', 'reserve', 'ship', 'notify'].map((step) => historyIs(facts, step, 'execute done')),
  tell: () => 'Charged, reserved, shipped and told the customer, one attempt each.',
};

const unavailable: Scenario = {
  orderId: 'order-unavailable',
  title: 'payment answers 503 three times',
  misbehaviour: { service: 'payment', mode: 'unavailable', times: 3 },
  expectedStatus: 'succeeded',
  expectedCounts: FULFILLED,
  problems: (facts) => [
    facts.fired !== 3 && `the payment service answered 503 ${facts.fired} times, not 3 times`,
    historyIs(facts, 'charge', 'execute failed, execute failed, execute failed, execute done'),
  ],
  tell: (facts) =>
    `The payment service was unavailable ${facts.fired} times (503). Certainly not charged, so it was tried again ` +
    'after a pause each time, until the card was charged.',
};

const lostReply: Scenario = {
  orderId: 'order-lost-reply',
  title: 'payment charges, its answer is lost',
  misbehaviour: { service: 'payment', mode: 'drop-reply', times: 1 },
  expectedStatus: 'succeeded',
  expectedCounts: FULFILLED,
  problems: (facts) => [
    facts.fired !== 1 && 'no answer was lost',
    historyIs(facts, 'charge', 'execute unknown, probe done'),
  ],
  tell: () =>
    'The card was charged, but the connection broke before the answer. Unknown, so nothing was repeated: a probe ' +
    'asked the payment service, found the charge and adopted it.',
};

const killed: Scenario = {
  orderId: 'order-killed',
  title: 'charge agent killed after the charge',
  expectedStatus: 'succeeded',
  expectedCounts: FULFILLED,
  problems: (facts) => {
    const charged = facts.entries.find(({ kind }) => kind === 'charge');
    return [
      facts.kill === undefined && 'the charge agent was not killed',
      facts.kill !== undefined &&
        charged !== undefined &&
        charged.at > facts.kill.at &&
        'killed before the charge',
      historyIs(facts, 'charge', 'execute unknown, probe done'),
    ];
  },
  tell: (facts) =>
    'The agent was killed (SIGKILL) after it charged the card and before it could report. ' +
    `${noticed(facts)} A probe found the charge and adopted it; nothing was charged again.`,
};

const declined: Scenario = {
  orderId: 'order-declined',
  title: 'carrier declines for good',
  misbehaviour: { service: 'carrier', mode: 'decline' },
  expectedStatus: 'compensated',
  expectedCounts: TAKEN_BACK,
  problems: (facts) => [
    facts.fired === 0 && 'the carrier did not decline',
    historyIs(facts, 'charge', 'execute done, undo compensated'),
    historyIs(facts, 'reserve', 'execute done, undo compensated'),
    historyIs(facts, 'ship', 'execute failed'),
    historyIs(facts, 'tell-customer', 'execute done'),
    toldTooEarly(facts) && 'the customer was told before all was undone',
  ],
  tell: () =>
    'The card was charged and the stock reserved when the carrier declined for good. The charge was refunded and ' +
    'the stock released, once each; then the customer was told, once. The order says compensated because all of it ' +
    'was undone.',
};

/** The mail "You have your money back" must be true when it is sent. */
const toldTooEarly = ({ entries }: Facts): boolean => {
  const told = entries.findIndex(({ kind }) => kind === 'mail');
  return entries.slice(told + 1).some(({ kind }) => kind === 'refund' || kind === 'release');
};

const frozen: Scenario = {
  orderId: 'order-frozen',
  title: 'reserve agent frozen past its lease',
  expectedStatus: 'succeeded',
  expectedCounts: FULFILLED,
  problems: (facts) => {
    const takenOver = attemptsOf(facts, 'reserve').find(({ number }) => number === 2);
    const repeats = facts.entries.filter(({ kind, service }) => kind === 'repeat' && service === 'warehouse');
    return [
      facts.freeze === undefined && 'the reserve agent was not frozen',
      facts.freeze !== undefined && facts.freeze.refused === 0 && 'the thawed agent’s report was not refused',
      facts.freeze !== undefined &&
        (takenOver?.endedAt ?? Number.POSITIVE_INFINITY) > facts.freeze.thawedAt &&
        'it thawed before another attempt had taken over',
      repeats.length === 0 && 'the warehouse was asked only once',
      historyIs(facts, 'reserve', 'execute unknown, execute done'),
    ];
  },
  tell: (facts) =>
    'The agent was frozen (SIGSTOP) after it reserved the stock and before it could report. ' +
    `${noticed(facts)} The warehouse deduplicates, so a second attempt asked again at once and got the same ` +
    'reservation. Then the first one thawed and reported: its token was no longer the current one, and it was refused.',
};

/** Orders are started and reported in this sequence. */
export const SCENARIOS: readonly Scenario[] = [plain, unavailable, lostReply, killed, declined, frozen];
export const KILLED = killed;
export const FROZEN = frozen;
