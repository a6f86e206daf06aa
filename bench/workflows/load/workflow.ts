/**
 * The measured workflows. Their agents do nothing, so everything that is counted is overhead.
 *
 * Every step passes on its payload: an execution stores it as its input, as the output of each of its steps
 * and as its own output.
 */

import { agent, type StepHandle, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Payload = z.object({ data: z.string() });
type Payload = z.infer<typeof Payload>;

/** Declared like the agents of a real process: a lease of 30 s. */
const echo = (name: string) =>
  agent(name, { input: Payload, output: Payload, effect: 'idempotent', lease: '30s', undo: 'none' });

export const echoA = echo('echo-a');
export const echoB = echo('echo-b');
export const echoC = echo('echo-c');
export const echoD = echo('echo-d');
export const echoE = echo('echo-e');
const AGENTS = [echoA, echoB, echoC, echoD, echoE] as const;

const Nap = z.object({ ms: z.number() });

/** The first attempt works as long as its input says, with three heartbeats per lease. */
const napper = (
  name: string,
  lease: '3s' | '6s' | '12s' | '30s',
  { claimWithin, timeout }: { claimWithin: '3s' | '30s'; timeout: '60s' | '120s' } = {
    claimWithin: '3s',
    timeout: '60s',
  },
) =>
  agent(name, {
    input: Nap,
    output: Nap,
    effect: 'idempotent',
    lease,
    claimWithin,
    timeout,
    undo: 'none',
  });

export const nap3 = napper('nap-3', '3s');
export const nap6 = napper('nap-6', '6s');
export const nap12 = napper('nap-12', '12s');
/** Uses the usual lease and pickup time. */
export const works30 = napper('works-30', '30s', { claimWithin: '30s', timeout: '120s' });

const agentAt = (at: number) => AGENTS[at % AGENTS.length] ?? echoA;

const fiveSteps = (name: string, tags: readonly string[] = []) =>
  workflow(name, { input: Payload, within: '1h', tags }, (w) => {
    let before: { readonly data: unknown } = w.input;
    for (let at = 0; at < 5; at += 1) {
      before = w.step(`s${at}`, agentAt(at), before as Payload).output;
    }
    return before;
  });

/** Five steps, one after the other, each with another agent. */
export const chain5 = fiveSteps('chain5');
/** The same workflow, found by its payload: the difference is the price of a tag. */
export const tagged5 = fiveSteps('tagged5', ['data']);

/** One step, five in parallel, and one that waits for all of them. */
export const fan5 = workflow('fan5', { input: Payload, within: '1h' }, (w) => {
  const first = w.step('first', echoA, w.input);
  const branches = AGENTS.map((each, at) => w.step(`branch${at}`, each, first.output));
  const join = w.step('join', echoB, first.output, { after: branches });
  return join.output;
});

/**
 * Twenty steps: a first one, three branches of two, a join, four in sequence, five in parallel, a join, two
 * in sequence.
 */
export const mixed20 = workflow('mixed20', { input: Payload, within: '1h' }, (w) => {
  let number = 0;
  const step = (from: StepHandle<Payload>, after: readonly StepHandle<Payload>[] = []) => {
    number += 1;
    return w.step(`s${number}`, agentAt(number), from.output, { after });
  };
  let last = w.step('s0', echoA, w.input) as StepHandle<Payload>;
  const branches = [0, 1, 2].map(() => step(step(last)));
  last = step(last, branches);
  for (let at = 0; at < 4; at += 1) last = step(last);
  const from = last;
  const side = [0, 1, 2, 3, 4].map(() => step(from));
  last = step(from, side);
  last = step(step(last));
  return last.output;
});

/** One agent over a list. */
export const mapped = workflow(
  'mapped',
  { input: z.object({ items: z.array(Payload) }), within: '1h' },
  (w) => {
    w.map('each', echoA, w.input.items, (item) => item);
    return {};
  },
);

/** Waits only for a time. */
export const waits = workflow('waits', { input: z.object({ until: z.number() }), within: '30d' }, (w) => {
  const pause = w.wait('pause', { until: w.input.until });
  w.step('after', echoA, { data: 'x' }, { after: [pause] });
  return {};
});

/** Waits only for a person. */
export const asks = workflow('asks', { input: Payload, within: '30d' }, (w) => {
  w.approval('allow', { within: '20d' });
  return {};
});

const naps = (name: string, napping: typeof nap3) =>
  workflow(name, { input: Nap, within: '1h' }, (w) => w.step('nap', napping, w.input).output);

export const naps3 = naps('naps3', nap3);
export const naps6 = naps('naps6', nap6);
export const naps12 = naps('naps12', nap12);
export const works = naps('works', works30);

/** A chain with the number of steps in its name. */
const chain = (steps: number) =>
  workflow(`chain-of-${steps}`, { input: Payload, within: '1h' }, (w) => {
    let before: { readonly data: unknown } = w.input;
    for (let at = 0; at < steps; at += 1) before = w.step(`s${at}`, echoA, before as Payload).output;
    return {};
  });

export const chainOf1 = chain(1);
export const chainOf10 = chain(10);
export const chainOf100 = chain(100);
/** The longest of these chains whose plan fits into 256 KB: 924. */
export const chainOf900 = chain(900);
