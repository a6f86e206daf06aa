/**
 * Two releases at once in one deployment, as during an upgrade or a rollback: some functions run the bundles
 * of the previous release (`test/fixtures/release-before`), the others those of the current sources. If this
 * fails after a change of records or messages, the previous release cannot read them. A release keeps its own
 * bundles for the next one (`npm run keep-release`).
 */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { audit } from '../../examples/order-fulfilment/audit.ts';
import { exampleAssembly } from './assembly.ts';
import { type Answer, ledgerOf, setStage, STACK, startStubbornly, templateIn } from './stage.ts';

const BEFORE = join(import.meta.dirname, '..', 'fixtures', 'release-before', 'bundles.br');

/** Bundles by the path of the function's construct in its stack. */
const before = (): Readonly<Record<string, string>> => {
  const { functions } = JSON.parse(brotliDecompressSync(readFileSync(BEFORE)).toString()) as {
    functions: Record<string, string>;
  };
  return functions;
};

interface Declared {
  readonly Properties: { readonly Code?: { readonly S3Key: string } };
  readonly Metadata?: Readonly<Record<string, string>>;
}

/** Puts the previous release's code into these functions of the assembly. */
async function mixed(folder: string, old: readonly string[]): Promise<string> {
  const assembly = join(folder, 'cdk.out');
  cpSync(await exampleAssembly(), assembly, { recursive: true });
  const { Resources } = JSON.parse(readFileSync(templateIn(assembly), 'utf8')) as {
    Resources: Record<string, Declared>;
  };
  const { files } = JSON.parse(readFileSync(join(assembly, `${STACK}.assets.json`), 'utf8')) as {
    files: Record<string, { source: { path: string } }>;
  };
  const bundles = before();
  for (const name of old) {
    const path = `Steadfast/${name}/Function/Resource`;
    const declared = Object.values(Resources).find(({ Metadata }) =>
      Metadata?.['aws:cdk:path']?.endsWith(`/${path}`),
    );
    const asset = files[declared?.Properties.Code?.S3Key.replace('.zip', '') ?? ''];
    if (asset === undefined || bundles[path] === undefined) throw new Error(`no function ${path}`);
    writeFileSync(join(assembly, asset.source.path, 'index.mjs'), bundles[path]);
  }
  return assembly;
}

export const AGENTS = ['charge-card', 'reserve-stock', 'schedule-shipping', 'notify-customer'] as const;
export const agents = (...names: readonly (typeof AGENTS)[number][]): string[] =>
  names.map((name) => `Agents/${name}`);

/**
 * Lets the releases exchange messages and records while agents are killed: none is lost, doubled, stuck or
 * misread.
 * @param old the functions with the previous release
 */
export async function crossUnderKills(old: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-two-releases-'));
  const assembly = await mixed(folder, old);
  const stage = await setStage({
    schedules: true,
    agentTimeoutS: 6,
    changed: { assembly, change: (it) => it },
  });
  try {
    const { control } = stage.cloud;
    const started: Promise<string>[] = [];
    const hits: string[] = [];
    await stage.ended(await stage.startOrder('warm-up'));
    control.tick('supervisor').catch(() => undefined);
    for (const agent of AGENTS)
      for (const moment of [{ beforeCall: 2 }, { beforeCall: 3 }, { afterCall: 3 }] as const) {
        const { hit } = control.kill(agent, moment);
        started.push(startStubbornly(stage, `order-${started.length}`));
        hits.push((await hit).outcome);
      }
    const canceled = await startStubbornly(stage, 'canceled');
    await stage.request('POST', `/executions/${canceled}/cancel`, { reason: 'no more' });
    const executions: Answer['body'][] = [];
    const ids = await Promise.all(started);
    for (const id of [...ids, canceled]) executions.push(await stage.ended(id));
    expect(hits.filter((outcome) => outcome !== 'hit')).toEqual([]);
    expect(audit(await ledgerOf(stage, [...ids, canceled]), executions).findings).toEqual([]);
    const statuses = executions.map(({ status }) => status);
    expect(statuses.slice(0, -1).filter((status) => status !== 'succeeded')).toEqual([]);
    expect(['canceled', 'succeeded']).toContain(statuses.at(-1));
  } finally {
    await stage.strike();
    rmSync(folder, { recursive: true, force: true });
  }
}
