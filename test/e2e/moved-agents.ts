/**
 * For tests that move agents from functions of their own into a host, and back: deployments one after the
 * other, over the same data. In one of 'both' the old and the new functions read the same queues, as while
 * CloudFormation replaces them.
 */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '../../lib/client.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { SMALL_STACK, synthesized } from './small-stack.ts';

type Hosting = 'own' | 'shared' | 'both';

export interface Deployed {
  readonly cloud: Cloud;
  readonly api: Client;
}

/** One line for each call of an agent's code: its key, and the function. */
type Call = readonly [key: string, by: string];

export class Depot {
  /** The agents write into it (`workflows/moved/agents`). */
  readonly folder: string = mkdtempSync(join(tmpdir(), 'steadfast-switch-host-'));

  /** Deploys over the data of the deployment before. */
  async deployed(hosting: Hosting, during: (deployed: Deployed) => Promise<void>): Promise<void> {
    const template = await this.#synthesized(hosting);
    const dataDir = join(this.folder, 'data');
    const environment = { DEPOT: this.folder };
    const cloud = await startCloud({ ...template, dataDir, environment, port: 0, schedules: true });
    try {
      await during({ cloud, api: createClient({ url: cloud.apiUrl }) });
    } finally {
      await cloud.stop();
    }
  }

  async #synthesized(hosting: Hosting): Promise<{ readonly assembly: string; readonly stack: string }> {
    const outdir = mkdtempSync(join(this.folder, 'cdk.out-'));
    const settings = {
      bulkActions: false,
      monitoring: 'none',
      hosting: hosting === 'own' ? 'own' : 'shared',
    } as const;
    const template = await synthesized(outdir, { workflows: 'moved', settings });
    if (hosting === 'both') addBefore(template.assembly, (await this.#synthesized('own')).assembly);
    return template;
  }

  calls(): readonly Call[] {
    const lines = readFileSync(join(this.folder, 'calls'), 'utf8').trimEnd().split('\n');
    return lines.map((line) => line.split(' ') as unknown as Call);
  }

  /** The functions that have made calls since this count. */
  callersSince(count: number): ReadonlySet<string> {
    return new Set(
      this.calls()
        .slice(count)
        .map(([, by]) => by),
    );
  }

  strike(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Adds to an assembly what the one before had and it has not: its functions, with what belongs to them. */
function addBefore(assembly: string, before: string): void {
  const merged = (file: string, within: string): void => {
    const read = (folder: string): Record<string, object> =>
      JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, object>;
    const after = read(assembly);
    const all = { ...read(before)[within], ...after[within] };
    writeFileSync(join(assembly, file), JSON.stringify({ ...after, [within]: all }));
  };
  merged(`${SMALL_STACK}.template.json`, 'Resources');
  merged(`${SMALL_STACK}.assets.json`, 'files');
  for (const name of readdirSync(before))
    if (name.startsWith('asset.')) cpSync(join(before, name), join(assembly, name), { recursive: true });
}

export const begin = async ({ api }: Deployed, parcel: number, slow = false): Promise<string> =>
  (await api.start('moved', { input: { parcel, slow }, idempotencyKey: String(parcel) })).executionId;

/** Waits until the execution waits for its release. @returns the callback's token */
export async function tokenOf({ api }: Deployed, id: string): Promise<string> {
  for (;;) {
    const { steps } = await api.get(id, { wait: '100ms' });
    const token = steps.find(({ name }) => name === 'release')?.token;
    if (token !== undefined) return token;
  }
}
