/**
 * The ports of `verify` on a local cloud; they only use its addresses.
 *
 * Owns: the needs that a local cloud cannot fill, and why. Does not own: the cloud (`local/`), its start
 * (`local-stack.ts`).
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../lib/api/client.ts';
import { Calls } from '../aws/calls.ts';
import { CliError, CLOCK, EXIT } from '../io.ts';
import type { AccountFacts, Ports, StackFacts } from './ports.ts';
import { portsOver } from './probes.ts';

const NO_STACKS = 'the local cloud runs no CloudFormation';
const LACKS: Ports['lacks'] = {
  account: 'the local cloud is not an account',
  stack: NO_STACKS,
  signature: 'the local cloud verifies no signature',
  deployment: NO_STACKS,
};

export async function localPorts(url: string, runId: string): Promise<Ports> {
  const control = controlOf(url);
  const { gatewayUrl, outputs, logs } = (await control('')) as {
    readonly gatewayUrl: string;
    readonly outputs: Readonly<Record<string, string>>;
    readonly logs: string;
  };
  const resources = (await control('resources')) as readonly {
    readonly type: string;
    readonly ref: string;
  }[];
  const queueUrls = resources.filter(({ type }) => type === 'AWS::SQS::Queue').map(({ ref }) => ref);
  return {
    ...portsOver({
      calls: new Calls({
        region: 'us-east-1',
        endpoint: gatewayUrl,
        credentials: { accessKeyId: 'verify', secretAccessKey: 'verify' },
        clock: CLOCK,
      }),
      api: createClient({ url }),
      runId,
      outputs,
      queueUrls: async () => queueUrls,
      tick: (expression) => tick(control, expression),
    }),
    lacks: LACKS,
    account: {} as AccountFacts,
    stack: {} as StackFacts,
    logs: async (texts) => [...(await denials(control, texts)), ...linesIn(logs, texts)].slice(0, MOST_LINES),
    tearDown: async () => [],
  };
}

type Control = (path: string, method?: 'GET' | 'POST') => Promise<unknown>;

const controlOf =
  (url: string): Control =>
  async (path, method = 'GET') => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/_local/${path}`, { method, headers });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    throw new CliError('local', `${method} /_local/${path}: ${text.trim()}`, EXIT.failed);
  };

async function tick(control: Control, wanted: string): Promise<void> {
  type Schedule = Readonly<Record<'name' | 'expression', string>>;
  for (const { name, expression } of (await control('schedules')) as readonly Schedule[])
    if (expression === wanted) await control(`schedules/${encodeURIComponent(name)}/tick`, 'POST');
}

const MOST_LINES = 100;
const linesIn = (folder: string, texts: readonly string[]): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log') && !name.startsWith('_'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => texts.some((text) => line.includes(text)));

/** Calls that the template's policies refused, in AWS's words. */
async function denials(control: Control, texts: readonly string[]): Promise<string[]> {
  const all = (await control('denials')) as readonly { readonly message: string }[];
  return texts.includes('AccessDenied') ? all.map(({ message }) => message) : [];
}
