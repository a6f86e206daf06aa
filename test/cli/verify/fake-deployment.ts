/**
 * A deployment in memory for the checks of `verify`, correct except for the planted faults.
 *
 * Owns: one fault for each check, by its id. Does not own: the answers of the real ports.
 */

import { ApiError, type Client } from '../../../lib/api/client.ts';
import type { Ports } from '../../../cli/verify/ports.ts';

interface Execution {
  readonly executionId: string;
  readonly workflow: string;
  readonly input: Record<string, unknown>;
  status: string;
  readonly steps: { readonly name: string; readonly status: string; readonly token?: string }[];
  readonly incidents: { readonly number: number; closedAt?: number }[];
}

export class FakeDeployment {
  readonly executions = new Map<string, Execution>();
  readonly ends = new Map<string, number>();
  readonly queues = new Map<string, string[]>();
  /** The planted faults. */
  readonly planted = new Set<string>();
  now = 1_000_000;
  switched = false;

  breakerBefore(): string {
    return this.has('breaker') ? 'closed' : 'open';
  }

  has(fault: string): boolean {
    return this.planted.has(fault);
  }

  begin(workflow: string, input: Record<string, unknown>, key: string): Execution {
    const id = `${workflow}.${this.has('same-key') ? this.executions.size : key}`;
    const known = this.executions.get(id);
    if (known !== undefined) return known;
    const made: Execution = {
      executionId: id,
      workflow,
      input,
      status: this.endOf(workflow, input),
      steps: stepsOf(workflow, this.has('chain')),
      incidents: workflow === 'verify-incident' && !this.has('incident') ? [{ number: 1 }] : [],
    };
    this.executions.set(id, made);
    this.ends.set(id, this.has('end-once') ? 2 : 1);
    return made;
  }

  private endOf(workflow: string, input: Record<string, unknown>): string {
    const id = workflow.replace(/^verify-/, '');
    const byWorkflow: Record<string, string> = {
      parent: 'child',
      order: 'order',
      ask: 'callback',
      'steadfast-canary': 'canary',
      large: 'large',
      list: 'list',
    };
    const check = input['mode'] === 'decline' ? 'undone' : (byWorkflow[id] ?? id);
    if (this.has(check)) return 'failed';
    if (['verify-ask', 'verify-incident'].includes(workflow)) return 'waiting';
    return input['mode'] === 'decline' ? 'compensated' : 'succeeded';
  }

  effects(key: string): number {
    const [id = '', step] = key.split('/');
    const { status, input } = this.executions.get(id) ?? this.begin('none', {}, id);
    if (status !== 'succeeded') return this.has('undone') ? 1 : 0;
    return step === 'second' && this.has(`effects-${String(input['mode'])}`) ? 2 : 1;
  }
}

const stepsOf = (workflow: string, isCut: boolean): Execution['steps'] => {
  if (workflow === 'verify-chain')
    return Array.from({ length: isCut ? 16 : 40 }, (_, at) => ({ name: `step-${at}`, status: 'done' }));
  if (workflow !== 'verify-ask') return [];
  return ['answer', 'check'].map((name) => ({ name, status: 'leased', token: `token-of-${name}` }));
};

export function fakePorts(fake: FakeDeployment): Ports {
  return {
    lacks: {},
    clock: {
      now: () => fake.now,
      sleep: async (ms) => {
        fake.now += ms;
      },
    },
    runId: 'run',
    api: apiOf(fake),
    begun: new Map([[fake.begin('verify-order', { mode: 'begun' }, 'begun').executionId, 'verify-order']]),
    unsigned: async () => (fake.has('unsigned') ? 200 : 403),
    stack: {
      drifted: async () => (fake.has('drift') ? ['State (AWS::DynamoDB::Table) has drifted'] : []),
      subscribers: async () => (fake.has('subscribers') ? 0 : 1),
    },
    queues: async () => [
      { name: 'requests', url: 'https://queue/requests', deadLetters: 'dead', depth: 1 },
      { name: 'dead', url: 'https://queue/dead', depth: fake.has('dead-letters') ? 1 : 0 },
    ],
    account: {
      identity: async () => ({ account: fake.has('identity') ? '' : '123456789012', arn: 'arn' }),
      bootstrap: async () => (fake.has('bootstrap') ? undefined : 21),
      concurrency: async () => ({ limit: 1_000, unreserved: fake.has('concurrency') ? 4 : 1_000 }),
      logPolicies: async () => [fake.has('log-policies') ? 5_000 : 300],
    },
    probes: probesOf(fake),
    logs: async (texts) =>
      LINES.filter(([fault]) => fault === '' || fake.has(fault)).flatMap(([, line]) =>
        texts.some((text) => line.includes(text)) ? [line] : [],
      ),
    metric: async (name) => (fake.has(`metric ${name}`) ? undefined : 3),
    tearDown: async () => (fake.has('teardown') ? ['arn:aws:sqs:::left'] : []),
  };
}

