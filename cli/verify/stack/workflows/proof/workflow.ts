/**
 * The workflows of verify's stack. Each tests one ability of a deployment.
 *
 * Owns: the workflows, and the input that makes an attempt misbehave. Does not own: the misbehaviour
 * (`agents/`), the expected results (`cli/verify/checks/`).
 */

import { agent, askPerson, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

/** Short limits, so that a recovery takes seconds. */
const LIMITS = { lease: '5s', claimWithin: '5s', timeout: '10s', lateEffectWithin: '1s' } as const;
const PATIENCE = retry(6, { delay: '500ms', maxDelay: '5s' });

/**
 * The misbehaviour: the first answer is lost, the first process ends after its effect, or the service refuses
 * every attempt.
 */
export const Mode = z.enum(['plain', 'lose-answer', 'die-after', 'decline']);

/** An agent whose service acts on each request, so an unknown outcome is probed. */
export const verifyAct = agent('verify-act', {
  input: z.object({ mode: Mode }),
  output: z.object({ effect: z.string() }),
  effect: 'probed',
  ...LIMITS,
});

/** An agent without effects, for chains and lists. */
export const verifyPass = agent('verify-pass', {
  input: z.object({ n: z.int() }),
  output: z.object({ n: z.int() }),
  effect: 'none',
  undo: 'none',
  ...LIMITS,
});

/** An agent that fails until its switch in the table of effects is on. */
export const verifyClosed = agent('verify-closed', {
  input: z.object({ switch: z.string() }),
  output: z.object({}),
  effect: 'none',
  undo: 'none',
  ...LIMITS,
});

export const verifyOrder = workflow(
  'verify-order',
  { input: z.object({ mode: Mode }), within: '15m' },
  (w) => {
    const first = w.step('first', verifyAct, { mode: 'plain' }, { recovery: [PATIENCE] });
    const second = w.step(
      'second',
      verifyAct,
      { mode: w.input.mode },
      { after: [first], recovery: [PATIENCE] },
    );
    return { effect: second.output.effect };
  },
);

export const verifyChain = workflow(
  'verify-chain',
  { input: z.object({ n: z.int() }), within: '15m' },
  (w) => {
    let last = w.step('step-1', verifyPass, { n: w.input.n });
    for (let at = 2; at <= 40; at += 1) last = w.step(`step-${at}`, verifyPass, { n: last.output.n });
    return { n: last.output.n };
  },
);

/** A workflow whose input is too large for a record, and is read again at its end. */
export const verifyLarge = workflow(
  'verify-large',
  { input: z.object({ n: z.int(), text: z.string() }), within: '15m' },
  (w) => {
    w.step('pass', verifyPass, { n: w.input.n });
    return { text: w.input.text };
  },
);

export const verifyList = workflow(
  'verify-list',
  { input: z.object({ items: z.array(z.int()) }), within: '15m' },
  (w) => {
    w.map('each', verifyPass, w.input.items, (n) => ({ n }));
  },
);

const One = z.object({ n: z.int() });
export const verifyPart = workflow('verify-part', { input: One, within: '10m' }, (w) => {
  const pass = w.step('pass', verifyPass, { n: w.input.n });
  return { n: pass.output.n };
});

export const verifyParent = workflow('verify-parent', { input: One, within: '15m' }, (w) => {
  w.child('part', verifyPart, { n: w.input.n }, { undo: 'none' });
});

export const verifyAsk = workflow('verify-ask', { input: One, within: '15m' }, (w) => {
  const told = w.callback('answer', { output: One, within: '10m' });
  w.approval('check', { within: '10m', after: [told] });
  return { n: told.output.n };
});

export const verifyIncident = workflow('verify-incident', { input: One, within: '15m' }, (w) => {
  w.step('refused', verifyAct, { mode: 'decline' }, { recovery: [askPerson({ within: '10m' })] });
});

export const verifyBreaker = workflow(
  'verify-breaker',
  { input: z.object({ switch: z.string() }), within: '15m' },
  (w) => {
    w.step('closed', verifyClosed, w.input, { recovery: [retry(40, { delay: '1s', maxDelay: '5s' })] });
  },
);

/** The workflow that triggers start; `text` comes from the event. */
export const verifyEvent = workflow(
  'verify-event',
  { input: z.object({ id: z.string(), text: z.string() }), within: '15m' },
  (w) => {
    w.step('pass', verifyPass, { n: 1 });
    return { text: w.input.text };
  },
);
