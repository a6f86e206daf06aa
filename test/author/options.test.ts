/**
 * A misspelled option is refused by the types, and, for authors without types, when the workflow is built.
 */

import * as z from 'zod/mini';
import {
  agent,
  and,
  eq,
  askPerson,
  not,
  onSchedule,
  retry,
  useAgent,
  withInput,
  workflow,
  type WorkflowBuilder,
} from 'steadfast';
import { createClient } from 'steadfast/client';
import { crashEverywhere, startCloud, startServer, testWorkflow } from 'steadfast/testing';

const Input = z.object({ id: z.string(), ids: z.array(z.string()) });
const options = { input: Input, output: Input, effect: 'idempotent', undo: 'none' } as const;
const one = agent('one', options);
const inner = workflow('inner', { input: Input, within: '1h' }, (w) => void w.step('one', one, w.input));
type Builder = WorkflowBuilder<z.infer<typeof Input>>;
/** The builder without types. */
type Untyped = Record<keyof Builder, (...args: unknown[]) => never> & { readonly input: never };

const built =
  (build: (w: Untyped) => unknown, more: object = {}) =>
  () =>
    workflow('flow', { input: Input, within: '1h', ...more }, (w) => {
      w.step('first', one, w.input);
      return build(w as never) as undefined;
    });
const refuses = (call: () => unknown, message: string): void =>
  expect(call).toThrow(expect.objectContaining({ message: expect.stringContaining(message) }));
const item = (): object => ({ id: 'x', ids: [] });

it('types refuse one of an agent', () => {
  const typed = () => [
    // @ts-expect-error it is called lateEffectWithin
    agent('x', { ...options, lateEffectWitin: '10m' }),
    // @ts-expect-error it is called acceptedWithin
    agent('x', { input: Input, output: Input, effect: 'probed', acceptsWithin: '2h' }),
  ];
  expect(typed).toThrow("agent 'x': 'lateEffectWitin' is not an option; did you mean 'lateEffectWithin'?");
});

it.each<[string, (w: Untyped) => unknown, string]>([
  [
    'a step',
    (w) => w.step('s', one, w.input, { mayFial: true }),
    "'mayFial' is not an option; did you mean 'mayFail'?",
  ],
  [
    'a step, from elsewhere',
    (w) => w.step('s', one, w.input, { retries: 3 }),
    "'retries' is not an option; write recovery: [retry(3)]",
  ],
  [
    'a step, like none',
    (w) => w.step('s', one, w.input, { zzz: 3 }),
    "'zzz' is not an option; there are after, when,",
  ],
  [
    'a step, no object',
    (w) => w.step('s', one, w.input, 3),
    'its options are a number; write an object with after',
  ],
  ['a timer', (w) => w.wait('s', { untl: 1 }), "did you mean 'until'?"],
  [
    'a callback',
    (w) => w.callback('s', { output: Input, within: '1m', remindEvry: '5m' }),
    "did you mean 'remindEvery'?",
  ],
  ['an approval', (w) => w.approval('s', { within: '1m', othrwise: 'fail' }), "did you mean 'otherwise'?"],
  ['a child', (w) => w.child('s', inner, w.input, { undoo: 'none' }), "did you mean 'undo'?"],
  ['a list', (w) => w.map('s', one, w.input, item, { concurency: 2 }), "did you mean 'concurrency'?"],
  [
    'a list of workflows',
    (w) => w.map('s', inner, w.input, item, { timeout: '1m' }),
    "'timeout' is not an option",
  ],
  [
    'rounds',
    (w) => w.repeat('s', one, w.input, { until: () => true, maxRound: 3 }),
    "did you mean 'maxRounds'?",
  ],
  ['an on-failure step', (w) => w.onFailure('s', one, w.input, { recovry: [] }), "did you mean 'recovery'?"],
])('of %s', (_, build, message) => {
  refuses(built(build), `workflow 'flow', step 's': `);
  refuses(built(build), message);
});

it('of a workflow and its lane', () => {
  refuses(
    built(() => undefined, { pauseWithn: '1h' }),
    "workflow 'flow': 'pauseWithn' is not an option; did you mean 'pauseWithin'?",
  );
  const concurrency = { key: () => 'x', limit: 1, waitWthin: '1h' };
  refuses(
    built(() => undefined, { concurrency }),
    "step 'concurrency': 'waitWthin' is not an option; did you mean 'waitWithin'?",
  );
});

it('undo says only whether, and retryUndo how', () => {
  refuses(
    built((w) => w.step('s', one, w.input, { undo: retry(3) })),
    "step 's': undo says only whether it is undone: write undo: 'none', or retryUndo: retry(10)",
  );
  refuses(
    built((w) => w.step('s', one, w.input, { undo: 'none', retryUndo: retry(3) })),
    "step 's': with undo: 'none' there is nothing to retry: leave undo or retryUndo out",
  );
});