/** Log lines of functions, each with the fault that causes it. */
const LINES: readonly (readonly [string, string])[] = [
  ['', '{"level":"INFO","message":"called"}'],
  ['permissions', 'AccessDenied: User is not authorized to perform: dynamodb:PutItem'],
  ['direct-calls', 'SignatureDoesNotMatch'],
  ['credentials', 'no AWS credentials'],
];

function apiOf(fake: FakeDeployment): Client {
  const one = (id: string): Execution => {
    const found = fake.executions.get(id);
    if (found === undefined) throw new ApiError('unknown-execution', 'unknown', { status: 404 });
    return found;
  };
  const api = {
    health: async () => ({ status: fake.has('health') ? 'down' : 'healthy' }),
    start: async (workflow: string, options: { input: Record<string, unknown>; idempotencyKey: string }) =>
      fake.begin(workflow, options.input, options.idempotencyKey),
    get: async (id: string) => ({
      ...one(id),
      ...(one(id).status === 'waiting' ? {} : { endedAt: 1, output: { text: one(id).input['text'] } }),
    }),
    why: async () => ({ past: fake.has('order') ? [] : ['a probe found it'] }),
    list: async ({ workflow, status }: { workflow?: string; status?: string }) => ({
      items: [...fake.executions.values()]
        .concat(fake.has('nothing-open') ? fake.begin('verify-ask', {}, 'left') : [])
        .filter((each) => status !== 'open' || each.status === 'waiting')
        .filter((each) => workflow === undefined || each.workflow === workflow)
        .slice(fake.has('pages') ? 1 : 0),
    }),
    agents: async () => ({
      items: [
        { name: 'verify-closed', breaker: { status: fake.switched ? 'closed' : fake.breakerBefore() } },
      ],
    }),
    erase: async (id: string) => {
      if (!fake.has('erase')) fake.executions.delete(id);
      return { executionId: id, status: 'erased' };
    },
    cancel: async (id: string) => {
      one(id).status = fake.has('cancel') ? 'failed' : 'canceled';
    },
    incidents: async () => ({ items: [...fake.executions.values()].filter((each) => each.incidents.length) }),
    resolve: async (id: string) => {
      one(id).status = 'succeeded';
    },
    completeCallback: async (token: string) => {
      if (token !== 'token-of-answer') throw new ApiError('unknown-callback', 'unknown', { status: 404 });
    },
    makeBulk: async ({ ids }: { ids: readonly string[] }) => ({ bulkId: ids.join() }),
    collectBulk: async () => ({ status: 'collected' }),
    confirmBulk: async (ids: string) => {
      for (const id of ids.split(',')) one(id).status = fake.has('bulk') ? 'failed' : 'canceled';
    },
    approve: async (id: string) => {
      one(id).status = fake.has('callback') ? 'failed' : 'succeeded';
    },
  };
  return api as unknown as Client;
}

function probesOf(fake: FakeDeployment): Ports['probes'] {
  const queue = (url: string): string[] => {
    const found = fake.queues.get(url) ?? [];
    fake.queues.set(url, found);
    return found;
  };
  return {
    requests: 'https://queue/requests',
    effects: async (key) => fake.effects(key),
    switchOn: async () => {
      fake.switched = true;
    },
    ends: async () => fake.ends,
    putEvent: async (detail) => {
      const { id } = JSON.parse(detail) as { id: string };
      fake.begin('verify-event', { id }, `event-${fake.has('event-trigger') ? fake.executions.size : id}`);
    },
    send: async (url, body) => {
      if (body.includes('9007199254740993'))
        queue('https://queue/dead').push(fake.has('refused-start') ? body.replace(/3}$/, '2}') : body);
      else if (url.endsWith('requests') && !fake.has('message-trigger'))
        fake.begin('verify-event', JSON.parse(body) as Record<string, unknown>, body);
    },
    take: async (url) => queue(url).splice(0),
    tick: async () => {
      if (!fake.has('schedule-trigger'))
        fake.begin('verify-event', { id: '2026-11-26T10:00:00Z' }, `at-${fake.executions.size}`);
    },
  };
}
