/**
 * The stage on which chaos runs: the synthesised template of a workflow folder, a fresh local cloud and the
 * example's outside world.
 *
 * Owns: starting them, leaving nothing behind, and the notes while they run: which process claimed which step
 * (the functions log at debug level for that), what the cloud complains about. Does not own: what is done to
 * them.
 */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExternalWorld, externalWorldAt } from '../../examples/order-fulfilment/demo/api.ts';
import { DEEDS } from '../../examples/order-fulfilment/world.ts';
import { startWorld } from '../../examples/world/server.ts';
import { ENV } from '../../lib/aws/names.ts';
import { synthesize } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import type { LogLine } from '../../local/lambda/function-logs.ts';
import type { Claim } from './detection.ts';
import type { Mode } from './modes.ts';
import { type Strike, strikeOf } from './striking.ts';

export interface External extends ExternalWorld {
  /** From now on the external services behave. */
  readonly clear: () => Promise<void>;
}

export interface Stage {
  /** Contains the template, the tables, the queues, the logs and the outside world's ledger. */
  readonly folder: string;
  readonly cloud: Cloud;
  readonly world: External;
  readonly claims: readonly Claim[];
  /** How often the functions logged each note that is not routine, by its name. */
  readonly notes: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
  /** Ends everything; deletes the folder unless it should be kept. */
  readonly strike: Strike;
}

/** Besides the busy processes there are frozen ones, which keep their places. */
const PROCESSES_PER_FUNCTION = 8;

/** How far an index of DynamoDB may normally be behind its table. */
const INDEXES_LATE_MS = 4_000;

/** The workflow folder that is deployed: `<folder>/<name>/workflow.ts`. */
export interface Deployed {
  readonly folder: string;
  readonly name: string;
}

export async function setStage(
  {
    deployed,
    claimsPerSecond,
    hosting,
  }: Pick<Mode, 'deployed' | 'claimsPerSecond'> & { readonly hosting: 'own' | 'shared' },
  say: (text: string) => void,
  onCleanUp: (strike: Stage['strike']) => void,
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-chaos-'));
  const undo: (() => Promise<void>)[] = [];
  const strike = strikeOf(folder, undo);
  onCleanUp(strike);
  const claims: Claim[] = [];
  const notes = new Map<string, number>();
  const problems: string[] = [];
  say('Synthesising the template that would be deployed …');
  const outdir = join(folder, 'cdk.out');
  const { assembly } = await synthesize({
    outdir,
    folders: [deployed.folder],
    only: [deployed.name],
    hosting,
    validation: false,
  });
  const world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile: join(folder, 'ledger.jsonl') });
  undo.push(() => world.stop());
  say('Starting a fresh local cloud from it …');
  const cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'cloud'),
    fresh: true,
    port: 0,
    concurrencyPerFunction: PROCESSES_PER_FUNCTION,
    indexesLateMs: INDEXES_LATE_MS,
    environment: {
      WORLD_URL: world.url,
      POWERTOOLS_LOG_LEVEL: 'DEBUG',
      ...(claimsPerSecond === undefined ? {} : { [ENV.rate]: claimsPerSecond }),
    },
    onLog: (line) => listen(line, claims, notes),
    onProblem: (problem) => problems.push(problem),
  });
  undo.push(() => cloud.stop());
  return { folder, cloud, world: externalAt(world.url), claims, notes, problems, strike };
}

const externalAt = (url: string): External => ({
  ...externalWorldAt(url),
  clear: async () => {
    await fetch(`${url}/behave`, { method: 'DELETE' });
  },
});

interface Note {
  readonly level?: string;
  readonly message?: string;
  readonly executionId?: string;
  readonly step?: string;
}

function listen({ pid, line, at }: LogLine, claims: Claim[], notes: Map<string, number>): void {
  if (!line.startsWith('{')) return;
  const { level, message = '', executionId, step } = parsed(line);
  if (message === 'claimed' && executionId !== undefined && step !== undefined) {
    claims.push({ executionId, step, pid, at });
  } else if (level !== 'DEBUG') notes.set(message, (notes.get(message) ?? 0) + 1);
}

function parsed(line: string): Note {
  try {
    return JSON.parse(line) as Note;
  } catch {
    return {};
  }
}