it('of a stage', () => {
  refuses(() => retry(3, { dealy: '1s' } as never), "retry: 'dealy' is not an option; did you mean 'delay'?");
  refuses(
    () => withInput({}, { attempt: 2 } as never),
    "withInput: 'attempt' is not an option; did you mean 'attempts'?",
  );
  refuses(
    () => useAgent(one, { maxDelai: '1s' } as never),
    "useAgent: 'maxDelai' is not an option; did you mean 'maxDelay'?",
  );
  refuses(
    () => askPerson({ witin: '1d' } as never),
    "askPerson: 'witin' is not an option; did you mean 'within'?",
  );
});

it('of a trigger, a client and a test', async () => {
  const schedule = 'rate(1 hour)';
  refuses(
    () => onSchedule(inner, { schedule, input: { id: 'x', ids: [] }, timezone: 'Etc/UTC' } as never),
    "did you mean 'timeZone'?",
  );
  refuses(
    () => createClient({ url: 'http://x', retryFor: 2 } as never),
    "createClient: 'retryFor' is not an option; did you mean 'retryForMs'?",
  );
  const client = createClient({ url: 'http://127.0.0.1:1' });
  await expect(client.get('x', { waitt: '5s' } as never)).rejects.toThrow("did you mean 'wait'?");
  await expect(client.questions.approve('x', 'y', { coment: 'z' } as never)).rejects.toThrow(
    "did you mean 'comment'?",
  );
  const agents = [one.handler({ execute: async (_, input) => input })];
  refuses(
    () => testWorkflow(inner, { agents, sed: 3 } as never),
    "testWorkflow: 'sed' is not an option; did you mean 'seed'?",
  );
  const trial = testWorkflow(inner, { agents });
  const input = { id: 'x', ids: [] };
  await expect(trial.start(input, { tag: {} } as never)).rejects.toThrow("did you mean 'tags'?");
  refuses(() => trial.fail(one, { tims: 3 } as never), "did you mean 'times'?");
  await expect(crashEverywhere(inner, { agents, input, slowst: '1s' } as never)).rejects.toThrow(
    "did you mean 'slowest'?",
  );
  await expect(startCloud({ projct: '.' } as never)).rejects.toThrow("did you mean 'project'?");
  await expect(startServer({ workflows: [inner], agents, log: true } as never)).rejects.toThrow(
    "did you mean 'logs'?",
  );
});

describe('what authors of other systems write first is named with what to write', () => {
  it('an option by another name', () => {
    refuses(
      built((w) => w.step('s', one, w.input, { optional: true })),
      "'optional' is not an option; write mayFail: true",
    );
    refuses(
      () => retry(3, { initialInterval: '1s' } as never),
      "retry: 'initialInterval' is not an option; write delay: '1s'",
    );
  });

  it('an async function', () => {
    const message =
      "workflow 'flow': its function only declares steps, and nothing runs in it: remove async and await";
    refuses(
      built(async (w) => void w.step('s', one, w.input)),
      message,
    );
    refuses(
      built(() => Promise.reject(new Error('later'))),
      message,
    );
  });

  it('a list without its brackets', () => {
    refuses(
      built((w) => w.step('s', one, w.input, { recovery: retry(3) })),
      'recovery is not a list: write it in brackets, recovery: [retry(3)]',
    );
    refuses(
      built((w) => w.step('s', one, w.input, { after: 'first' })),
      'after is not a list: write it in brackets, after: [step]',
    );
    refuses(
      built(() => undefined, { tags: 'id' }),
      "tags is not a list: write it in brackets, tags: ['orderId']",
    );
  });

  it('a step that is used before it exists', () => {
    const late = built((w) => {
      let second: { name: string; output: object } | undefined;
      w.step('s', one, w.input, { after: [second] });
      second = w.step('second', one, w.input);
    });
    refuses(
      late,
      "step 's': after[0] is undefined: write what w.step and the like return, and declare a step before it is used",
    );
    const read = (w: Untyped): unknown => {
      const steps: { second?: { output: object } } = {};
      return w.step('s', one, (steps.second as { output: object }).output);
    };
    refuses(
      built(read),
      "after step 'first': Cannot read properties of undefined (reading 'output'): a step is used before it is declared",
    );
    for (const when of [false, and(not(eq('x' as never, 'y' as never)), true as never)])
      refuses(
        built((w) => w.step('s', one, w.input, { when })),
        "when of step 's' is decided while the workflow is built",
      );
    const each = (list: { forEach: (visit: unknown) => void }): void => list.forEach(() => undefined);
    refuses(
      built((w) => each(w.input as never)),
      "write w.map('…', list, agent, (item) => ({ … }))",
    );
    refuses(
      built((w) => w.step('s', one, w.input, { after: [one] })),
      'after[0] is no step',
    );
  });
});
