/** Loops that try again: until a lock is free, an item is in stock, a model serves, or the time is over. */

import { eq, exists, ne, not, PermanentError, workflow } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';
import { Empty, type Loop, Services, Text } from './loop.ts';

const Status = z.object({ status: Text });

/** A lane instead of a hand-made semaphore: five run at once, and the sixth waits. */
async function semaphore() {
  const services = new Services();
  const works = services.agent('work', Empty, Empty, () => ({}));
  const guarded = workflow(
    'guarded',
    {
      input: z.object({ lock: Text }),
      within: '1h',
      concurrency: { key: ({ lock }) => lock, limit: 1, waitWithin: '1d' },
    },
    (w) => {
      const pause = w.wait('pause', { for: '10m' });
      w.step('work', works, {}, { after: [pause] });
    },
  );
  const trial = testWorkflow(guarded, { agents: services.agents });
  const runs = [await trial.start({ lock: 'l' }), await trial.start({ lock: 'l' })];
  const ends = [];
  for (const run of runs) ends.push(await run.waitForEnd());
  const apart = (ends[1]?.tookMs ?? 0) - (ends[0]?.tookMs ?? 0);
  const { status } = ends[1] ?? { status: 'none' };
  return { status: apart >= 600_000 ? status : 'together', calls: services.calls.join(' ') };
}

const Reservation = z.object({ status: Text });

/** Reserves an item until it is in stock, with a mail to the customer after each failure. */
async function untilInStock() {
  const services = new Services();
  let asked = 0;
  const reserves = services.agent('reserve', Empty, Reservation, () => ({
    status: (asked += 1) < 3 ? 'temporarily-unavailable' : 'reserved',
  }));
  const tells = services.agent('tell-delayed', Empty, Empty, () => ({}));
  const asking = workflow('asking', { input: Empty, within: '1h' }, (w) => {
    const reserved = w.step('reserve', reserves, {});
    const isDelayed = eq(reserved.output.status, 'temporarily-unavailable');
    const told = w.step('tell', tells, {}, { when: isDelayed });
    w.wait('pause', { for: '10s', when: isDelayed, after: [told] });
    return reserved.output;
  });
  const shipping = workflow('shipping', { input: Empty, within: '7d' }, (w) => {
    w.repeat(
      'reservation',
      asking,
      {},
      {
        until: (last) => ne(last.status, 'temporarily-unavailable'),
        maxRounds: 100,
      },
    );
  });
  return services.play(shipping, {});
}

/** Polls a model until it serves, and starts it if it is stopped. */
async function untilHosted() {
  const services = new Services();
  const states = ['TRAINED', 'STARTING_HOSTING', 'HOSTED'];
  const asks = services.agent('ask', Empty, Status, () => ({ status: states.shift() ?? 'HOSTED' }));
  const starts = services.agent('start', Empty, Empty, () => ({}));
  const look = workflow('model', { input: Empty, within: '1h' }, (w) => {
    const asked = w.step('ask', asks, {});
    const started = w.step('start', starts, {}, { when: eq(asked.output.status, 'TRAINED') });
    w.wait('pause', { for: '30s', when: ne(asked.output.status, 'HOSTED'), after: [started] });
    return asked.output;
  });
  const hosting = workflow('hosting', { input: Empty, within: '1d' }, (w) => {
    w.repeat('model', look, {}, { until: (last) => eq(last.status, 'HOSTED'), maxRounds: 100 });
  });
  return services.play(hosting, {});
}

/** Reads a configuration, and writes missing fields, until it has all. */
async function untilConfigured() {
  const services = new Services();
  let written = false;
  const Config = z.object({ workers: z.optional(z.int()), threads: z.optional(z.int()) });
  const reads = services.agent('read', Empty, Config, () => (written ? { workers: 10, threads: 10 } : {}));
  const writes = services.agent('write', Empty, Empty, () => {
    written = true;
    return {};
  });
  const round = workflow('config', { input: Empty, within: '1h' }, (w) => {
    const { output } = w.step('read', reads, {});
    w.step('write', writes, {}, { when: not(exists(output.workers)) });
    return { workers: output.workers };
  });
  const configuring = workflow('configuring', { input: Empty, within: '1d' }, (w) => {
    w.repeat('config', round, {}, { until: (last) => exists(last.workers), maxRounds: 10 });
  });
  return services.play(configuring, {});
}

