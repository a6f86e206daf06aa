/**
 * An API on ports in memory for the page: executions in every state, made by the real roles, with hostile
 * text wherever an outsider can write.
 */

import type { Measured } from '../../lib/api/health.ts';
import { AS_HEADER } from '../../lib/api/client.ts';
import { routes } from '../../lib/api/routes.ts';
import type { ExecutionView } from '../../lib/api/answers.ts';
import type { WorkflowForms } from '../../lib/api/deployment-answers.ts';
import { exists } from '../../lib/author/references.ts';
import { askPerson, retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Json } from '../../lib/core/values/json.ts';
import type { Breakers, Receipts } from '../../lib/core/ports.ts';
import { memoryBreakers, memoryReceipts, memoryWorkflowPauses } from '../../lib/memory/side-records.ts';
import { memoryBulks } from '../../lib/memory/bulks.ts';
import { anAgent, anyObject, harness, type Harness } from '../engine/harness.ts';
import type { ConsoleOptions } from '../../cli/console/listener.ts';
import { answeredBy, type Api, type PageServer, servePage } from './page-server.ts';

/** Sets `window.hacked` if any code executes it. */
export const HOSTILE =
  '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\'`{{7*7}} \u202Edrow\u202C &amp; javascript:window.hacked=1';

/** The same text with only the characters that a caller's name may have. */
export const HOSTILE_CALLER: string = HOSTILE.replace(/[^\x20-\x7e]/g, '');

const works = anAgent('works');
const refuses = anAgent('refuses');
const asks = anAgent('asks');

const below = workflow('below', { input: anyObject, within: '1d' }, (w) => {
  const one = w.step('one', works, {});
  const answer = w.callback('answer', { output: anyObject, within: '5h', after: [one] });
  return { answer: answer.output };
});

export const everything = workflow(
  'everything',
  { input: anyObject, within: '7d', tags: ['orderId'] },
  (w) => {
    const first = w.step('first', works, { note: w.input['note'] } as never);
    w.step('skipped', works, {}, { when: exists(w.input['never'] as never), after: [first] });
    const may = w.step('may-fail', refuses, {}, { mayFail: true, recovery: [retry(0)], after: [first] });
    const list = w.map('list', works, w.input['list'] as never, (item: unknown) => ({ item }) as never, {
      after: [first],
    });
    const child = w.child('child', below as unknown as Workflow, {} as never, { after: [first] });
    const release = w.approval('release', { within: '5d', otherwise: 'approve', after: [list, may] });
    const asked = w.step(
      'asked',
      asks,
      {},
      { recovery: [retry(0), askPerson({ within: '1d', otherwise: 'undo' })], after: [first] },
    );
    w.step('last', works, {}, { after: [release, child, asked] });
    w.onFailure('told', works, {});
    return { done: true };
  },
);

/** SQS's answer about the queues of agents. */
const DEPTHS = { works: { waiting: 2, underWork: 1, delayed: 0 } };

/** An agent that plans name but that is not deployed. */
export const NOT_DEPLOYED = 'gift-wrap';

export interface MemoryPage extends MemoryApi {
  readonly server: PageServer;
}

export interface MemoryApi extends Harness {
  readonly api: Api;
  readonly breakers: Breakers;
  readonly receipts: Receipts;
  /** The known schemas of 'everything'; a test may replace them. */
  forms: WorkflowForms;
  /**
   * Starts an execution with hostile text in input, key, tags, errors and outputs, and runs it until it waits
   * only for people.
   */
  readonly begunOne: (key?: string) => Promise<string>;
  readonly view: (id: string) => Promise<ExecutionView>;
  readonly post: (path: string, body: object, as?: string) => Promise<number>;
  /** Runs all due work, up to this much later. */
  readonly goOn: (id: string) => Promise<void>;
}

const refused = async (): Promise<never> => {
  throw new PermanentError(HOSTILE);
};

type Implementations = Parameters<typeof harness>[1];

const OF_EVERYTHING = {
  works: { execute: async () => ({ note: HOSTILE }), undo: async () => undefined },
  refuses: { execute: refused, undo: async () => undefined },
  asks: { execute: refused, undo: async () => undefined },
};

/**
 * @param more options of the server
 * @param measured the API's metrics; without it there are none
 */
export async function memoryPage(
  served?: Workflow,
  implementations?: Implementations,
  more: Partial<ConsoleOptions> = {},
  measured?: Measured,
): Promise<MemoryPage> {
  const world = memoryApi(served, implementations, measured);
  return Object.assign(world, { server: await servePage(world.api, more) });
}

/** The same API without a page. */
export function memoryApi(
  served: Workflow = everything as unknown as Workflow,
  implementations: Implementations = OF_EVERYTHING,
  measured?: Measured,
): MemoryApi {
  const operated = {
    breakers: memoryBreakers(),
    bulks: memoryBulks(),
    workflowPauses: memoryWorkflowPauses(),
  };
  const receipts = memoryReceipts();
  const reaches = (agent: string): boolean => agent !== NOT_DEPLOYED;
  const h = harness(served, implementations, 1, (world) => ({
    ...world,
    ...operated,
    queue: { ...world.queue, reaches, depths: async () => DEPTHS },
  }));
  h.clock.advanceTo(Date.now());
  const own = { forms: {} as WorkflowForms };
  const readForms = async () => ({ [served.name]: own.forms });
  const app = routes(h.scheduler, receipts, undefined, readForms, measured);
  const ask = async (path: string, init?: RequestInit, as = 'ann'): Promise<Response> =>
    app.fetch(new Request(`http://api${path}`, init), callerOf(as));
  const view: MemoryPage['view'] = async (id) =>
    (await (await ask(`/executions/${id}`)).json()) as ExecutionView;
  const goOn = async (id: string): Promise<void> => {
    await h.run(id, { until: ({ execution }) => execution.status === 'waiting', maxMs: 60_000 });
    await h.run(id, { until: ({ questions = {} }) => questions['release'] !== undefined, maxMs: 60_000 });
  };
  return {
    ...h,
    ...operated,
    get forms() {
      return own.forms;
    },
    set forms(forms) {
      own.forms = forms;
    },
    receipts,
    api: answeredBy(async (request) => {
      // Removed, as the local gateway does.
      const as = request.headers.get(AS_HEADER) ?? 'ann';
      request.headers.delete(AS_HEADER);
      return app.fetch(request, callerOf(as));
    }),
    view,
    goOn,
    post: async (path, body, as) => {
      const init = {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      };
      return (await ask(path, init, as)).status;
    },
    begunOne: async (key = HOSTILE) => {
      const body: Json = {
        input: { note: HOSTILE, [HOSTILE]: 1, list: [1, 2, 3] },
        idempotencyKey: key,
        tags: { orderId: HOSTILE },
      };
      const init = { method: 'POST', body: JSON.stringify(body) };
      const started = (await (await ask('/workflows/everything/executions', init)).json()) as Record<
        string,
        string
      >;
      const id = started['executionId'];
      if (id === undefined) throw new Error(JSON.stringify(started));
      await goOn(id);
      return id;
    },
  };
}

/** Names the caller as the local gateway does. */
const callerOf = (name: string): object => ({
  requestContext: { authorizer: { iam: { userArn: `arn:aws:iam::000000000000:user/${name}` } } },
});