/** An idempotency key instead of a loop that waits for another execution of the same order. */
async function sameKey() {
  const services = new Services();
  const works = services.agent('work', Empty, Empty, () => ({}));
  const once = workflow('once', { input: Empty, within: '1h' }, (w) => {
    w.step('work', works, {});
  });
  const trial = testWorkflow(once, { agents: services.agents });
  const first = await trial.start({}, { idempotencyKey: 'order-1' });
  const second = await trial.start({}, { idempotencyKey: 'order-1' });
  const { status } = await second.waitForEnd();
  return { status: first.id === second.id ? status : 'twice', calls: services.calls.join(' ') };
}

const Timer = z.object({ continue: z.boolean() });

/** Generates load until a time is over, ignoring failures. */
async function load() {
  const services = new Services();
  let asked = 0;
  const runs = services.agent('run-load', Empty, Empty, () => {
    if (asked === 0) throw new PermanentError('too much');
    return {};
  });
  const timers = services.agent('timer', Empty, Timer, () => ({ continue: (asked += 1) < 3 }));
  const round = workflow('load', { input: Empty, within: '5m' }, (w) => {
    const run = w.step('run', runs, {}, { mayFail: true, timeout: '30s' });
    return w.step('timer', timers, {}, { after: [run] }).output;
  });
  const loading = workflow('loading', { input: Empty, within: '1d' }, (w) => {
    w.repeat('load', round, {}, { until: (last) => eq(last.continue, false), maxRounds: 1_000 });
  });
  return services.play(loading, {});
}

const EXAMPLES = 'aws-stepfunctions-examples/sam';
const COLLECTION = 'step-functions-workflows-collection';
const LOAD = `${COLLECTION}/step-functions-load-testing/statemachine/load-orchestrator-statemachine.asl.json`;
const EMITTER = `${EXAMPLES}/demo-generate-steady-state-events/statemachines/event_emitter.yaml`;

export const TRIES: readonly Loop[] = [
  {
    from: `${EXAMPLES}/app-control-concurrency-with-dynamodb/statemachines/dynamodb-semaphore.asl.json`,
    states: [
      'Acquire Lock',
      'Initialize Lock Item',
      'Get Current Lock Record',
      'Check If Lock Already Acquired',
      'Wait to Get Lock',
    ],
    play: semaphore,
    calls: 'work work',
  },
  {
    from: `${EXAMPLES}/app-order-management/statemachines/ship-order.asl.json`,
    states: ['Reserve Product', 'Choice', 'Notify Delayed', 'Wait for availability'],
    play: untilInStock,
    calls: 'reserve tell-delayed reserve tell-delayed reserve',
  },
  {
    from: `${COLLECTION}/lookout-for-vision-inference-sam/statemachine/statemachine.asl.json`,
    states: ['Check Model Status', 'Model Ready?', 'Wait 30 second', 'Start Model'],
    play: untilHosted,
    calls: 'ask start ask ask',
  },
  {
    from: `${COLLECTION}/idempotent-workflow/statemachine/statemachine.asl.json`,
    states: [
      'Create and lock idempotency record',
      'Get idempotency record from DynamoDB',
      'Previous or concurrent execution SUCCEEDED, IN_PROGRESS, or FAILED?',
      'Still IN_PROGRESS, wait for 10s',
    ],
    play: sameKey,
    calls: 'work',
  },
  {
    from: LOAD,
    states: ['RampupTimer', 'IsRampupTimeReached', 'ContinueRampup', 'RunRampupLoad'],
    play: load,
    calls: 'run-load timer run-load timer run-load timer',
  },
  {
    from: LOAD,
    states: ['LoadHoldTimer', 'IsLoadHoldTimeReached', 'HoldLoad'],
    play: load,
    calls: 'run-load timer run-load timer run-load timer',
  },
  {
    from: EMITTER,
    states: ['Check Config', 'Choice', 'Initialize Continuation'],
    play: untilConfigured,
    calls: 'read write read',
  },
  // Runs for ever, until somebody changes a record: it has no bound.
  { from: EMITTER, states: ['Get Config', 'Continue Distributed Map?', 'Generate Items', 'Distributed Map'] },
  {
    from: EMITTER,
    states: ['Reload Config', 'Continue Item Processor?', 'Set Parallelism', 'Parallel Work'],
  },
];
